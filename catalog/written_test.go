package catalog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
)

// faults words faults as POINTER reason, with ?NAME and a warning's sign.
func faults(list []catalog.SchemaFault) []string {
	var words []string
	for _, f := range list {
		text := string(f.Pointer) + " " + f.Reason
		if f.DidYouMean != "" {
			text += " ?" + f.DidYouMean
		}
		if f.Warning {
			text = "warning: " + text
		}
		words = append(words, text)
	}
	return words
}

func TestCompileArguments(t *testing.T) {
	tests := map[string]struct {
		text, want string
		defaults   map[string]any
	}{
		"nothing": {``, `{"type":"object","properties":{},"additionalProperties":false}`, map[string]any{}},
		"in the order of declaration": {
			`{"b":{"type":"string","pattern":"^A-[0-9]{4}$"},"a":{"type":"integer","default":5},"c":{"optional":true,"type":"boolean"}}`,
			`{"type":"object","properties":{"b":{"type":"string","pattern":"^A-[0-9]{4}$"},"a":{"type":"integer","default":5},"c":{"type":"boolean"}},"required":["b"],"additionalProperties":false}`,
			map[string]any{"a": 5.0}},
		"optional false is required": {`{"a":{"type":"string","optional":false}}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, map[string]any{}},
		"objects are closed at any depth": {
			`{"a":{"type":"array","items":{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"null"}},"required":["y"]}}}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"null"}},"required":["y"],"additionalProperties":false}},"additionalProperties":false}}},"required":["a"],"additionalProperties":false}`,
			map[string]any{}},
		"open ones stay open": {`{"a":{"type":"object","additionalProperties":{"type":"object","properties":{}}},"b":{"type":"object","additionalProperties":true}}`,
			`{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"object","properties":{},"additionalProperties":false}},"b":{"type":"object","additionalProperties":true}},"required":["a","b"],"additionalProperties":false}`,
			map[string]any{}},
		"a property named like a keyword": {`{"oneOf":{"type":"object","properties":{"$ref":{"type":"string"}},"additionalProperties":true}}`, "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, defaults, wrong := catalog.CompileArguments(json.RawMessage(tt.text))
			if tt.want == "" {
				if s != nil || !slices.ContainsFunc(wrong, func(f catalog.SchemaFault) bool { return strings.Contains(f.Reason, "name that clients") }) {
					t.Errorf("CompileArguments(%s) = %v, %v, want a fault about the name alone", tt.text, s.JSON(), wrong)
				}
				return
			}
			if wrong != nil {
				t.Fatalf("CompileArguments(%s): %v", tt.text, faults(wrong))
			}
			if got := string(s.JSON()); got != tt.want {
				t.Errorf("CompileArguments(%s) = %s, want %s", tt.text, got, tt.want)
			}
			if diff := cmp.Diff(tt.defaults, defaults); diff != "" {
				t.Errorf("defaults (-want +got):\n%s", diff)
			}
			if again, err := catalog.CompileSchema(s.JSON()); err != nil {
				t.Errorf("CompileSchema(%s) = %v, %v", s.JSON(), again, err)
			}
		})
	}
}

func TestCompileArgumentsRefuses(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"no object":             {`[]`, []string{" not an object"}},
		"no JSON":               {`{`, nil},
		"repeated":              {`{"a":{},"a":{}}`, nil},
		"no schema":             {`{"a":"string"}`, []string{"/a not a schema"}},
		"a boolean":             {`{"a":true}`, []string{"/a not a schema"}},
		"a name with a blank":   {`{"a b":{"type":"string"}}`, []string{"/a b a name that clients do not accept"}},
		"a keyword misspelt":    {`{"a":{"type":"string","minLenght":1}}`, []string{"/a/minLenght unknown keyword ?minLength"}},
		"title":                 {`{"a":{"type":"string","title":"A"}}`, []string{"/a/title unknown keyword"}},
		"below":                 {`{"a":{"type":"object","properties":{"b":{"typ":"string"}}}}`, []string{"/a/properties/b/typ unknown keyword ?type"}},
		"in items":              {`{"a":{"type":"array","items":{"enum":[]}}}`, []string{"/a/items/enum not a list of values"}},
		"in additional":         {`{"a":{"type":"object","additionalProperties":{"pattern":"("}}}`, []string{"/a/additionalProperties/pattern missing closing ): `(`"}},
		"branching":             {`{"a":{"oneOf":[],"anyOf":[],"allOf":[],"not":{},"if":{},"$ref":"#"}}`, []string{"/a/oneOf not allowed here", "/a/anyOf not allowed here", "/a/allOf not allowed here", "/a/not not allowed here", "/a/if not allowed here", "/a/$ref not allowed here"}},
		"several types":         {`{"a":{"type":["string","null"]}}`, []string{"/a/type not a type"}},
		"another type":          {`{"a":{"type":"strng"}}`, []string{"/a/type not a type ?string"}},
		"look-ahead":            {`{"a":{"type":"string","pattern":"(?=x)"}}`, []string{"/a/pattern invalid or unsupported Perl syntax: `(?=`"}},
		"a pattern of a number": {`{"a":{"type":"integer","pattern":"1"}}`, []string{"/a/pattern belongs to type string, but the type is integer"}},
		"minimum of a text":     {`{"a":{"type":"string","minimum":1}}`, []string{"/a/minimum belongs to type number or integer, but the type is string"}},
		"minimum above maximum": {`{"a":{"type":"number","minimum":2,"maximum":1.5}}`, []string{"/a/minimum allows no value below maximum 1.5"}},
		"lengths":               {`{"a":{"type":"string","minLength":2,"maxLength":1}}`, []string{"/a/minLength allows no value below maxLength 1"}},
		"nothing between":       {`{"a":{"type":"number","exclusiveMinimum":1,"maximum":1}}`, []string{"/a/exclusiveMinimum allows no value below maximum 1"}},
		"a length below zero":   {`{"a":{"type":"string","minLength":-1}}`, []string{"/a/minLength not a count"}},
		"half an item":          {`{"a":{"type":"array","maxItems":1.5}}`, []string{"/a/maxItems not a count"}},
		"a minimum of text":     {`{"a":{"type":"number","minimum":"1"}}`, []string{"/a/minimum not a number"}},
		"a multiple of nothing": {`{"a":{"type":"number","multipleOf":0}}`, []string{"/a/multipleOf not a number above 0"}},
		"enum twice":            {`{"a":{"type":"number","enum":[1,1.0]}}`, []string{"/a/enum/1 already in the list"}},
		"enum of another type":  {`{"a":{"type":"integer","enum":[1,"x"]}}`, []string{"/a/enum/1 not of type integer"}},
		"const of another type": {`{"a":{"type":"boolean","const":0}}`, []string{"/a/const not of type boolean"}},
		"default outside":       {`{"a":{"type":"integer","maximum":3,"default":4}}`, []string{"/a/default the default does not fit its own schema"}},
		"default inside out":    {`{"a":{"type":"object","properties":{"b":{"type":"string"}},"default":{"b":1}}}`, []string{"/a/default/b the default does not fit its own schema"}},
		"default of a format":   {`{"a":{"type":"string","format":"date","default":"today"}}`, []string{"/a/default the default does not fit its own schema"}},
		"optional with a word":  {`{"a":{"type":"string","optional":"yes"}}`, []string{"/a/optional not a boolean"}},
		"optional below":        {`{"a":{"type":"object","properties":{"b":{"type":"string","optional":true}}}}`, []string{"/a/properties/b/optional not allowed for a member of an object"}},
		"required misspelt":     {`{"a":{"type":"object","properties":{"count":{"type":"string"}},"required":["conut"]}}`, []string{"/a/required/0 no property of this name"}},
		"required near":         {`{"a":{"type":"object","properties":{"order_id":{"type":"string"}},"required":["ordr_id"]}}`, []string{"/a/required/0 no property of this name ?order_id"}},
		"required twice":        {`{"a":{"type":"object","properties":{"b":{}},"required":["b","b"]}}`, []string{"/a/required/1 not a name, or a name that is already in the list"}},
		"a description of five": {`{"a":{"description":5}}`, []string{"/a/description not a text"}},
		"null":                  {`{"a":{"type":null,"default":null,"items":null}}`, []string{"/a/type not a type", "/a/items not a schema"}},
		"all at once":           {`{"a":{"typ":1},"b":{"enum":3}}`, []string{"/a/typ unknown keyword ?type", "/b/enum not a list of values"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, defaults, wrong := catalog.CompileArguments(json.RawMessage(tt.text))
			if s != nil || defaults != nil || len(wrong) == 0 {
				t.Fatalf("CompileArguments(%s) = %s, %v, %v, want faults", tt.text, s.JSON(), defaults, wrong)
			}
			if diff := cmp.Diff(tt.want, faults(wrong)); tt.want != nil && diff != "" {
				t.Errorf("CompileArguments(%s) (-want +got):\n%s", tt.text, diff)
			}
			if bounds, same := catalog.CompileBounds(json.RawMessage(tt.text)); name != "a name with a blank" && (bounds != nil || cmp.Diff(faults(wrong), faults(same)) != "") {
				t.Errorf("CompileBounds(%s) = %v, %v, want the same faults", tt.text, bounds, faults(same))
			}
		})
	}
}

func TestCompileArgumentsBoundsWhatItReads(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 30) + `{}` + strings.Repeat(`}`, 30)
	var wide, wrong strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&wide, `"p%d":{},`, i)
		fmt.Fprintf(&wrong, `"p%d":1,`, i)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"deep":        {`{"a":` + deep + `}`, "too deep"},
		"wide":        {`{"a":{"properties":{` + strings.TrimSuffix(wide.String(), ",") + `}}}`, "too many schemas"},
		"large":       {`{"a":{"description":"` + strings.Repeat("x", 300<<10) + `"}}`, "bytes of schemas"},
		"many faults": {`{` + strings.TrimSuffix(wrong.String(), ",") + `}`, "not a schema"},
	} {
		s, _, list := catalog.CompileArguments(json.RawMessage(tt.text))
		if s != nil || len(list) == 0 || len(list) > 50 || !strings.Contains(list[0].Reason, tt.want) {
			t.Errorf("%s: CompileArguments gave a schema: %v, faults %.200q", name, s != nil, faults(list))
		}
	}
}

func TestCompileArgumentsWarns(t *testing.T) {
	s, _, wrong := catalog.CompileArguments(json.RawMessage(`{"a":{"type":"string","format":"hostname"},"b":{"type":"object"},"c":{"type":"string","format":"uuid4"}}`))
	want := []string{"warning: /a/format this format is shown and not checked", "warning: /b an object without properties takes no member",
		"warning: /c/format this format is shown and not checked ?uuid"}
	if diff := cmp.Diff(want, faults(wrong)); diff != "" || s == nil {
		t.Fatalf("CompileArguments: schema %v, (-want +got):\n%s", s, diff)
	}
	if got := s.Check(map[string]any{"a": "no host name!", "b": map[string]any{}, "c": "x"}); got != nil {
		t.Errorf("a format that is only shown is checked: %v", got)
	}
	if got := s.Check(map[string]any{"a": "", "b": map[string]any{"x": 1.0}, "c": "x"}); len(got) != 1 || got[0].Kind != catalog.MismatchUnknown {
		t.Errorf("Check = %v, want an unknown member", got)
	}
}

// Every format that a schema written here may name is checked.
func TestFormatsWrittenHereAreChecked(t *testing.T) {
	for format, pair := range map[string][2]string{
		"date": {"2026-11-22", "2026-13-01"}, "date-time": {"2026-11-22T09:00:00Z", "2026-11-22"}, "time": {"09:00:00Z", "9 o'clock"},
		"email": {"a@example.com", "a"}, "uri": {"https://example.com/x", "x"}, "uuid": {"123e4567-e89b-12d3-a456-426614174000", "123"},
		"ipv4": {"10.0.0.1", "10.0.0.256"}, "ipv6": {"::1", "10.0.0.1"},
	} {
		s, _, wrong := catalog.CompileArguments(json.RawMessage(`{"a":{"type":"string","format":"` + format + `"}}`))
		if wrong != nil {
			t.Fatalf("%s: %v", format, wrong)
		}
		if got := s.Check(map[string]any{"a": pair[0]}); got != nil {
			t.Errorf("%s: %q is refused: %v", format, pair[0], got)
		}
		if got := s.Check(map[string]any{"a": pair[1]}); len(got) != 1 || got[0].Kind != catalog.MismatchValue {
			t.Errorf("%s: Check(%q) = %v, want one value mismatch", format, pair[1], got)
		}
	}
}

func FuzzCompileArguments(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"type":"string","default":"x","optional":true}}`, `{"a":{"type":"object","properties":{"b":{"enum":[1]}},"required":["b"]}}`,
		`{"a":{"type":"array","items":{"type":"integer","minimum":1,"maximum":0}}}`, `{"a":{"pattern":"["}}`, `{"a":{"const":null,"format":"x"}}`,
		`{"a":{"additionalProperties":{"multipleOf":0.1}}}`, `{"":{}}`, `{"a":{"default":1e300,"exclusiveMinimum":1e300}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, defaults, wrong := catalog.CompileArguments(json.RawMessage(text))
		refused := slices.ContainsFunc(wrong, func(f catalog.SchemaFault) bool { return !f.Warning })
		if (s == nil) != refused || refused && defaults != nil {
			t.Fatalf("schema %v, defaults %v, faults %v", s != nil, defaults, wrong)
		}
		if s == nil {
			return
		}
		// What is taken compiles, is shown as it is, and takes its defaults.
		if _, err := catalog.CompileSchema(s.JSON()); err != nil {
			t.Fatalf("%s: %v", s.JSON(), err)
		}
		if wrong := s.Check(map[string]any(defaults)); slices.ContainsFunc(wrong, func(m catalog.Mismatch) bool { return m.Kind != catalog.MismatchMissing }) {
			t.Fatalf("%s does not take its defaults %v: %v", s.JSON(), defaults, wrong)
		}
	})
}
