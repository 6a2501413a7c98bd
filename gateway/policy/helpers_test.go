package policy_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/gateway/policy/expr"
)

const refundSchema = `{"type": "object", "required": ["order_id", "amount_cents", "reason"], "additionalProperties": false, "properties": {
	"order_id": {"type": "string", "pattern": "^A-[0-9]{4}$"},
	"amount_cents": {"type": "integer", "minimum": 1},
	"reason": {"type": "string", "enum": ["late", "broken", "other"]},
	"note": {"type": "string"},
	"rate": {"type": "number"},
	"tags": {"type": "array", "items": {"type": "string", "enum": ["gift", "eu"]}},
	"address": {"type": "object", "properties": {"zip": {"type": "string"}, "lines": {"type": "integer"}}, "required": ["zip"]}}}`

const (
	findSchema  = `{"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}, "cents": {"type": "number"}, "state": {"type": "string", "enum": ["paid", "failed"]}}}`
	foundSchema = `{"type": "object", "required": ["status", "id"], "properties": {"status": {"type": "string", "enum": ["paid", "failed"]}, "id": {"type": "string"}, "cents": {"type": "integer"}}}`
)

func compiled(t testing.TB, text string) *catalog.Schema {
	t.Helper()
	s, err := catalog.CompileSchema([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

const refundArgs = "(order_id, amount_cents, reason, note, rate, tags, address)"

var sent = time.Date(2026, 1, 31, 10, 0, 0, 5e8, time.UTC)

// refundValues are arguments that fit refundSchema, as a gate decodes them.
func refundValues() map[string]any {
	return map[string]any{"args": map[string]any{"order_id": "A-1001", "amount_cents": 4900.0, "reason": "late", "rate": 3.0, "tags": []any{"gift"}}}
}

// checkPlace holds that a fault's offset, line and column name one place.
func checkPlace(t testing.TB, text string, f expr.Fault) {
	t.Helper()
	if f.Offset < 0 || f.Offset > len(text) {
		t.Fatalf("%q: offset %d", text, f.Offset)
	}
	before := text[:f.Offset]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	if f.Line != line || f.Column != column {
		t.Errorf("%q: offset %d is %d:%d, the fault says %d:%d", text, f.Offset, line, column, f.Line, f.Column)
	}
}
