package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/gateway/policy/expr"
)

// TestTypesFromSchemas holds each rule of spec/config.md section 5.2: what stands in the schema of x is what x is.
func TestTypesFromSchemas(t *testing.T) {
	tests := map[string]struct{ schema, want string }{
		"integer":                       {`{"type": "integer"}`, "int"},
		"number":                        {`{"type": "number"}`, "double"},
		"string":                        {`{"type": "string"}`, "string"},
		"string with a format":          {`{"type": "string", "format": "date-time"}`, "string"},
		"boolean":                       {`{"type": "boolean"}`, "bool"},
		"null":                          {`{"type": "null"}`, "null"},
		"enum of texts":                 {`{"enum": ["a", "b"]}`, "string"},
		"enum of whole numbers":         {`{"enum": [1, 2]}`, "int"},
		"enum of numbers":               {`{"enum": [1, 2.5]}`, "double"},
		"enum of whole numbers, number": {`{"type": "number", "enum": [1, 2]}`, "double"},
		"enum of texts and null":        {`{"enum": ["a", null]}`, "string or null"},
		"enum of texts and numbers":     {`{"enum": ["a", 1]}`, "dyn"},
		"enum of lists":                 {`{"enum": [[1]]}`, "dyn"},
		"const":                         {`{"const": true}`, "bool"},
		"array":                         {`{"type": "array", "items": {"type": "integer"}}`, "list(int)"},
		"array without items":           {`{"type": "array"}`, "list(dyn)"},
		"tuple":                         {`{"type": "array", "prefixItems": [{"type": "integer"}]}`, "list(dyn)"},
		"array of arrays":               {`{"type": "array", "items": {"type": "array", "items": {"type": "string"}}}`, "list(list(string))"},
		"object with properties":        {`{"type": "object", "properties": {"a": {"type": "string"}}}`, "object"},
		"object that allows none":       {`{"type": "object", "additionalProperties": false}`, "object"},
		"object of one kind of member":  {`{"type": "object", "additionalProperties": {"type": "number"}}`, "map(double)"},
		"bare object":                   {`{"type": "object"}`, "map(dyn)"},
		"open object":                   {`{"type": "object", "additionalProperties": true}`, "map(dyn)"},
		"object with patterns":          {`{"type": "object", "properties": {"a": {}}, "patternProperties": {"^b": {}}}`, "map(dyn)"},
		"text or null":                  {`{"type": ["string", "null"]}`, "string or null"},
		"null or integer":               {`{"type": ["null", "integer"]}`, "int or null"},
		"list of one type":              {`{"type": ["integer"]}`, "int"},
		"other type list":               {`{"type": ["string", "integer"]}`, "dyn"},
		"anyOf":                         {`{"anyOf": [{"type": "string"}]}`, "dyn"},
		"oneOf beside a type":           {`{"type": "object", "oneOf": [{"required": ["a"]}]}`, "dyn"},
		"nothing":                       {`{}`, "dyn"},
		"true":                          {`true`, "dyn"},
		"reference":                     {`{"$ref": "#/$defs/cents"}`, "int"},
		"reference to a reference":      {`{"$ref": "#/$defs/again"}`, "int"},
		"reference with a remark":       {`{"$ref": "#/$defs/cents", "description": "cents"}`, "int"},
		"reference with a type":         {`{"$ref": "#/$defs/cents", "type": "number"}`, "dyn"},
		"list of references":            {`{"type": "array", "items": {"$ref": "#/$defs/cents"}}`, "list(int)"},
		"recursion":                     {`{"$ref": "#/$defs/tree"}`, "object"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := compiled(t, `{"type": "object", "required": ["x"], "properties": {"x": `+tt.schema+`}, "$defs": {
				"cents": {"type": "integer"}, "again": {"$ref": "#/$defs/cents"},
				"tree": {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/$defs/tree"}, "n": {"type": "integer"}}}}}`)
			got, ok := expr.FromSchema(s, "t").Field("x")
			if !ok || got.Type.String() != tt.want {
				t.Errorf("%s is %s, want %s", tt.schema, got.Type, tt.want)
			}
		})
	}
}

// TestRecursionIsDyn holds that a schema that holds itself is typed once and dyn from there on.
func TestRecursionIsDyn(t *testing.T) {
	s := compiled(t, `{"type": "object", "required": ["tree"], "properties": {"tree": {"$ref": "#/$defs/tree"}}, "$defs": {
		"tree": {"type": "object", "required": ["next", "n"], "properties": {"next": {"$ref": "#/$defs/tree"}, "n": {"type": "integer"}}}}}`)
	args := expr.Variable{Name: "args", Type: expr.FromSchema(s, "t")}
	for text, want := range map[string]string{
		"args.tree.n > 1.0":                  "1.0 is double",
		"args.tree.next.n > 1.0":             "",
		"args.tree.next.anything.at.all > 1": "",
		"args.tree.m > 1":                    "args.tree has no member m (n, next)",
	} {
		_, faults := expr.Compile(text, expr.Bool(), args)
		if got := fmt.Sprint(faults); !strings.Contains(got, want) || want == "" && faults != nil {
			t.Errorf("%s: %s, want %q", text, got, want)
		}
	}
}

// TestManyReferences holds that references that double at each step do not make a type that grows with them.
func TestManyReferences(t *testing.T) {
	var defs strings.Builder
	for i := range 60 {
		fmt.Fprintf(&defs, `"d%d": {"type": "object", "properties": {"a": {"$ref": "#/$defs/d%d"}, "b": {"$ref": "#/$defs/d%d"}}}, `, i, i+1, i+1)
	}
	s := compiled(t, `{"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {`+defs.String()+`"d60": {"type": "integer"}}}`)
	args := expr.Variable{Name: "args", Type: expr.FromSchema(s, "t")}
	if _, faults := expr.Compile(`has(args.x.c)`, expr.Bool(), args); len(faults) != 1 || faults[0].Reason != "args.x has no member c (a, b)" {
		t.Errorf("faults %v, want one about c", faults)
	}
}

// TestUnknownSchema holds that arguments of which no schema is known are dyn.
func TestUnknownSchema(t *testing.T) {
	if got := expr.FromSchema(nil, "t"); got.String() != "dyn" {
		t.Errorf("no schema is %s, want dyn", got)
	}
	if got := expr.FromSchema(compiled(t, `{"properties": {"a": {"type": "string"}}}`), "t"); got.String() != "object" {
		t.Errorf("arguments without a type are %s, want object", got)
	}
}

// TestValues holds that enum and const are known by their values, and that null is one where the schema says so.
func TestValues(t *testing.T) {
	s := compiled(t, `{"type": "object", "required": ["level", "rate", "mode", "note"], "properties": {
		"level": {"type": "integer", "enum": [1, 2]}, "rate": {"type": "number", "enum": [1, 2.5]}, "mode": {"const": "fast"}, "note": {"type": ["string", "null"]}}}`)
	args := expr.Variable{Name: "args", Type: expr.FromSchema(s, "t")}
	values := map[string]any{"args": map[string]any{"level": 1.0, "rate": 1.0, "mode": "fast", "note": nil}}
	for text, want := range map[string]string{
		`args.level == 1`:                      "true",
		`args.level == 3`:                      "args.level is never 3 (1, 2)",
		`args.level in [1, 4]`:                 "args.level is never 4 (1, 2)",
		`args.level > 4`:                       "false",
		`args.rate == 1.0`:                     "true",
		`args.rate == 3.0`:                     "args.rate is never 3 (1, 2.5)",
		`args.mode == "fast"`:                  "true",
		`args.mode == "slow"`:                  `args.mode is never "slow" ("fast")`,
		`has(args.note)`:                       "true",
		`args.note == null`:                    "true",
		`args.note == ""`:                      "false",
		`args.note != null && args.note != ""`: "false",
		`args.level == null`:                   "== does not work with int and null",
	} {
		e, faults := expr.Compile(text, expr.Bool(), args)
		got := ""
		if e == nil {
			got = faults[0].String()
		} else if v, err := e.Eval(values); err == nil {
			got = fmt.Sprint(v)
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", text, got, want, faults)
		}
	}
}
