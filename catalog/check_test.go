package catalog_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/ijson"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("Decode(%s): %v", text, err)
	}
	return v
}

func TestCheckOrder(t *testing.T) {
	const (
		unknown = catalog.MismatchUnknown
		missing = catalog.MismatchMissing
		typed   = catalog.MismatchType
		value   = catalog.MismatchValue
	)
	s := schemaOf[order](t)
	tests := map[string]struct {
		value string
		want  []catalog.Mismatch
	}{
		"fits":         {`{"id":1,"month":"m","total_usd":2,"channel":"web"}`, nil},
		"whole double": {`{"id":42.0,"month":"m","total_usd":2.5,"channel":"web"}`, nil},
		"largest id":   {`{"id":9007199254740991,"month":"m","total_usd":1e300,"channel":"web"}`, nil},
		"everything at once": {
			`{"zz":1,"a/b":1,"id":"7","day":"tomorrow","channel":"mail","gift":0,"lines":[{"count":1.5,"sku":"x","more":1},{"sku":"A-1"}]}`,
			[]catalog.Mismatch{
				{Pointer: "/lines/0/more", Kind: unknown, Want: "one of sku, count"},
				{Pointer: "/a~1b", Kind: unknown, Want: "one of id, month, total_usd, channel, day, gift, lines, tags"},
				{Pointer: "/zz", Kind: unknown, Want: "one of id, month, total_usd, channel, day, gift, lines, tags"},
				{Pointer: "/month", Kind: missing, Want: "YYYY-MM"},
				{Pointer: "/total_usd", Kind: missing, Want: "number"},
				{Pointer: "/lines/1/count", Kind: missing, Want: "integer"},
				{Pointer: "/id", Kind: typed, Want: "integer"},
				{Pointer: "/gift", Kind: typed, Want: "boolean"},
				{Pointer: "/lines/0/count", Kind: typed, Want: "integer"},
				{Pointer: "/channel", Kind: value, Want: `one of "web", "shop"`},
				{Pointer: "/day", Kind: value, Want: "format date"},
				{Pointer: "/lines/0/sku", Kind: value, Want: "a text that matches ^[A-Z]+-[0-9]+$"},
			}},
		"fraction":           {`{"id":1.5,"month":"m","total_usd":2,"channel":"web"}`, []catalog.Mismatch{{"/id", typed, "integer"}}},
		"integer too large":  {`{"id":1e22,"month":"m","total_usd":2,"channel":"web"}`, []catalog.Mismatch{{"/id", typed, "integer"}}},
		"boolean for number": {`{"id":true,"month":"m","total_usd":false,"channel":"web"}`, []catalog.Mismatch{{"/id", typed, "integer"}, {"/total_usd", typed, "number"}}},
		"null":               {`{"id":1,"month":null,"total_usd":2,"channel":"web","gift":null}`, []catalog.Mismatch{{"/month", typed, "string"}, {"/gift", typed, "boolean"}}},
		"text for number":    {`{"id":"42","month":"m","total_usd":"2","channel":"web"}`, []catalog.Mismatch{{"/id", typed, "integer"}, {"/total_usd", typed, "number"}}},
		"number for text":    {`{"id":1,"month":202604,"total_usd":2,"channel":"web"}`, []catalog.Mismatch{{"/month", typed, "string"}}},
		"too small":          {`{"id":0,"month":"m","total_usd":2,"channel":"web"}`, []catalog.Mismatch{{"/id", value, "at least 1"}}},
		"no object":          {`[]`, []catalog.Mismatch{{"", typed, "object"}}},
		"null for all":       {`null`, []catalog.Mismatch{{"", typed, "object"}}},
		"list items in order": {`{"id":1,"month":"m","total_usd":2,"channel":"web","tags":[1,"a",2,0,0,0,0,0,0,0,3]}`, []catalog.Mismatch{
			{"/tags/0", typed, "string"}, {"/tags/2", typed, "string"}, {"/tags/3", typed, "string"}, {"/tags/4", typed, "string"},
			{"/tags/5", typed, "string"}, {"/tags/6", typed, "string"}, {"/tags/7", typed, "string"}, {"/tags/8", typed, "string"},
			{"/tags/9", typed, "string"}, {"/tags/10", typed, "string"},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range 5 { // maps are walked in another order each time
				if diff := cmp.Diff(tt.want, s.Check(decode(t, tt.value))); diff != "" {
					t.Fatalf("Check(%s) (-want +got):\n%s", tt.value, diff)
				}
			}
		})
	}
}

func TestCheckWords(t *testing.T) {
	tests := map[string]struct {
		schema, value, want string
	}{
		"const":             {`{"const":"x"}`, `1`, `value "": "x"`},
		"enum of numbers":   {`{"enum":[1,2.5,null]}`, `3`, `value "": one of 1, 2.5, null`},
		"maximum":           {`{"maximum":10}`, `11`, `value "": at most 10`},
		"exclusive minimum": {`{"exclusiveMinimum":0.5}`, `0.5`, `value "": more than 0.5`},
		"exclusive maximum": {`{"exclusiveMaximum":3}`, `3`, `value "": less than 3`},
		"multiple":          {`{"multipleOf":0.01}`, `0.005`, `value "": a multiple of 0.01`},
		"too short":         {`{"minLength":2}`, `"a"`, `value "": at least 2 characters`},
		"too long":          {`{"maxLength":2}`, `"abc"`, `value "": at most 2 characters`},
		"too few":           {`{"minItems":2}`, `[]`, `value "": at least 2 items`},
		"too many":          {`{"maxItems":0}`, `[1]`, `value "": at most 0 items`},
		"equal items":       {`{"uniqueItems":true}`, `[1,1.0]`, `value "": items that are all different`},
		"several types":     {`{"type":["string","null"]}`, `1`, `type "": null or string`},
		"any of":            {`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, `value "": one of the forms that the schema allows`},
		"all of":            {`{"allOf":[{"type":"object","required":["b"]}]}`, `{}`, `missing "/b": any`},
		"reference":         {`{"$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":1e22}`, `type "/a": integer`},
		"dependent":         {`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `missing "/b": any`},
		"old dependency":    {`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`, `missing "/b": any`},
		"member names":      {`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `unknown "/ab": no member of that name`},
		"nothing allowed":   {`{"properties":{"a":false}}`, `{"a":1}`, `value "/a": not this`},
		"not":               {`{"not":{"type":"null"}}`, `null`, `value "": not this`},
		"long pattern":      {`{"pattern":"^` + strings.Repeat("a", 300) + `$"}`, `""`, `value "": a text that matches ^` + strings.Repeat("a", 178) + "…"},
		"multi-line text":   {`{"pattern":"a\n\nb"}`, `""`, `value "": a text that matches a b`},
		"integer or null":   {`{"type":["integer","null"]}`, `1e300`, `type "": integer`},
		"integer or number": {`{"type":["integer","number"]}`, `1e300`, ``},
		"draft 7 integer":   {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"integer"}`, `-1e17`, `type "": integer`},
		"draft 7 tuple":     {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"string"}]}`, `[1,2]`, `type "/0": string`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range compile(t, tt.schema).Check(decode(t, tt.value)) {
				got = append(got, m.Kind.String()+" \""+string(m.Pointer)+"\": "+m.Want)
			}
			if joined := strings.Join(got, "; "); joined != tt.want {
				t.Errorf("Check(%s) by %s:\ngot  %s\nwant %s", tt.value, tt.schema, joined, tt.want)
			}
		})
	}
}

// oracle is the schema library as it comes, told only to take formats seriously.
func oracle(t interface{ Fatalf(string, ...any) }, raw []byte) *santhosh.Schema {
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	c := santhosh.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///oracle.json", doc); err != nil {
		t.Fatalf("oracle: %v", err)
	}
	s, err := c.Compile("mem:///oracle.json")
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	return s
}

// hasUnsafe reports numbers beyond 2^53-1, about which we are stricter than the library on purpose.
func hasUnsafe(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.Abs(v) > ijson.MaxInteger
	case []any:
		return slices.ContainsFunc(v, hasUnsafe)
	case map[string]any:
		for _, member := range v {
			if hasUnsafe(member) {
				return true
			}
		}
	}
	return false
}

func checkAgainstOracle(t interface {
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, raw []byte, v any,
) {
	s, err := catalog.CompileSchema(raw)
	if err != nil {
		return
	}
	faults := s.Check(v)
	wrong := oracle(t, raw).Validate(v)
	if (wrong == nil) != (faults == nil) && !(hasUnsafe(v) && wrong == nil) {
		t.Errorf("Check(%s) by %s = %v, the oracle says %v", ijson.Canonical(v), raw, faults, wrong)
	}
	if !slices.IsSortedFunc(faults, func(a, b catalog.Mismatch) int { return int(a.Kind) - int(b.Kind) }) {
		t.Errorf("Check(%s) by %s = %v, want it ordered by kind", ijson.Canonical(v), raw, faults)
	}
	for _, m := range faults {
		if _, there := m.Pointer.In(v); there == (m.Kind == catalog.MismatchMissing) {
			t.Errorf("Check(%s) by %s: %v: there %v", ijson.Canonical(v), raw, m, there)
		}
		if m.Want == "" || len([]rune(m.Want)) > 200 || strings.ContainsAny(m.Want, "\n\r\t") {
			t.Errorf("Check(%s) by %s: want %q, which is not one line of 1 to 200 characters", ijson.Canonical(v), raw, m.Want)
		}
	}
}

func TestCheckAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := schemas(3).Draw(t, "schema")
		checkAgainstOracle(t, ijson.Canonical(schema), values(3).Draw(t, "value"))
		checkAgainstOracle(t, ijson.Canonical(schema), fitting(t, schema))
	})
}

var names = rapid.SampledFrom([]string{"a", "b", "c", "0", "a/b", "~"})

// schemas draws schemas, mostly of the plain kind that the quick check decides.
func schemas(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		kinds := []string{"string", "integer", "number", "boolean", "null"}
		if depth > 0 {
			kinds = append(kinds, "object", "object", "object", "array")
		}
		s := map[string]any{"type": rapid.SampledFrom(kinds).Draw(t, "type")}
		switch s["type"] {
		case "object":
			s["properties"] = rapid.MapOfN(names, rapid.Map(schemas(depth-1), func(s map[string]any) any { return s }), 0, 4).Draw(t, "properties")
			s["additionalProperties"] = rapid.SampledFrom([]any{false, false, true, map[string]any{"type": "string"}}).Draw(t, "additional")
			s["required"] = rapid.SliceOfNDistinct(rapid.Map(names, func(n string) any { return n }), 0, 3, func(n any) string { return n.(string) }).Draw(t, "required")
		case "array":
			s["items"] = schemas(depth-1).Draw(t, "items")
		case "string":
			extra := rapid.SampledFrom([]map[string]any{{}, {}, {"minLength": 1.0}, {"enum": []any{"x", ""}}, {"format": "date"}, {"pattern": "^x"}}).Draw(t, "extra")
			for keyword, v := range extra {
				s[keyword] = v
			}
		}
		if rapid.Bool().Draw(t, "described") {
			s["description"] = "d"
		}
		return s
	})
}

// values draws decoded values of any kind.
func values(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		last := 5
		if depth > 0 {
			last = 7
		}
		switch rapid.IntRange(0, last).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return float64(rapid.IntRange(-3, 3).Draw(t, "whole"))
		case 3:
			return rapid.SampledFrom([]float64{0.5, -1.25, 1e22, 1 << 53, 1<<53 - 1, 1e300}).Draw(t, "number")
		case 4, 5:
			return rapid.SampledFrom([]string{"", "x", "2026-02-26", "7"}).Draw(t, "text")
		case 6:
			return rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "list")
		}
		return rapid.MapOfN(names, values(depth-1), 0, 4).Draw(t, "object")
	})
}

// fitting draws a value that nearly always fits, so that the quick yes is tried too.
func fitting(t *rapid.T, schema map[string]any) any {
	switch schema["type"] {
	case "string":
		return rapid.SampledFrom([]string{"x", "x", "", "2026-02-26"}).Draw(t, "text")
	case "integer":
		return float64(rapid.IntRange(-5, 5).Draw(t, "integer"))
	case "number":
		return float64(rapid.IntRange(-5, 5).Draw(t, "number")) / 2
	case "boolean":
		return rapid.Bool().Draw(t, "bool")
	case "array":
		return []any{fitting(t, schema["items"].(map[string]any))}
	case "object":
		object := map[string]any{}
		properties := schema["properties"].(map[string]any)
		for _, name := range []string{"a", "b", "c", "0", "a/b", "~"} {
			p, declared := properties[name]
			switch {
			case declared:
				object[name] = fitting(t, p.(map[string]any))
			case slices.Contains(schema["required"].([]any), any(name)):
				object[name] = "x"
			}
		}
		return object
	}
	return nil
}

func FuzzCheck(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`, `{"a":1}`},
		{`{"type":"object","properties":{"a":true,"b":false,"c":{}}}`, `{"a":null,"c":[]}`},
		{`{"anyOf":[{"type":"string"},{"$ref":"#"}]}`, `7`},
		{`{"type":"array","items":{"type":"string","description":"d"},"prefixItems":[{"type":"null"}]}`, `[null,"a"]`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","type":"array","items":[{"type":"string"}]}`, `["a",1]`},
		{`{"title":"t","type":"number","deprecated":true,"readOnly":false,"$comment":"c","default":null,"x-spelling":1}`, `1`},
		{`{"type":"string","examples":1,"contentEncoding":2,"format":3}`, `""`},
		{`{"type":"object","properties":{"d":{"description":"anything"}},"patternProperties":{"^x":{"type":"null"}}}`, `{"d":1,"x":2}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		if v, err := ijson.Decode([]byte(value)); err == nil {
			checkAgainstOracle(t, []byte(schema), v)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	type refund struct {
		UserID int64   `json:"user_id"`
		Amount float64 `json:"amount_usd"`
		Reason string  `json:"reason,omitempty"`
	}
	s := schemaOf[refund](b)
	for name, v := range map[string]any{
		"fits":      map[string]any{"user_id": 42.0, "amount_usd": 49.0, "reason": "asked for"},
		"fits not":  map[string]any{"user_id": "42", "amount_usd": 49.0},
		"no object": nil,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Check(v)
			}
		})
	}
}
