package catalog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"patterngate/catalog"
	"patterngate/ijson"
)

// A value that is none of those listed and is wrong inside too is told by what is wrong inside first: a type comes before a
// value (spec/config.md section 4).
func TestWhatIsWrongInsideAListedValue(t *testing.T) {
	list := `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"},"enum":[[1],[2]]}}}`
	object := `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"array","items":{"type":"string"}}},"additionalProperties":false,"required":["b"],"const":{"b":1}}}}`
	for _, tt := range []struct {
		schema, value string
		want          []string
	}{
		{list, `{"a":["x"]}`, []string{"/a/0 type integer", "/a value one of [1], [2]"}},
		{list, `{"a":[3]}`, []string{"/a value one of [1], [2]"}},
		{list, `{"a":"x"}`, []string{"/a type array"}},
		{object, `{"a":{"b":"x"}}`, []string{"/a/b type integer", `/a value {"b":1}`}},
		{object, `{"a":{"d":2,"c":[true]}}`, []string{"/a/d unknown one of b, c", "/a/b missing integer", "/a/c/0 type string", `/a value {"b":1}`}},
		{object, `{"a":{"b":2}}`, []string{`/a value {"b":1}`}},
		{`{"type":"object","additionalProperties":{"type":"object","properties":{"b":{"type":"integer"}},"const":{"b":1}}}`, `{"x":{"b":"y"}}`, []string{"/x/b type integer", `/x value {"b":1}`}},
		{`{"type":"object","properties":{"id":{"type":"string","pattern":"^A-[0-9]+$"}},"required":["id"]}`, `{}`, []string{"/id missing a text that matches ^A-[0-9]+$"}},
	} {
		s, err := catalog.CompileUpstream(json.RawMessage(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		v, err := ijson.Decode([]byte(tt.value))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range s.Check(v) {
			got = append(got, fmt.Sprintf("%s %v %s", m.Pointer, m.Kind, m.Want))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("Check(%s) = %q, want %q", tt.value, got, tt.want)
		}
	}
}
