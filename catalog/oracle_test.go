package catalog_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog"
)

// rounds is how many random cases an oracle tries: some each time, more where nobody waits.
func rounds() int {
	if os.Getenv("CI") == "true" {
		return 3_000
	}
	return 500
}

// An own tool's arguments are judged as a plain reading of the grammar judges them.
func TestArgumentsOracle(t *testing.T) {
	fitted, refused, empty := 0, 0, 0
	for seed := range uint64(rounds()) {
		r := rand.New(rand.NewPCG(seed, 8))
		input, amounts, defaults := argumentsOf(r)
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		s, filled, faults := catalog.CompileArguments(text)
		if s == nil {
			empty++
			nothing(t, faults)
			continue
		}
		tool := catalog.Tool{Input: s, Defaults: filled}
		for range 4 {
			args := likely(r, amounts, 2).(map[string]any)
			whole := map[string]any{}
			for k, v := range defaults {
				whole[k] = v
			}
			for k, v := range args {
				whole[k] = v
			}
			got := tool.Check(tool.Filled(args))
			if w := first(wrongs(amounts, whole)); w != firstOf(got) {
				t.Errorf("seed %d: %s\n%v: got %v, want first %v", seed, text, args, got, w)
			} else if w == -1 {
				fitted++
			} else {
				refused++
			}
		}
	}
	drawnEvenly(t, fitted, refused, empty)
}

// nothing holds that a schema was refused only because a keyword leaves no value.
func nothing(t *testing.T, faults []catalog.SchemaFault) {
	t.Helper()
	for _, f := range faults {
		if !f.Warning && !strings.Contains(f.Reason, "allows no value") {
			t.Errorf("a schema is refused: %+v", f)
		}
	}
}

// opened is a schema as others write them: an object without additionalProperties takes any member.
func opened(s written) written {
	if items, ok := s["items"].(written); ok {
		opened(items)
	}
	properties, ok := s["properties"].(map[string]any)
	for _, p := range properties {
		opened(p.(written))
	}
	if _, given := s["additionalProperties"]; ok && !given {
		s["additionalProperties"] = true
	}
	return s
}

// withoutPatterns takes the patterns from a schema.
func withoutPatterns(s written) {
	delete(s, "pattern")
	for _, inner := range []any{s["items"], s["additionalProperties"]} {
		if inner, ok := inner.(written); ok {
			withoutPatterns(inner)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		withoutPatterns(p.(written))
	}
}

func firstOf(got []catalog.Mismatch) catalog.MismatchKind {
	if len(got) == 0 {
		return -1
	}
	return got[0].Kind
}

// A server's tool is judged by its own schema, whole, and by the narrower bounds; what is fixed cannot be proposed. A secret
// argument is whatever the server says; and a costly pattern of another argument makes no bound weaker.
func TestBoundsOracle(t *testing.T) {
	fitted, refused, empty, secret, heavy := 0, 0, 0, 0, 0
	for seed := range uint64(rounds()) {
		r := rand.New(rand.NewPCG(seed, 9))
		properties, bounds, both := map[string]any{}, map[string]any{}, map[string]any{}
		required, needed := []any{}, []any{}
		fixed := map[string]any{}
		for _, name := range []string{"a", "b", "c"} {
			kind := oneOf(r, oracleKinds[:5])
			theirs := opened(schema(r, kind, 1))
			properties[name] = theirs
			req := r.IntN(2) == 0
			if req {
				required = append(required, name)
			}
			if name == "c" && r.IntN(4) == 0 {
				secret++
				fixed[name] = catalog.Masked
				continue
			}
			if v := writable(r, theirs, 1); name == "c" && len(wrongs(theirs, v)) == 0 {
				fixed[name] = v
				continue
			}
			if both[name] = theirs; r.IntN(2) == 0 {
				bounds[name] = schema(r, kind, 1)
				req = true
			}
			if req {
				needed = append(needed, name)
			}
		}
		if r.IntN(10) == 0 { // beside it the server's other patterns are left to the server
			heavy++
			for _, name := range slices.Collect(maps.Keys(properties)) {
				withoutPatterns(properties[name].(written))
				properties["heavy_"+name] = written{"type": "string", "pattern": costly}
			}
		}
		closed := r.IntN(2) == 0
		upstream := written{"type": "object", "properties": properties, "required": required, "additionalProperties": !closed}
		raw, _ := json.Marshal(upstream)
		text, _ := json.Marshal(bounds)
		theirs, err := catalog.CompileUpstream(raw)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, raw, err)
		}
		shown := theirs.Shown()
		for name := range fixed {
			shown = shown.Without(name)
		}
		narrow, faults := catalog.CompileBounds(text)
		if narrow == nil && len(faults) > 0 {
			empty++
			nothing(t, faults)
			continue
		}
		if shown, faults = shown.Bounded(narrow); shown == nil {
			t.Fatalf("seed %d: %s over %s: %+v", seed, text, raw, faults)
		}
		whole := theirs
		if fixed["c"] == catalog.Masked {
			if whole = theirs.Without("c"); r.IntN(2) == 0 {
				whole = theirs.Hiding("c")
			}
		}
		tool := catalog.Tool{Input: shown, Also: []*catalog.Schema{whole}, Fixed: fixed}
		for range 4 {
			args := likely(r, written{"type": "object", "properties": both, "required": needed}, 1).(map[string]any)
			if r.IntN(10) == 0 {
				args["c"] = anything(r, 1)
			}
			found := map[catalog.MismatchKind]bool{}
			judge(written{"type": "object", "properties": both, "required": needed, "additionalProperties": !closed}, args, found)
			for name := range fixed {
				if _, ok := args[name]; ok {
					found[catalog.MismatchUnknown] = true
				}
			}
			for name, b := range bounds {
				if v, ok := args[name]; ok {
					judge(b.(written), v, found)
				}
			}
			got := tool.Check(args)
			if w := first(found); w != firstOf(got) {
				t.Errorf("seed %d: %s bound %s fix %v\n%v: got %v, want first %v", seed, raw, text, fixed, args, got, w)
			} else if w == -1 {
				fitted++
			} else {
				refused++
			}
		}
	}
	drawnEvenly(t, fitted, refused, empty)
	if secret < rounds()/10 || heavy < rounds()/20 {
		t.Errorf("%d secrets and %d costly patterns were drawn of %d: too few", secret, heavy, rounds())
	}
}

// drawnEvenly holds that what was drawn tried both answers.
func drawnEvenly(t *testing.T, fitted, refused, empty int) {
	t.Helper()
	if fitted < rounds()/2 || refused < rounds()/2 || empty > rounds()/2 {
		t.Errorf("%d fitted, %d were refused, %d schemas were fit by nothing: the draw is lopsided", fitted, refused, empty)
	}
}
