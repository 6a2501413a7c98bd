package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Servers in Rust and Go declare bounds of 64 bits: such a schema judges as far as numbers are exact.
func TestUpstreamBoundsOf64Bits(t *testing.T) {
	s := upstream(t, `{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":18446744073709551615},"id":{"enum":[9223372036854775807,"x"]}}}`)
	for text, want := range map[string]bool{`{"n":5}`: true, `{"n":-1}`: false, `{"n":1e16}`: false, `{"id":"x"}`: true, `{"id":"y"}`: false} {
		if got := fits(t, s, text); got != want {
			t.Errorf("%s fits: %v, want %v", text, got, want)
		}
	}
	if err := s.Shown().Compiles(); err != nil {
		t.Errorf("what is shown does not compile: %v", err)
	}
}

func fits(t *testing.T, s *catalog.Schema, text string) bool {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return len(s.Check(v)) == 0
}

// What is fixed is in no part of what is shown: not in an example of the whole, not in a count that it is part of.
func TestWithoutHidesWhollyWhatIsFixed(t *testing.T) {
	s := upstream(t, `{"type":"object","properties":{"q":{"type":"string"},"root":{"type":"string"}},"required":["q","root"],"minProperties":2,"maxProperties":2,
		"default":{"root":"/secret"},"examples":[{"q":"a","root":"/secret"}],"const":{"q":"a","root":"/secret"},"enum":[{"q":"a","root":"/secret"}]}`)
	less := s.Shown().Without("root")
	if strings.Contains(string(less.JSON()), "root") || strings.Contains(string(less.JSON()), "secret") {
		t.Errorf("what is shown names what is fixed: %s", less.JSON())
	}
	if wrong := less.Check(map[string]any{"q": "a"}); wrong != nil {
		t.Errorf("what fits together with what is fixed is refused: %v", wrong)
	}
}

// Many servers read the names of arguments without regard to case, and of two the last counts: another spelling of what is fixed
// or bounded is no way around it.
func TestOtherSpellingsAreUnknown(t *testing.T) {
	whole := upstream(t, `{"type":"object","properties":{"path":{"type":"string"},"root":{"type":"string"},"ask":{"type":"string"}},"required":["path","root"]}`)
	bounds, wrong := catalog.CompileBounds(json.RawMessage(`{"path":{"type":"string","pattern":"^/srv/"}}`))
	if wrong != nil {
		t.Fatal(faults(wrong))
	}
	input, wrong := whole.Shown().Without("root").Bounded(bounds)
	if wrong != nil {
		t.Fatal(faults(wrong))
	}
	tool := catalog.Tool{Name: "read", Effect: catalog.Read, Input: input, Also: []*catalog.Schema{whole}, Fixed: map[string]any{"root": "/srv"}}
	for _, name := range []string{"Root", "ROOT", "Path", "paTh", "as\u212a", "A\u017fk"} {
		args := map[string]any{"path": "/srv/a", name: "/etc/passwd"}
		want := []catalog.Mismatch{{Pointer: ijson.Pointer("").Member(name), Kind: catalog.MismatchUnknown, Want: "one of path, ask"}}
		if diff := cmp.Diff(want, tool.Check(args)); diff != "" {
			t.Errorf("Check with %q (-want +got):\n%s", name, diff)
		}
	}
	if wrong := tool.Check(map[string]any{"path": "/srv/a", "other": 1.0, "ask": "x"}); wrong != nil {
		t.Errorf("an open schema takes no other argument: %v", wrong)
	}
	both := catalog.Tool{Name: "both", Effect: catalog.Read, Input: upstream(t, `{"type":"object","properties":{"id":{},"ID":{}}}`)}
	if wrong := both.Check(map[string]any{"id": 1.0, "ID": 2.0}); wrong != nil {
		t.Errorf("two arguments that the server declares so: %v", wrong)
	}
}

// A name that is shown at many places counts at each.
func TestShownIsBoundedByNames(t *testing.T) {
	long := strings.Repeat("n", 50_000)
	var properties []string
	for i := range 1500 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d"}`, i))
	}
	s := upstream(t, `{"type":"object","properties":{`+strings.Join(properties, ",")+`},"$defs":{"d":{"type":"object","properties":{"`+long+`":{}},"additionalProperties":false}}}`)
	shown := s.Shown()
	if len(shown.JSON()) > 1<<20 {
		t.Errorf("%d bytes are shown of a schema of %d", len(shown.JSON()), len(s.JSON()))
	}
	args := map[string]any{}
	for i := range 1500 {
		args[fmt.Sprintf("p%d", i)] = map[string]any{long: true}
	}
	if wrong := shown.Check(args); s.Check(args) != nil || wrong != nil {
		t.Errorf("what fits the whole does not fit what is shown: %d faults", len(wrong))
	}
}
