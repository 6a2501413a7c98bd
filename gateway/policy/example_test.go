package policy_test

import (
	"fmt"

	"patterngate/catalog"
	"patterngate/gateway"
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

func ExampleOnce() {
	once, _ := policy.Once(`"refund-" + args.order_id`, "refund_charge", refundTool())
	fmt.Println(once(map[string]any{"order_id": "A-1001", "amount_cents": 4900.0}))
	// Output: refund-A-1001 <nil>
}

func ExamplePolicy() {
	pay := catalog.Tool{Name: "refund_charge", Effect: catalog.Write, Input: refundTool(), Do: nothing}
	tools, err := catalog.New(pay)
	if err != nil {
		panic(err)
	}
	p, faults := policy.New(policy.Source{
		Name: "refunds", Params: []policy.Param{{Name: "run_cap_cents", Value: 50000.0}},
		Vars: []policy.Named{{Name: "spent", Text: `sum(run.effects.filter(e, e.counts).map(e, e.args.amount_cents))`}},
		Rules: []policy.RuleSource{
			{ID: "run_cap", When: "vars.spent + args.amount_cents > params.run_cap_cents", Block: &policy.BlockSource{}},
			{ID: "small_refund", When: "args.amount_cents <= 10000", Approve: true},
		},
	}, policy.Reach{Catalog: tools, Patterns: []policy.Reached{{Name: "refund_order", Kind: gateway.Supervisor, Tools: []string{"refund_charge"}}}})
	fmt.Println(len(faults))

	args := func(cents float64) map[string]any { return map[string]any{"order_id": "A-1001", "amount_cents": cents} }
	paid := policy.RowEffect{Tool: "refund_charge", Args: args(49000)}
	fmt.Println(p.Test(policy.Row{Call: policy.RowCall{Tool: "refund_charge", Args: args(4900)}, Want: gateway.Approve}).Passed)
	fmt.Println(p.Test(policy.Row{Call: policy.RowCall{Tool: "refund_charge", Args: args(4900)}, Effects: []policy.RowEffect{paid}, Want: gateway.Approve}).Differ)
	// Output:
	// 0
	// true
	// want approve, got block run_cap (vars.spent 49000, params.run_cap_cents 50000)
}
