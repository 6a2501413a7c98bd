package policy_test

import (
	"fmt"

	"patterngate/catalog"
	"patterngate/gateway/policy"
)

func refundTool() *catalog.Schema {
	s, err := catalog.CompileSchema([]byte(`{"type": "object", "required": ["order_id", "amount_cents"], "properties": {
		"order_id": {"type": "string"}, "amount_cents": {"type": "integer"}, "reason": {"type": "string"}}}`))
	if err != nil {
		panic(err)
	}
	return s
}

func ExampleCompile() {
	args := policy.Variable{Name: "args", Type: policy.FromSchema(refundTool(), "refund_charge")}
	_, faults := policy.Compile(`args.amout_cents > 1000`, policy.Bool(), args)
	fmt.Println(faults[0].Column, faults[0])

	e, _ := policy.Compile(`args.amount_cents > 1000`, policy.Bool(), args)
	fmt.Println(e.Eval(map[string]any{"args": map[string]any{"order_id": "A-1001", "amount_cents": 4900.0}}))
	// Output:
	// 6 refund_charge has no argument amout_cents (order_id, amount_cents, reason); did you mean amount_cents?
	// true <nil>
}

func ExampleOnce() {
	once, _ := policy.Once(`"refund-" + args.order_id`, "refund_charge", refundTool())
	fmt.Println(once(map[string]any{"order_id": "A-1001", "amount_cents": 4900.0}))
	// Output: refund-A-1001 <nil>
}
