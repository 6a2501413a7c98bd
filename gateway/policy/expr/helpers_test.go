package expr_test

import (
	"testing"

	"patterngate/catalog"
)

const refundSchema = `{"type": "object", "required": ["order_id", "amount_cents", "reason"], "additionalProperties": false, "properties": {
	"order_id": {"type": "string", "pattern": "^A-[0-9]{4}$"},
	"amount_cents": {"type": "integer", "minimum": 1},
	"reason": {"type": "string", "enum": ["late", "broken", "other"]},
	"note": {"type": "string"},
	"rate": {"type": "number"},
	"tags": {"type": "array", "items": {"type": "string", "enum": ["gift", "eu"]}},
	"address": {"type": "object", "properties": {"zip": {"type": "string"}, "lines": {"type": "integer"}}, "required": ["zip"]}}}`

func compiled(t testing.TB, text string) *catalog.Schema {
	t.Helper()
	s, err := catalog.CompileSchema([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}
