package catalog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/ijson"
)

func upstream(t testing.TB, raw string) *catalog.Schema {
	t.Helper()
	s, err := catalog.CompileUpstream(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("CompileUpstream(%.200s): %v", raw, err)
	}
	return s
}

func TestShown(t *testing.T) {
	tests := map[string]struct{ raw, want string }{
		"nothing":        {``, `{"type":"object"}`},
		"null":           {`null`, `{"type":"object"}`},
		"no type":        {`{"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"as it is":       {`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`, `{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`},
		"another root":   {`{"type":["object","null"],"oneOf":[{"required":["a"]}],"$schema":"http://json-schema.org/draft-07/schema#","$id":"x"}`, `{"type":"object"}`},
		"branches":       {`{"type":"object","properties":{"a":{"description":"A.","anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`, `{"type":"object","properties":{"a":{"description":"A.","default":null}}}`},
		"lists of types": {`{"type":"object","properties":{"a":{"type":["string","null"],"maxLength":3}}}`, `{"type":"object","properties":{"a":{"maxLength":3}}}`},
		"true and false": {`{"type":"object","properties":{"a":true,"b":false,"c":{"type":"array","items":true}},"additionalProperties":true}`, `{"type":"object","properties":{"a":{},"b":{},"c":{"type":"array"}},"additionalProperties":true}`},
		"a reference followed": {`{"type":"object","properties":{"c":{"$ref":"#/$defs/Color","description":"Which."}},"$defs":{"Color":{"type":"string","enum":["red"],"description":"A color."}}}`,
			`{"type":"object","properties":{"c":{"description":"Which.","type":"string","enum":["red"]}}}`},
		"from one to the next": {`{"type":"object","properties":{"c":{"$ref":"#/definitions/a"}},"definitions":{"a":{"$ref":"#/definitions/b~1c"},"b/c":{"type":"integer"}}}`,
			`{"type":"object","properties":{"c":{"type":"integer"}}}`},
		"a reference to itself": {`{"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},"$defs":{"T":{"type":"object","properties":{"next":{"$ref":"#/$defs/T","title":"N"}}}}}`,
			`{"type":"object","properties":{"t":{"type":"object","properties":{"next":{"title":"N"}}}}}`},
		"the root itself":           {`{"type":"object","properties":{"t":{"$ref":"#"}}}`, `{"type":"object","properties":{"t":{"type":"object","properties":{"t":{}}}}}`},
		"to nothing":                {`{"type":"object","properties":{"a":{"$ref":"#/$defs/none","title":"A"},"b":{"$ref":"https://example.com/x"}}}`, `{"type":"object","properties":{"a":{"title":"A"},"b":{}}}`},
		"tuples":                    {`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{}],"items":{"type":"string"}},"b":{"type":"array","items":[{}]}}}`, `{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array"}}}`},
		"patterns of names":         {`{"type":"object","patternProperties":{"^x":{}},"additionalProperties":false}`, `{"type":"object"}`},
		"additional ones":           {`{"type":"object","additionalProperties":{"anyOf":[{}],"title":"V"}}`, `{"type":"object","additionalProperties":{"title":"V"}}`},
		"of an older draft":         {`{"type":"object","properties":{"a":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`, `{"type":"object","properties":{"a":{"type":"number","minimum":0}}}`},
		"nonsense":                  {`{"type":"object","required":"a","properties":[],"title":7,"enum":[]}`, `{"type":"object"}`},
		"properties named keywords": {`{"type":"object","properties":{"oneOf":{"type":"string"},"$ref":{"type":"string"}}}`, `{"type":"object","properties":{"oneOf":{"type":"string"},"$ref":{"type":"string"}}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			shown := upstream(t, tt.raw).Shown()
			if got := string(shown.JSON()); got != tt.want {
				t.Errorf("Shown() = %s\nwant      %s", got, tt.want)
			}
			if err := shown.Compiles(); err != nil {
				t.Errorf("what is shown does not compile: %v", err)
			}
			if again := shown.Shown(); again != shown {
				t.Errorf("Shown() of it is %s", again.JSON())
			}
		})
	}
}

// A schema in which every reference leads to two more.
func doubling(levels int) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range levels {
		next := `{"$ref":"#/$defs/d` + string(rune('0'+i+1)) + `"}`
		b.WriteString(`"d` + string(rune('0'+i)) + `":{"allOf":[` + next + `,` + next + `],"properties":{"x":` + next + `,"y":` + next + `}},`)
	}
	b.WriteString(`"d` + string(rune('0'+levels)) + `":{"type":"integer"}}}`)
	return b.String()
}

func TestHostileSchemas(t *testing.T) {
	fits := []catalog.Mismatch(nil)
	tests := map[string]struct {
		raw  string
		args string
		want []catalog.MismatchKind
	}{
		"a pattern with look-ahead is the server's": {`{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x).*$"}}}`, `{"a":"x"}`, nil},
		"other patterns are judged":                 {`{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}`, `{"a":"` + strings.Repeat("a", 50_000) + `!"}`, []catalog.MismatchKind{catalog.MismatchValue}},
		"a pattern that grows":                      {`{"type":"object","properties":{"a":{"type":"string","pattern":"((a{500}){500}){1}"}}}`, `{"a":"x"}`, nil},
		"a pattern that takes long":                 {`{"type":"object","properties":{"a":{"type":"string","pattern":"(x|[a-z]?y?){1000}(a|b?c?){900}q$"}}}`, `{"a":"` + strings.Repeat("abc", 10_000) + `"}`, []catalog.MismatchKind{catalog.MismatchValue}},
		"the same of a short text":                  {`{"type":"object","properties":{"a":{"type":"string","pattern":"(x|[a-z]?y?){1000}(a|b?c?){900}q$"}}}`, `{"a":"abcq"}`, nil},
		"letters of all languages":                  {`{"type":"object","properties":{"a":{"type":"string","pattern":"^[\\p{L} ]{1,}$"}}}`, `{"a":"` + strings.Repeat("é x", 50_000) + `"}`, nil},
		"a recursion is judged":                     {`{"type":"object","properties":{"next":{"$ref":"#"},"n":{"type":"integer"}},"additionalProperties":false}`, `{"next":{"next":{"n":"x"}}}`, []catalog.MismatchKind{catalog.MismatchType}},
		"a loop of references":                      {`{"type":"object","properties":{"a":{"$ref":"#/$defs/l"}},"$defs":{"l":{"$ref":"#/$defs/l"}}}`, `{"a":1}`, []catalog.MismatchKind{catalog.MismatchValue}},
		"references that double":                    {doubling(40), `{"a":1}`, []catalog.MismatchKind{catalog.MismatchValue}},
		"a file":                                    {`{"type":"object","properties":{"a":{"$ref":"file:///etc/hosts"}}}`, `{}`, []catalog.MismatchKind{catalog.MismatchValue}},
		"the network":                               {`{"$schema":"https://example.com/dialect","type":"object"}`, `{}`, []catalog.MismatchKind{catalog.MismatchValue}},
		"no schema at all":                          {`{"type":"object","properties":{"a":{"type":"text"}}}`, `{}`, []catalog.MismatchKind{catalog.MismatchValue}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := upstream(t, tt.raw)
			v, err := ijson.Decode([]byte(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			var got []catalog.MismatchKind
			for _, m := range s.Check(v) {
				got = append(got, m.Kind)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Check(%.100s) (-want +got):\n%s", tt.args, diff)
			}
			shown := s.Shown()
			if err := shown.Compiles(); err != nil || len(shown.JSON()) > 256<<10 {
				t.Errorf("what is shown: %d bytes, %v", len(shown.JSON()), err)
			}
			if got := shown.Check(v); len(tt.want) == 0 && cmp.Diff(fits, got) != "" {
				t.Errorf("what fits the whole does not fit what is shown: %v", got)
			}
		})
	}
}

func TestCompileUpstreamRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"a list": `[]`, "a boolean": `true`, "no JSON": `{`, "repeated": `{"type":"object","type":"object"}`,
		"huge":      `{"description":"` + strings.Repeat("x", 300<<10) + `"}`,
		"very deep": strings.Repeat(`{"not":`, 80) + `{}` + strings.Repeat(`}`, 80),
		"very many": `{"enum":[` + strings.TrimSuffix(strings.Repeat("1,", 30_000), ",") + `]}`,
	} {
		if s, err := catalog.CompileUpstream(json.RawMessage(raw)); err == nil || s != nil {
			t.Errorf("%s: CompileUpstream gave a schema, %v", name, err)
		}
	}
}

func TestBounded(t *testing.T) {
	s := upstream(t, `{"type":"object","properties":{"path":{"type":"string","description":"Where."},"head":{"type":"number","title":"H"},"any":{"description":"It."}},"required":["path","head"]}`)
	tests := map[string]struct {
		bounds, want string
		faults       []string
	}{
		"narrower": {`{"path":{"pattern":"^/srv/"}}`,
			`{"type":"object","properties":{"path":{"pattern":"^/srv/","type":"string","description":"Where."},"head":{"type":"number","title":"H"},"any":{"description":"It."}},"required":["path","head"]}`, nil},
		"an integer of numbers, by default": {`{"head":{"type":"integer","default":5,"maximum":9}}`,
			`{"type":"object","properties":{"path":{"type":"string","description":"Where."},"head":{"type":"integer","default":5,"maximum":9,"title":"H"},"any":{"description":"It."}},"required":["path"]}`, nil},
		"words of its own, now required": {`{"any":{"type":"boolean","description":"Mine."}}`,
			`{"type":"object","properties":{"path":{"type":"string","description":"Where."},"head":{"type":"number","title":"H"},"any":{"type":"boolean","description":"Mine."}},"required":["path","head","any"]}`, nil},
		"still optional": {`{"any":{"type":"boolean","optional":true}}`,
			`{"type":"object","properties":{"path":{"type":"string","description":"Where."},"head":{"type":"number","title":"H"},"any":{"type":"boolean","description":"It."}},"required":["path","head"]}`, nil},
		"no such argument": {`{"pth":{"type":"string"},"zzz":{}}`, "", []string{"/pth no such argument ?path", "/zzz no such argument"}},
		"another type":     {`{"path":{"type":"integer"}}`, "", []string{"/path/type another type than the tool's"}},
		"a wider type":     {`{"head":{"type":"string"}}`, "", []string{"/head/type another type than the tool's"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bounds, wrong := catalog.CompileBounds(json.RawMessage(tt.bounds))
			if wrong != nil {
				t.Fatal(faults(wrong))
			}
			got, wrong := s.Bounded(bounds)
			if diff := cmp.Diff(tt.faults, faults(wrong)); diff != "" {
				t.Errorf("Bounded(%s) (-want +got):\n%s", tt.bounds, diff)
			}
			if tt.want != "" && string(got.JSON()) != tt.want {
				t.Errorf("Bounded(%s) = %s\nwant %s", tt.bounds, got.JSON(), tt.want)
			}
			if tt.want == "" && got != nil {
				t.Errorf("Bounded(%s) = %s in spite of faults", tt.bounds, got.JSON())
			}
		})
	}
	bounds, _ := catalog.CompileBounds(json.RawMessage(`{"head":{"type":"integer","default":5}}`))
	if diff := cmp.Diff(map[string]any{"head": 5.0}, catalog.BoundDefaults(bounds)); diff != "" {
		t.Errorf("BoundDefaults (-want +got):\n%s", diff)
	}
	if open, wrong := upstream(t, `{"type":"object"}`).Bounded(bounds); wrong != nil || !strings.Contains(string(open.JSON()), `"head"`) {
		t.Errorf("Bounded of an open schema = %s, %v", open.JSON(), wrong)
	}
}

// What nobody shows is nowhere in a shown schema, and what fits the whole schema fits what is shown of it.
func FuzzShown(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/x"}]}},"$defs":{"x":{"not":{}}}}`,
		`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}},"required":["a"]}`,
		`{"type":["object","null"],"items":[true],"additionalProperties":{"type":["string","integer"]},"patternProperties":{"a":true}}`,
		`{"allOf":[{"properties":{"a":{"const":1}}}],"additionalProperties":false,"properties":{"a":{"enum":[1,"x"]}}}`,
	} {
		f.Add(seed)
	}
	values := []any{
		map[string]any{}, map[string]any{"a": 1.0}, map[string]any{"a": "x"}, map[string]any{"a": nil, "b": true},
		map[string]any{"a": map[string]any{"a": []any{1.0}}, "b": []any{}},
	}
	f.Fuzz(func(t *testing.T, raw string) {
		s, err := catalog.CompileUpstream(json.RawMessage(raw))
		if err != nil {
			return
		}
		shown := s.Shown()
		v, err := ijson.Decode(shown.JSON())
		if err != nil {
			t.Fatalf("%s: %v", shown.JSON(), err)
		}
		root, _ := v.(map[string]any)
		if root["type"] != "object" {
			t.Fatalf("shown: %s", shown.JSON())
		}
		if bad := unshowable(root); bad != "" {
			t.Fatalf("%s is shown in %s", bad, shown.JSON())
		}
		if s.Compiles() != nil {
			return
		}
		if err := shown.Compiles(); err != nil {
			t.Fatalf("%s: %v", shown.JSON(), err)
		}
		for _, v := range values {
			if s.Check(v) == nil && shown.Check(v) != nil {
				t.Fatalf("%v fits %s, and not what is shown: %s (%v)", v, s.JSON(), shown.JSON(), shown.Check(v))
			}
		}
	})
}

// unshowable names a keyword of a schema that is not to be shown, at any depth.
func unshowable(v any) string {
	schema, ok := v.(map[string]any)
	if !ok {
		return "no object"
	}
	for name, value := range schema {
		switch name {
		case "type":
			if _, word := value.(string); !word {
				return "a list of types"
			}
		case "properties":
			for _, p := range value.(map[string]any) {
				if bad := unshowable(p); bad != "" {
					return bad
				}
			}
		case "items":
			if bad := unshowable(value); bad != "" {
				return bad
			}
		case "additionalProperties":
			if _, is := value.(bool); !is {
				if bad := unshowable(value); bad != "" {
					return bad
				}
			}
		default:
			if slices.Contains([]string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "definitions", "$schema"}, name) {
				return name
			}
		}
	}
	return ""
}
