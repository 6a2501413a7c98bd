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
