package expr_test

import (
	"fmt"

	"patterngate/catalog"
	"patterngate/gateway/policy/expr"
)

func ExampleCompile() {
	schema, err := catalog.CompileSchema([]byte(`{"type": "object", "required": ["order_id", "amount_cents"], "properties": {
		"order_id": {"type": "string"}, "amount_cents": {"type": "integer"}, "reason": {"type": "string"}}}`))
	if err != nil {
		panic(err)
	}
	args := expr.Variable{Name: "args", Type: expr.FromSchema(schema, "refund_charge")}
	_, faults := expr.Compile(`args.amout_cents > 1000`, expr.Bool(), args)
	fmt.Println(faults[0].Column, faults[0])

	e, _ := expr.Compile(`args.amount_cents > 1000`, expr.Bool(), args)
	fmt.Println(e.Eval(map[string]any{"args": map[string]any{"order_id": "A-1001", "amount_cents": 4900.0}}))
	// Output:
	// 6 refund_charge has no argument amout_cents (order_id, amount_cents, reason); did you mean amount_cents?
	// true <nil>
}
