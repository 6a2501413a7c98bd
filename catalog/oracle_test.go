package catalog_test

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/ijson"
)

// rounds is how many random cases an oracle tries: some each time, more where nobody waits.
func rounds() int {
	if os.Getenv("CI") == "true" {
		return 40_000
	}
	return 2_000
}

// written is a random schema of the language that a configuration is written in.
type written = map[string]any

var (
	oracleTexts    = []string{"", "a", "ab", "A-1", "A-12", "ß", "日本語", "😀", "true", "1"}
	oraclePatterns = []string{"^A-[0-9]+$", "b", "^$", "^.{2}$", "^[a-z]*$"}
	oracleNumbers  = []float64{0, 1, -1, 2, 3, 0.5, 0.1, 0.3, 1.5, -0.5, 1e22, 9007199254740991, 9007199254740992, -9007199254740992, 1e-7, 100}
	oracleNames    = []string{"a", "b", "c-d", "e.f"}
)

func oneOf[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// schema draws a schema of a type, with some keywords that judge values of it.
func schema(r *rand.Rand, kind string, depth int) written {
	s := written{"type": kind}
	some := func(name string, v func() any) {
		if r.IntN(4) == 0 {
			s[name] = v()
		}
	}
	if r.IntN(6) == 0 {
		s["enum"] = distinct(r, s, depth)
	} else if r.IntN(10) == 0 {
		s["const"] = writable(r, written{"type": kind}, depth)
	}
	switch kind {
	case "integer", "number":
		some("minimum", func() any { return oneOf(r, oracleNumbers[:7]) })
		some("maximum", func() any { return oneOf(r, oracleNumbers[:7]) })
		some("exclusiveMinimum", func() any { return oneOf(r, oracleNumbers[:7]) })
		some("exclusiveMaximum", func() any { return oneOf(r, oracleNumbers[:7]) })
		some("multipleOf", func() any { return oneOf(r, []float64{1, 2, 0.5, 0.1, 3}) })
	case "string":
		some("minLength", func() any { return float64(r.IntN(3)) })
		some("maxLength", func() any { return float64(r.IntN(4)) })
		some("pattern", func() any { return oneOf(r, oraclePatterns) })
	case "array":
		some("minItems", func() any { return float64(r.IntN(2)) })
		some("maxItems", func() any { return float64(r.IntN(4)) })
		some("uniqueItems", func() any { return r.IntN(3) > 0 })
		if depth > 0 {
			s["items"] = schema(r, oneOf(r, oracleKinds), depth-1)
		}
	case "object":
		names := oracleNames[:r.IntN(len(oracleNames)+1)]
		properties, required := map[string]any{}, []any{}
		for _, name := range names {
			k := oneOf(r, oracleKinds)
			if depth <= 0 {
				k = oneOf(r, oracleKinds[:4])
			}
			properties[name] = schema(r, k, depth-1)
			if r.IntN(2) == 0 {
				required = append(required, name)
			}
		}
		s["properties"], s["required"] = properties, required
		switch r.IntN(4) {
		case 0:
			s["additionalProperties"] = true
		case 1:
			s["additionalProperties"] = false
		case 2:
			s["additionalProperties"] = schema(r, oneOf(r, oracleKinds[:4]), 0)
		}
	}
	return s
}

var oracleKinds = []string{"integer", "number", "string", "boolean", "array", "object"}

// distinct are one to three values of a schema's type.
func distinct(r *rand.Rand, s written, depth int) []any {
	var values []any
	for range 1 + r.IntN(3) {
		if v := writable(r, s, depth); !slices.ContainsFunc(values, func(w any) bool { return same(v, w) }) {
			values = append(values, v)
		}
	}
	return values
}

// writable is a likely value that a configuration can hold: its whole numbers are exact.
func writable(r *rand.Rand, s written, depth int) any {
	for {
		v := likely(r, s, depth)
		text, _ := json.Marshal(v)
		if _, err := ijson.Decode(text); err == nil && len(wrongs(written{"type": s["type"]}, v)) == 0 {
			return v
		}
	}
}

// likely draws a value that often fits.
func likely(r *rand.Rand, s written, depth int) any {
	if list, ok := s["enum"].([]any); ok && r.IntN(4) > 0 {
		return oneOf(r, list)
	}
	if v, ok := s["const"]; ok && r.IntN(4) > 0 {
		return v
	}
	switch kind := s["type"]; kind {
	case "integer":
		return math.Trunc(oneOf(r, oracleNumbers)) + 0 // never -0
	case "number":
		return oneOf(r, oracleNumbers)
	case "string":
		return oneOf(r, oracleTexts)
	case "boolean":
		return r.IntN(2) == 0
	case "array":
		list := []any{}
		items, _ := s["items"].(written)
		for range r.IntN(4) {
			if items == nil {
				list = append(list, anything(r, 0))
			} else {
				list = append(list, drawn(r, items, depth-1))
			}
		}
		return list
	}
	object := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range oracleNames {
		if p, ok := properties[name].(written); ok && (slices.Contains(required, any(name)) && r.IntN(12) > 0 || r.IntN(2) == 0) {
			object[name] = drawn(r, p, depth-1)
		}
	}
	if r.IntN(6) == 0 {
		object[oneOf(r, []string{"x", "y z", "a"})] = anything(r, 0)
	}
	return object
}

// drawn is a value for a schema, now and then of any type.
func drawn(r *rand.Rand, s written, depth int) any {
	if r.IntN(15) == 0 {
		return anything(r, 1)
	}
	return likely(r, s, depth)
}

func anything(r *rand.Rand, depth int) any {
	if r.IntN(8) == 0 {
		return nil
	}
	kinds := oracleKinds
	if depth <= 0 {
		kinds = kinds[:4]
	}
	return likely(r, written{"type": oneOf(r, kinds)}, depth-1)
}

// exact is the decimal that a number is written as.
func exact(f float64) *big.Rat {
	n, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return n
}

// same is equality of JSON values.
func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// wrongs are the kinds of everything that is wrong with a value, by spec/config.md section 4 alone.
func wrongs(s written, v any) map[catalog.MismatchKind]bool {
	found := map[catalog.MismatchKind]bool{}
	judge(s, v, found)
	return found
}

func judge(s written, v any, found map[catalog.MismatchKind]bool) {
	bad := func(is bool) {
		if is {
			found[catalog.MismatchValue] = true
		}
	}
	bound := func(name string) (float64, bool) { f, ok := s[name].(float64); return f, ok }
	kind := s["type"].(string)
	if kindOf(v) == kind || kind == "integer" && kindOf(v) == "whole" || kind == "number" && isNumber(v) {
		list, ok := s["enum"].([]any)
		outside := ok && !slices.ContainsFunc(list, func(w any) bool { return same(v, w) })
		if w, ok := s["const"]; outside || ok && !same(v, w) {
			bad(true) // says it all, whatever else is wrong inside
			return
		}
	}
	fits := false
	switch v := v.(type) {
	case float64:
		fits = kind == "number" || kind == "integer" && v == math.Trunc(v) && math.Abs(v) <= 1<<53-1
		if fits {
			n := exact(v)
			if f, ok := bound("minimum"); ok {
				bad(n.Cmp(exact(f)) < 0)
			}
			if f, ok := bound("maximum"); ok {
				bad(n.Cmp(exact(f)) > 0)
			}
			if f, ok := bound("exclusiveMinimum"); ok {
				bad(n.Cmp(exact(f)) <= 0)
			}
			if f, ok := bound("exclusiveMaximum"); ok {
				bad(n.Cmp(exact(f)) >= 0)
			}
			if f, ok := bound("multipleOf"); ok {
				bad(!new(big.Rat).Quo(n, exact(f)).IsInt())
			}
		}
	case string:
		if fits = kind == "string"; fits {
			long := float64(utf8.RuneCountInString(v))
			if f, ok := bound("minLength"); ok {
				bad(long < f)
			}
			if f, ok := bound("maxLength"); ok {
				bad(long > f)
			}
			if p, ok := s["pattern"].(string); ok {
				bad(!regexp.MustCompile(p).MatchString(v))
			}
		}
	case bool:
		fits = kind == "boolean"
	case []any:
		if fits = kind == "array"; fits {
			if f, ok := bound("minItems"); ok {
				bad(float64(len(v)) < f)
			}
			if f, ok := bound("maxItems"); ok {
				bad(float64(len(v)) > f)
			}
			for i, item := range v {
				if s["uniqueItems"] == true {
					bad(slices.ContainsFunc(v[:i], func(w any) bool { return same(item, w) }))
				}
				if items, ok := s["items"].(written); ok {
					judge(items, item, found)
				}
			}
		}
	case map[string]any:
		if fits = kind == "object"; fits {
			judgeMembers(s, v, found)
		}
	}
	if !fits {
		found[catalog.MismatchType] = true
	}
}

func isNumber(v any) bool { _, ok := v.(float64); return ok }

// kindOf is a value's JSON type; whole for a whole number, however large.
func kindOf(v any) string {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) {
			return "whole"
		}
		return "number"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}

func judgeMembers(s written, v map[string]any, found map[catalog.MismatchKind]bool) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			found[catalog.MismatchMissing] = true
		}
	}
	for name, member := range v {
		if p, ok := properties[name].(written); ok {
			judge(p, member, found)
			continue
		}
		switch more := s["additionalProperties"].(type) {
		case written:
			judge(more, member, found)
		case bool:
			if !more {
				found[catalog.MismatchUnknown] = true
			}
		default: // false unless given, where the members are named
			if properties != nil {
				found[catalog.MismatchUnknown] = true
			}
		}
	}
}

// first is the kind that is reported first, -1 where nothing is wrong.
func first(found map[catalog.MismatchKind]bool) catalog.MismatchKind {
	for k := catalog.MismatchUnknown; k <= catalog.MismatchValue; k++ {
		if found[k] {
			return k
		}
	}
	return -1
}

// argumentsOf draws `input`: some arguments, in order, some optional, some with a default; and the schema these amount to.
func argumentsOf(r *rand.Rand) (input map[string]any, amounts written, defaults map[string]any) {
	input, defaults = map[string]any{}, map[string]any{}
	properties, required := map[string]any{}, []any{}
	for _, name := range []string{"a", "b", "c"}[:1+r.IntN(3)] {
		s := schema(r, oneOf(r, oracleKinds), 2)
		properties[name] = s
		given := written{}
		for k, v := range s {
			given[k] = v
		}
		switch r.IntN(4) {
		case 0:
			given["optional"] = true
		case 1:
			if v := writable(r, s, 2); len(wrongs(s, v)) == 0 {
				given["default"], defaults[name] = v, v
				break
			}
			required = append(required, name)
		default:
			required = append(required, name)
		}
		input[name] = given
	}
	return input, written{"type": "object", "properties": properties, "required": required, "additionalProperties": false}, defaults
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
	if fitted < rounds()/2 || refused < rounds()/2 || empty > rounds()/2 {
		t.Errorf("%d fitted, %d were refused, %d schemas were fit by nothing: the draw is lopsided", fitted, refused, empty)
	}
}

// nothing holds that a schema was refused only because a keyword leaves no value.
func nothing(t *testing.T, faults []catalog.SchemaFault) {
	t.Helper()
	for _, f := range faults {
		if !f.Warning && !strings.Contains(f.Reason, "leaves nothing") {
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

func firstOf(got []catalog.Mismatch) catalog.MismatchKind {
	if len(got) == 0 {
		return -1
	}
	return got[0].Kind
}

// A server's tool is judged by its own schema, whole, and by the narrower bounds; what is fixed cannot be proposed.
func TestBoundsOracle(t *testing.T) {
	fitted, refused, empty := 0, 0, 0
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
		tool := catalog.Tool{Input: shown, Also: []*catalog.Schema{theirs}, Fixed: fixed}
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
	if fitted < rounds()/2 || refused < rounds()/2 || empty > rounds()/2 {
		t.Errorf("%d fitted, %d were refused, %d schemas were fit by nothing: the draw is lopsided", fitted, refused, empty)
	}
}
