package policy_test

import (
	"fmt"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway/policy"
)

// BenchmarkCompile200 reads the business keys of 200 tools, each with a schema of its own; a file with so many is to load
// within 50 ms.
func BenchmarkCompile200(b *testing.B) {
	var schemas []*catalog.Schema
	for i := range 200 {
		schemas = append(schemas, compiled(b, fmt.Sprintf(`{"type": "object", "required": ["order_id", "amount_cents_%d"], "properties": {
			"order_id": {"type": "string", "pattern": "^A-[0-9]{4}$"}, "amount_cents_%d": {"type": "integer", "minimum": 1},
			"reason": {"type": "string", "enum": ["late", "broken", "other"]}, "notify": {"type": "boolean"},
			"address": {"type": "object", "properties": {"zip": {"type": "string"}}}}}`, i, i)))
	}
	for b.Loop() {
		for i, s := range schemas {
			if _, faults := policy.Once(fmt.Sprintf(`"refund-" + args.order_id + "-" + string(args.amount_cents_%d)`, i), "refund_charge", s); faults != nil {
				b.Fatal(faults)
			}
		}
	}
}

// BenchmarkReconcile200 reads what settles the calls of 200 tools, three expressions each.
func BenchmarkReconcile200(b *testing.B) {
	source := policy.ReconcileSource{
		Tool: "refund_charge", Input: compiled(b, refundSchema), By: "find_refund", ByInput: compiled(b, findSchema), Observation: compiled(b, foundSchema),
		Args: []policy.Named{{Name: "key", Text: "effect.key"}}, Happened: `result.status == "paid"`, Output: []policy.Named{{Name: "id", Text: "result.id"}},
	}
	for b.Loop() {
		for range 200 {
			if _, faults := policy.Reconcile(source); faults != nil {
				b.Fatal(faults)
			}
		}
	}
}

// BenchmarkEval evaluates a business key and a condition with a macro.
func BenchmarkEval(b *testing.B) {
	args := policy.Variable{Name: "args", Type: policy.FromSchema(compiled(b, refundSchema), "refund_charge")}
	values := map[string]any{"args": map[string]any{
		"order_id": "A-1001", "amount_cents": 4900.0, "reason": "late", "tags": []any{"gift", "eu"},
	}}
	for name, text := range map[string]string{
		"comparison": `args.amount_cents > 1000 && args.reason == "late"`,
		"text":       `args.order_id + "-" + string(args.amount_cents)`,
		"macro":      `has(args.tags) && args.tags.exists(t, t == "eu")`,
	} {
		b.Run(name, func(b *testing.B) {
			e, faults := policy.Compile(text, policy.Dyn(), args)
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
