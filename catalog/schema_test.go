package catalog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
)

// order is an argument object with something of everything.
type order struct {
	ID      int64    `json:"id" jsonschema:"example=17,minimum=1" jsonschema_description:"The order's number."`
	Month   string   `json:"month" jsonschema:"example=2026-04" jsonschema_extras:"x-spelling=YYYY-MM"`
	Total   float64  `json:"total_usd"`
	Channel string   `json:"channel" jsonschema:"enum=web,enum=shop"`
	Day     string   `json:"day,omitempty" jsonschema:"format=date"`
	Gift    bool     `json:"gift,omitempty"`
	Lines   []line   `json:"lines,omitempty"`
	Tags    []string `json:"tags,omitempty"`
}

type line struct {
	SKU   string `json:"sku" jsonschema:"pattern=^[A-Z]+-[0-9]+$"`
	Count int    `json:"count"`
}

func schemaOf[T any](t testing.TB) *catalog.Schema {
	t.Helper()
	s, err := catalog.SchemaOf[T]()
	if err != nil {
		t.Fatalf("SchemaOf: %v", err)
	}
	return s
}

func compile(t testing.TB, raw string) *catalog.Schema {
	t.Helper()
	s, err := catalog.CompileSchema([]byte(raw))
	if err != nil {
		t.Fatalf("CompileSchema(%s): %v", raw, err)
	}
	return s
}

func TestSchemaOfIsSelfContained(t *testing.T) {
	got := string(schemaOf[order](t).JSON())
	for _, banned := range []string{"$schema", "$ref", "$defs", "$id", "x-spelling"} {
		if strings.Contains(got, banned) {
			t.Errorf("SchemaOf[order] holds %s: %s", banned, got)
		}
	}
	if !strings.Contains(got, `"additionalProperties":false`) || !strings.Contains(got, `"type":"object"`) {
		t.Errorf("SchemaOf[order] = %s, want a closed object", got)
	}
}

func TestProperties(t *testing.T) {
	got := schemaOf[order](t).Properties()
	want := []catalog.Property{
		{Name: "id", Type: "integer", Description: "The order's number.", Required: true, Example: "17"},
		{Name: "month", Type: "string", Spelling: "YYYY-MM", Required: true, Example: "2026-04"},
		{Name: "total_usd", Type: "number", Required: true},
		{Name: "channel", Type: "string", Enum: []any{"web", "shop"}, Required: true, Example: "web"},
		{Name: "day", Type: "string", Format: "date"},
		{Name: "gift", Type: "boolean"},
		{Name: "lines", Type: "array"},
		{Name: "tags", Type: "array"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Properties() (-want +got):\n%s", diff)
	}
}

func TestExample(t *testing.T) {
	tests := map[string]struct {
		schema *catalog.Schema
		want   map[string]any
	}{
		"struct": {schemaOf[order](t), map[string]any{"id": 17.0, "month": "2026-04", "total_usd": 1.0, "channel": "web"}},
		"optional without an example is left out": {
			compile(t, `{"type":"object","properties":{"a":{"type":"string"}}}`), map[string]any{}},
		"the best source wins": {
			compile(t, `{"type":"object","properties":{"a":{"enum":[1,2],"default":2},"b":{"default":3,"examples":[4]}}}`),
			map[string]any{"a": 2.0, "b": 4.0}},
		"nested": {
			compile(t, `{"type":"object","required":["a","n","b","l"],"properties":{"a":{"type":"array","items":{"type":"object",`+
				`"required":["x"],"properties":{"x":{"type":"number","minimum":5}}}},"n":{"type":"null"},"b":{"type":"boolean"},"l":{"type":"array"}}}`),
			map[string]any{"a": []any{map[string]any{"x": 5.0}}, "n": nil, "b": true, "l": []any{}}},
		"no schema": {nil, map[string]any{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.schema.Example()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Example() (-want +got):\n%s", diff)
			}
			if faults := tt.schema.Check(got); faults != nil {
				t.Errorf("Example() does not fit its schema: %v", faults)
			}
		})
	}
}

type (
	tree   struct{ Children []tree }
	linked struct{ Next *linked }
	ping   struct{ Pong map[string]pong }
	pong   struct{ Ping *ping }
	list   []list
	inner  struct{ Self *outer }
	outer  struct{ inner }
	twice  struct{ A, B line }
	times  struct{ At, Until time.Time }
)

func TestSchemaOfRefusesRecursion(t *testing.T) {
	tests := map[string]struct {
		make func() (*catalog.Schema, error)
		ok   bool
	}{
		"slice of itself":            {catalog.SchemaOf[tree], false},
		"pointer to itself":          {catalog.SchemaOf[linked], false},
		"by way of another":          {catalog.SchemaOf[ping], false},
		"a slice of itself":          {catalog.SchemaOf[list], false},
		"by way of an embedded":      {catalog.SchemaOf[outer], false},
		"pointer at the top":         {catalog.SchemaOf[*linked], false},
		"the same type side by side": {catalog.SchemaOf[twice], true},
		"time":                       {catalog.SchemaOf[times], true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tt.make()
			if (err == nil) != tt.ok {
				t.Errorf("SchemaOf: error %v, want none: %v", err, tt.ok)
			}
			if err != nil && !strings.Contains(err.Error(), "contains itself") {
				t.Errorf("SchemaOf: error %q, want one that says what is wrong", err)
			}
		})
	}
}

func TestCompileSchemaRefuses(t *testing.T) {
	tests := map[string]struct{ raw, want string }{
		"nothing":                {``, ""},
		"no JSON":                {`{`, ""},
		"repeated member":        {`{"type":"object","type":"string"}`, "repeated"},
		"list":                   {`[]`, "object"},
		"boolean schema":         {`true`, "object"},
		"unknown type":           {`{"type":"text"}`, "/type"},
		"keyword misused":        {`{"required":"a"}`, "/required"},
		"bad pattern":            {`{"pattern":"("}`, "pattern"},
		"dangling reference":     {`{"$ref":"#/$defs/x"}`, "x"},
		"reads a file":           {`{"$ref":"file:///etc/hosts"}`, "must not refer to other documents"},
		"reads the network":      {`{"$ref":"https://example.com/s.json"}`, "must not refer to other documents"},
		"foreign dialect":        {`{"$schema":"https://example.com/dialect"}`, "must not refer to other documents"},
		"title no text":          {`{"type":"object","title":5}`, "/title"},
		"description null":       {`{"type":"object","description":null}`, "/description"},
		"remark no boolean":      {`{"type":"string","deprecated":"yes"}`, "/deprecated"},
		"examples no list":       {`{"type":"string","examples":"a"}`, "/examples"},
		"properties no object":   {`{"type":"object","properties":["a"]}`, "/properties"},
		"property no schema":     {`{"type":"object","properties":{"a":5}}`, "/properties/a"},
		"fault below":            {`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":7}}}}}`, "/type"},
		"items no schema":        {`{"type":"array","items":"string"}`, "/items"},
		"additional no schema":   {`{"type":"object","additionalProperties":0}`, "/additionalProperties"},
		"required null":          {`{"type":"object","required":null}`, "/required"},
		"required twice":         {`{"type":"object","required":["a","a"]}`, "/required"},
		"required with a number": {`{"type":"object","required":[1]}`, "/required"},
		"remark that is no text": {`{"type":"object","$comment":1}`, "/$comment"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := catalog.CompileSchema([]byte(tt.raw))
			if err == nil || s != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("CompileSchema(%s) = %v, %v; want an error about %q", tt.raw, s, err, tt.want)
			}
		})
	}
}

func TestCompileSchemaTakesItsOwnCopy(t *testing.T) {
	raw := []byte("\n {\"type\": \"object\",\n \"required\": [\"a\"] } ")
	s := compile(t, string(raw))
	clear(raw)
	if got, want := string(s.JSON()), `{"type":"object","required":["a"]}`; got != want {
		t.Errorf("JSON() = %s, want %s", got, want)
	}
	if got := s.Check(map[string]any{"a": nil}); got != nil {
		t.Errorf("Check = %v, want nil", got)
	}
}

func TestWithout(t *testing.T) {
	s := compile(t, `{"title":"T","properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["a","b"],"type":"object","additionalProperties":false}`)
	less := s.Without("a", "other")
	if got, want := string(less.JSON()), `{"title":"T","properties":{"b":{"type":"string"}},"required":["b"],"type":"object","additionalProperties":false}`; got != want {
		t.Errorf("Without(a) = %s, want %s", got, want)
	}
	got := less.Check(map[string]any{"a": 1.0})
	want := []catalog.Mismatch{
		{Pointer: "/a", Kind: catalog.MismatchUnknown, Want: "one of b"},
		{Pointer: "/b", Kind: catalog.MismatchMissing, Want: "string"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Without(a).Check (-want +got):\n%s", diff)
	}
	if same := s.Without("other"); same != s {
		t.Errorf("Without(other) made a new schema: %s", same.JSON())
	}
	if n := len(s.Properties()); n != 2 {
		t.Errorf("Without changed its receiver: %d properties left", n)
	}
	spelled := schemaOf[order](t).Without("id").Properties()
	if i := slices.IndexFunc(spelled, func(p catalog.Property) bool { return p.Name == "month" }); i != 0 || spelled[i].Spelling != "YYYY-MM" {
		t.Errorf("Without(id) lost the spelling of month: %+v", spelled)
	}
}

func TestWithoutWhatAnotherNeedsFitsNothing(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`)
	for _, v := range []any{map[string]any{}, map[string]any{"b": "x"}} {
		if got := s.Without("a").Check(v); len(got) != 1 || got[0].Kind != catalog.MismatchValue {
			t.Errorf("Check(%v) = %v, want one value mismatch", v, got)
		}
	}
}

func TestNilSchemaDescribesAnything(t *testing.T) {
	var s *catalog.Schema
	if !json.Valid(s.JSON()) || s.Properties() != nil || s.Without("a") != nil || s.Check(7.0) != nil {
		t.Errorf("the nil schema refuses something or fails")
	}
}
