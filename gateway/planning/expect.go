package planning

import (
	"maps"
	"regexp/syntax"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Bounds of a schema for a caller's result. The schema comes from outside, with the plan.
const (
	maxExpect       = 16 << 10 // bytes of its canonical form
	maxExpectWeight = 4_000    // values, and instructions of its patterns, each time that it refers to them
	maxPattern      = 256      // bytes of a pattern
	maxExpectWork   = 50 << 20 // weight times bytes of the value: patterns read them
	maxExpectChecks = 1 << 19  // weight times values in it: each may be checked, and be wrong, as often
)

// FitsExpect returns the problems of a result that does not fit the schema which a subtask expects. The pointers start at the
// value, and the reasons are empty. It returns nil if the value fits or if expect is nil. No value fits a schema that
// [ParseSubtasks] refuses.
func FitsExpect(expect, value any) []document.Problem {
	if expect == nil {
		return nil
	}
	schema, weight := compileExpect(expect)
	switch {
	case schema == nil:
		return []document.Problem{document.NewProblem("", "", value, expectNotSchema)}
	case weight*len(ijson.Canonical(value)) > maxExpectWork || weight*valuesIn(value) > maxExpectChecks:
		return []document.Problem{document.NewProblem("", "", value, smallerValue)}
	}
	var problems []document.Problem
	for _, w := range schema.Check(value) {
		got, there := w.Pointer.In(value)
		if !there {
			got = document.Missing
		}
		problems = append(problems, document.NewProblem("", w.Pointer, got, w.Want))
	}
	return document.CapProblems(problems)
}

// valuesIn counts a value and all values in it.
func valuesIn(v any) int {
	sum := 1
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			sum += valuesIn(element)
		}
	case map[string]any:
		for member := range maps.Values(v) { // in any order: the sum is the same
			sum += valuesIn(member)
		}
	}
	return sum
}

// compileExpect compiles a schema from outside. It returns nil if that is not a schema or exceeds the bounds. Its weight bounds the
// cost of checking a value.
func compileExpect(expect any) (_ *catalog.Schema, weight int) {
	text := ijson.Canonical(expect)
	if len(text) > maxExpect {
		return nil, 0
	}
	w := weigher{root: expect, known: map[string]int{}}
	if weight = w.weigh(expect, true); weight > maxExpectWeight {
		return nil, 0
	}
	schema, err := catalog.CompileSchema(text)
	if err != nil {
		return nil, 0
	}
	return schema, weight
}

// weigher sums up a schema with all that it refers to. So definitions that refer to each other several times cannot make a check
// endless. A schema can refer to its own parts by pointer, but not in a circle.
type weigher struct {
	root  any
	known map[string]int // by reference; while it is being weighed, a reference weighs too much
}

const tooHeavy = maxExpectWeight + 1

func (w weigher) weigh(v any, isRoot bool) int {
	sum := 1
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			sum = min(sum+w.weigh(element, false), tooHeavy)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			sum = min(sum+w.member(key, v[key], isRoot), tooHeavy)
		}
	}
	return sum
}

// member weighs a member, which can be a keyword.
func (w weigher) member(key string, v any, ofRoot bool) int {
	text, isText := v.(string)
	switch {
	case isText && key == "$ref":
		return w.reference(text)
	case isText && (key == "$dynamicRef" || key == "$recursiveRef" || key == "$id" && !ofRoot):
		return tooHeavy
	case isText && key == "pattern":
		return patternWeight(text)
	case key == "patternProperties":
		patterns, _ := v.(map[string]any)
		sum := w.weigh(v, false)
		for _, p := range slices.Sorted(maps.Keys(patterns)) {
			sum = min(sum+patternWeight(p), tooHeavy)
		}
		return sum
	}
	return w.weigh(v, false)
}

func (w weigher) reference(ref string) int {
	if weight, known := w.known[ref]; known {
		return weight
	}
	w.known[ref] = tooHeavy
	pointer, local := strings.CutPrefix(ref, "#")
	target, there := ijson.Pointer(pointer).In(w.root)
	if local && there && !strings.Contains(pointer, "%") {
		w.known[ref] = w.weigh(target, pointer == "")
	}
	return w.known[ref]
}

// patternWeight is the number of instructions of a pattern; a{1000} has a thousand.
func patternWeight(pattern string) int {
	if len(pattern) > maxPattern {
		return tooHeavy
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return tooHeavy
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return tooHeavy
	}
	return min(len(program.Inst), tooHeavy)
}
