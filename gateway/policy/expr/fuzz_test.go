package expr_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

// FuzzExpression compiles and evaluates any text: it never panics, a fault lies within the text, the same text says and
// computes the same again, and a result is a decoded value.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`args.amount_cents > 1000 && args.reason == "late"`, `sum(run.effects.filter(e, e.counts).map(e, e.args.amount_cents))`,
		`args.?note.orValue("x")`, `has(args.address) ? args.address.zip : ""`, `round(spent.usd, 2)`, `path_within("/a/b", "/a")`, `{"a": [1, 2.0, now]}`,
		`cel.bind(x, args, x.reason)`, "args.\n`order_id`", `timestamp("2026-01-31T10:00:00Z") - now`, `ip("::1").family()`, `"%s %d".format(["a", 1])`,
		`[1, 2].transformMap(i, v, {string(i): v})`, `b"\xff"`, `dyn(1) + dyn("x")`, `((((`, `args.amount_cents / 0`, `'ä' == "😀" && args.x`, `google.protobuf.Any{}`, `1u - 2u`,
	} {
		f.Add(seed)
	}
	scope := expr.NewScope(refundVariables(f)...)
	f.Fuzz(func(t *testing.T, text string) {
		e, faults := scope.Compile(text, expr.Dyn())
		again, sameFaults := scope.Compile(text, expr.Dyn())
		if !reflect.DeepEqual(faults, sameFaults) || (e == nil) != (again == nil) {
			t.Fatalf("%q: %v, then %v", text, faults, sameFaults)
		}
		for _, fault := range faults {
			checkPlace(t, text, fault)
			if fault.Reason == "" || !fault.Warning && e != nil {
				t.Fatalf("%q: %+v", text, fault)
			}
		}
		if e == nil {
			if len(faults) == 0 {
				t.Fatalf("%q: neither an expression nor a fault", text)
			}
			return
		}
		v, err := e.Eval(refundValues())
		same, errAgain := again.Eval(refundValues())
		if (err == nil) != (errAgain == nil) || !reflect.DeepEqual(v, same) {
			t.Fatalf("%q: %v, %v, then %v, %v", text, v, err, same, errAgain)
		}
		if _, bad := ijson.AppendChecked(nil, v); err == nil && bad != nil {
			t.Fatalf("%q: %#v: %v", text, v, bad)
		}
	})
}

// FuzzSchema makes types of any schema and evaluates over any value: it never panics, and a value that fits the schema
// always fits its type.
func FuzzSchema(f *testing.F) {
	f.Add(refundSchema, `{"order_id": "A-1001", "amount_cents": 4900, "reason": "late"}`)
	f.Add(`{"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}`, `{"a": 1}`)
	f.Add(`{"type": "object", "properties": {"a": {"type": ["array", "null"], "items": {"enum": [1, 2.5, null]}}}}`, `{"a": [1, null]}`)
	f.Add(`{"type": "object", "additionalProperties": {"type": "integer"}}`, `{"x": 1.0}`)
	f.Add(`{"properties": {"a": {"const": {"b": 1}}}}`, `{"a": {"b": 1}}`)
	f.Add(`{"type": "object", "properties": {"a": {"type": "number", "enum": [1, 2]}}}`, `{"a": 1}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := catalog.CompileSchema([]byte(schema))
		if err != nil || !json.Valid([]byte(schema)) {
			return
		}
		v, err := ijson.Decode([]byte(value))
		if err != nil {
			return
		}
		variable := expr.Variable{Name: "args", Type: expr.FromSchema(s, "t")}
		e, faults := expr.Compile(`args == args`, expr.Bool(), variable)
		if e == nil {
			t.Fatalf("%s: %v", schema, faults)
		}
		got, err := e.Eval(map[string]any{"args": v})
		if o, isObject := v.(map[string]any); isObject && s.Check(o) == nil && (err != nil || got != true) {
			t.Fatalf("%s fits %s, but: %v, %v (%s)", value, schema, got, err, variable.Type)
		}
	})
}
