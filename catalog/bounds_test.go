package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/ijson"
)

// What people are shown of a place holds for each value there, as far as the schema says it by itself.
func TestBoundsAt(t *testing.T) {
	schema := compile(t, `{"type":"object","$defs":{"n":{"type":"number"}},"properties":{
		"n":{"type":"number","minimum":0,"maximum":5,"description":"Words.","default":1,"examples":[2],"title":"N"},
		"word":{"enum":["a","b"]},
		"far":{"$ref":"#/$defs/n"},
		"either":{"anyOf":[{"type":"number"},{"type":"string"}],"maxLength":3},
		"list":{"type":"array","items":{"type":"object","properties":{"x":{"const":1}},"additionalProperties":false,"required":["x"]},"maxItems":3},
		"pair":{"type":"array","prefixItems":[{"type":"number"}],"items":{"type":"string"}},
		"open":{"type":"object","patternProperties":{"^a":{"type":"string"}},"properties":{"b":{"type":"boolean"}},"additionalProperties":false},
		"a/b":{"type":"string","maxLength":2,"pattern":"^x"},
		"any":true,
		"vague":{"properties":{"x":{"type":"number"}}}
	}}`)
	tests := map[ijson.Pointer]string{
		"/n":         `{"type":"number","minimum":0,"maximum":5}`,
		"/word":      `{"enum":["a","b"]}`,
		"/far":       `{}`,
		"/either":    `{"maxLength":3}`,
		"/list":      `{"type":"array","maxItems":3,"items":{"type":"object","properties":{"x":{"const":1}},"additionalProperties":false,"required":["x"]}}`,
		"/list/0":    `{"type":"object","properties":{"x":{"const":1}},"additionalProperties":false,"required":["x"]}`,
		"/list/12/x": `{"const":1}`,
		"/list/-":    `{}`,
		"/pair":      `{"type":"array"}`,
		"/pair/0":    `{}`,
		"/open":      `{"type":"object","properties":{"b":{"type":"boolean"}}}`,
		"/open/b":    `{"type":"boolean"}`,
		"/a~1b":      `{"type":"string","maxLength":2,"pattern":"^x"}`,
		"/any":       `{}`,
		"/vague/x":   `{}`, // the value need not be an object
		"/none":      `{}`,
		"/n/deeper":  `{}`,
	}
	for at, text := range tests {
		want, err := ijson.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := schema.BoundsAt(at)
		if diff := cmp.Diff(want, any(got)); diff != "" {
			t.Errorf("BoundsAt(%s) (-want +got)\n%s", at, diff)
		}
		if _, err := catalog.CompileSchema(ijson.Canonical(got)); err != nil {
			t.Errorf("BoundsAt(%s) is no schema: %v", at, err)
		}
	}
	if got := (*catalog.Schema)(nil).BoundsAt("/x"); len(got) != 0 {
		t.Errorf("of no schema: %v", got)
	}
}
