package catalog_test

import (
	"testing"

	"patterngate/catalog"
	"patterngate/ijson"
)

// A place is excluded only where that is sure.
func TestPlaceOf(t *testing.T) {
	const closed = `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":["string","null"]},"l":{"type":"array","items":{"type":"object","properties":{"a/b":{"type":"string"}},"additionalProperties":false}},"any":{}},"additionalProperties":false}`
	for name, tt := range map[string]struct {
		schema string
		at     ijson.Pointer
		want   catalog.Place
	}{
		"the whole":            {closed, "", catalog.Place{Type: "object"}},
		"a member":             {closed, "/n", catalog.Place{Type: "integer"}},
		"no such member":       {closed, "/x", catalog.Place{Excluded: true}},
		"in a number":          {closed, "/n/0", catalog.Place{Excluded: true}},
		"of several types":     {closed, "/s", catalog.Place{}},
		"in several types":     {closed, "/s/x", catalog.Place{}},
		"an element's member":  {closed, "/l/12/a~1b", catalog.Place{Type: "string"}},
		"an element's other":   {closed, "/l/12/c", catalog.Place{Excluded: true}},
		"after the last":       {closed, "/l/-", catalog.Place{Excluded: true}},
		"an odd index":         {closed, "/l/01", catalog.Place{Excluded: true}},
		"no index":             {closed, "/l/", catalog.Place{Excluded: true}},
		"in anything":          {closed, "/any/x/-", catalog.Place{}},
		"open":                 {`{"type":"object","properties":{"n":{}}}`, "/x", catalog.Place{}},
		"elements of any type": {`{"type":"array"}`, "/0/x", catalog.Place{}},
		"other names":          {`{"type":"object","patternProperties":{"^x":{}},"additionalProperties":false}`, "/x1", catalog.Place{}},
		"other elements":       {`{"type":"array","prefixItems":[{}],"items":{"type":"string"}}`, "/0/x", catalog.Place{}},
		"said elsewhere":       {`{"type":"object","$ref":"#/$defs/a","$defs":{"a":{}},"additionalProperties":false}`, "/x", catalog.Place{}},
		"one of several":       {`{"anyOf":[{"type":"object"},{"type":"null"}]}`, "/x", catalog.Place{}},
	} {
		schema, err := catalog.CompileSchema([]byte(tt.schema))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := schema.PlaceOf(tt.at); got != tt.want {
			t.Errorf("%s: PlaceOf(%s) = %+v, want %+v", name, tt.at, got, tt.want)
		}
	}
	if got := (*catalog.Schema)(nil).PlaceOf("/x"); got != (catalog.Place{}) {
		t.Errorf("PlaceOf of a nil Schema = %+v, want nothing known", got)
	}
}
