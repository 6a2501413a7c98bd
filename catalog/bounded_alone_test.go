package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patterngate/catalog"
)

// costly is a pattern larger than all those of a server may be together.
var costly = strings.Repeat("[a-z]{1000}", 30)

func boundedBy(t testing.TB, whole *catalog.Schema, text string) *catalog.Schema {
	t.Helper()
	bounds, wrong := catalog.CompileBounds(json.RawMessage(text))
	if bounds == nil {
		t.Fatal(faults(wrong))
	}
	narrow, wrong := whole.Shown().Closed(whole).Bounded(bounds)
	if wrong != nil {
		t.Fatal(faults(wrong))
	}
	return narrow
}

// A bound's pattern is never left to the server, whatever else there is to judge: neither the server's patterns nor the owner's
// other ones use it up.
func TestBoundIsNeverLeftOut(t *testing.T) {
	properties, others := []string{`"path":{"type":"string"}`}, []string{`"path":{"pattern":"^/srv/"}`}
	for i := range 7 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string","pattern":%q}`, i, costly))
		others = append(others, fmt.Sprintf(`"p%d":{"pattern":"^(?:%s)?$","optional":true}`, i, strings.Repeat("[a-z]{1000}", 5)))
	}
	whole := `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`
	for name, bound := range map[string]string{"costly patterns of the server": `{"path":{"pattern":"^/srv/"}}`, "and of the owner": `{` + strings.Join(others, ",") + `}`} {
		t.Run(name, func(t *testing.T) {
			input := boundedBy(t, upstream(t, whole), bound)
			if got := input.Check(map[string]any{"path": "/etc/passwd"}); len(got) != 1 || got[0].Want != "a text that matches ^/srv/" {
				t.Errorf("Check of what is outside the bound = %v", got)
			}
			if got := input.Check(map[string]any{"path": "/srv/a"}); got != nil {
				t.Errorf("Check of what is within = %v", got)
			}
			bounds, _ := catalog.CompileBounds(json.RawMessage(bound))
			open, _ := upstream(t, whole).Shown().Bounded(bounds)
			if strings.Contains(name, "owner") {
				return // these patterns take long to compile
			}
			for less, s := range map[string]*catalog.Schema{"without another": input.Without("p0"), "closed": open.Closed(upstream(t, whole))} {
				if got := s.Check(map[string]any{"path": "/etc/passwd"}); len(got) != 1 || got[0].Pointer != "/path" {
					t.Errorf("Check of %s = %v", less, got)
				}
			}
		})
	}
}

// How long a bound's patterns may take is bounded all the same, and what takes longer does not fit.
func TestBoundIsJudgedInReasonableTime(t *testing.T) {
	input := boundedBy(t, upstream(t, `{"type":"object","properties":{"p":{"type":"string"}}}`), `{"p":{"pattern":"^(?:`+strings.Repeat("[a-z]{1000}", 5)+`)*$"}}`)
	got := input.Check(map[string]any{"p": strings.Repeat("a", 60_000)})
	if len(got) != 1 || got[0].Want != "a value that can be checked in reasonable time" {
		t.Errorf("Check = %v", got)
	}
}

// A format that is only shown is checked nowhere in a bound, and each of the others is.
func TestFormatsInBounds(t *testing.T) {
	whole := upstream(t, `{"type":"object","properties":{"a":{"type":"string"},"l":{"type":"array"},"o":{"type":"object"}}}`)
	for _, format := range []string{"regex", "hostname", "duration", "json-pointer", "iri", "semver", "nonsense"} {
		f := `{"type":"string","format":"` + format + `"}`
		text := `{"a":` + f + `,"l":{"type":"array","items":` + f + `},"o":{"type":"object","properties":{"format":` + f + `},"additionalProperties":` + f + `}}`
		args := map[string]any{"a": "a[ b", "l": []any{"a[ b"}, "o": map[string]any{"format": "a[ b", "x": "a[ b"}}
		bounds, wrong := catalog.CompileBounds(json.RawMessage(text))
		if bounds == nil || len(wrong) != 4 || !wrong[0].Warning {
			t.Errorf("%s: CompileBounds = %v", format, faults(wrong))
		}
		if got := boundedBy(t, whole, text).Check(args); got != nil {
			t.Errorf("%s is only shown in a bound, and checked: %v", format, got)
		}
		s, _, _ := catalog.CompileArguments(json.RawMessage(text))
		if got := s.Check(args); got != nil {
			t.Errorf("%s is only shown, and checked: %v", format, got)
		}
	}
	if got := boundedBy(t, whole, `{"a":{"format":"ipv4"}}`).Check(map[string]any{"a": "x"}); len(got) != 1 || got[0].Want != "format ipv4" {
		t.Errorf("Check of no ipv4 = %v", got)
	}
	own := upstream(t, `{"type":"object","properties":{"h":{"type":"string","format":"hostname"},"a":{"type":"string"}}}`)
	if got := boundedBy(t, own, `{"a":{"maxLength":5}}`).Check(map[string]any{"a": "x", "h": "a[ b"}); len(got) != 1 || got[0].Pointer != "/h" {
		t.Errorf("a format of the server's = %v, want /h refused", got)
	}
}

// A server that says nothing of its tool's arguments, as its schema is {"type":"object"}: nothing is permitted by silence, and a
// bound says what is. Where it says that there are none, a bound is a fault, in words that end.
func TestBoundOfNoArguments(t *testing.T) {
	for raw, silent := range map[string]bool{
		"": true, `{"type":"object"}`: true, `{"type":"object","properties":{}}`: false, `{"type":"object","additionalProperties":false}`: false,
	} {
		whole := upstream(t, raw)
		bounds, _ := catalog.CompileBounds(json.RawMessage(`{"path":{"type":"string","pattern":"^/srv/"}}`))
		narrow, wrong := whole.Shown().Closed(whole).Bounded(bounds)
		if !silent {
			if narrow != nil || len(wrong) != 1 || wrong[0].Reason != "no such argument" || wrong[0].Want != "no bound: the tool takes no arguments" {
				t.Errorf("%s: Bounded = %+v", raw, wrong)
			}
			continue
		}
		if wrong != nil {
			t.Errorf("%s: Bounded = %v", raw, faults(wrong))
			continue
		}
		tool := catalog.Tool{Input: narrow, Also: []*catalog.Schema{whole}}
		if got := tool.Check(map[string]any{"path": "/srv/a"}); got != nil {
			t.Errorf("%s: what is bounded is refused: %v", raw, got)
		}
		for _, args := range []map[string]any{{"path": "/etc"}, {"path": "/srv/a", "other": "x"}, nil} {
			if got := tool.Check(args); len(got) != 1 {
				t.Errorf("%s: Check(%v) = %v, want one mismatch", raw, args, got)
			}
		}
	}
}
