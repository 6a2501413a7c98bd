package catalog_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/ijson"
)

// TestCheckGiven: some members are judged as they are with all others, but that none of these is missing. What the quick check
// decides is what the compiled schema says; a keyword that the quick check does not know keeps it from deciding.
func TestCheckGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := rapid.Map(schemas(3), func(s map[string]any) any { return s })
		raw := map[string]any{"type": "object", "properties": rapid.MapOfN(names, root, 1, 4).Draw(t, "properties"), "required": []any{"a", "b"}}
		if rapid.Bool().Draw(t, "closed") {
			raw["additionalProperties"] = false
		}
		given := rapid.MapOfN(names, values(3), 0, 3).Draw(t, "given")
		if properties, fitted := raw["properties"].(map[string]any), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "fitted"); properties[fitted] != nil {
			given[fitted] = fitting(t, properties[fitted].(map[string]any))
		}
		declared := func(raw map[string]any) *catalog.Schema {
			s, err := catalog.CompileUpstream(ijson.Canonical(raw))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		quick := declared(raw)
		raw["minProperties"] = 0.0
		got, slow := quick.CheckGiven(given), declared(raw)
		if diff := cmp.Diff(slow.CheckGiven(given), got); diff != "" {
			t.Errorf("%s of %s (-slow +quick):\n%s", ijson.Canonical(given), ijson.Canonical(raw), diff)
		}
		want := slices.DeleteFunc(slow.Check(given), func(m catalog.Mismatch) bool {
			return m.Kind == catalog.MismatchMissing && len(m.Pointer.Tokens()) == 1
		})
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s of %s (-Check +CheckGiven):\n%s", ijson.Canonical(given), ijson.Canonical(raw), diff)
		}
	})
}
