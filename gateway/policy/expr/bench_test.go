package expr_test

import (
	"testing"

	"patterngate/gateway/policy/expr"
)

// BenchmarkEval evaluates a business key and a condition with a macro.
func BenchmarkEval(b *testing.B) {
	args := expr.Variable{Name: "args", Type: expr.FromSchema(compiled(b, refundSchema), "refund_charge")}
	values := map[string]any{"args": map[string]any{
		"order_id": "A-1001", "amount_cents": 4900.0, "reason": "late", "tags": []any{"gift", "eu"},
	}}
	for name, text := range map[string]string{
		"comparison": `args.amount_cents > 1000 && args.reason == "late"`,
		"text":       `args.order_id + "-" + string(args.amount_cents)`,
		"macro":      `has(args.tags) && args.tags.exists(t, t == "eu")`,
	} {
		b.Run(name, func(b *testing.B) {
			e, faults := expr.Compile(text, expr.Dyn(), args)
			if faults != nil {
				b.Fatal(faults)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Eval(values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
