package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"patterngate/gateway/policy/expr"
)

// doubled binds a list, or text, joined with itself n times over.
func doubled(of string, n int, then string) string {
	text := then
	for i := n; i > 0; i-- {
		text = fmt.Sprintf("cel.bind(a%d, a%d + a%d, %s)", i, i-1, i-1, text)
	}
	return "cel.bind(a0, " + of + ", " + text + ")"
}

// nested binds a list that holds another twice, n times over, and one that is equal.
func nested(n int, then string) string {
	text := then
	for i := n; i > 0; i-- {
		text = fmt.Sprintf("cel.bind(a%d, [a%d, a%d], %s)", i, i-1, i-1, text)
	}
	return "cel.bind(a0, [dyn(l[0])], " + text + ")"
}

func boundVariables() []expr.Variable {
	return []expr.Variable{
		{Name: "l", Type: expr.List(expr.Int())}, {Name: "n", Type: expr.Int()}, {Name: "s", Type: expr.String()}, {Name: "any", Type: expr.Dyn()},
		{Name: "m", Type: expr.Map(expr.Int())},
	}
}

func boundValues() map[string]any {
	many := make([]any, 20_000)
	for i := range many {
		many[i] = float64(i)
	}
	return map[string]any{"l": many, "n": 90_000.0, "s": strings.Repeat("a", 200_000), "any": many, "m": map[string]any{"a": 1.0}}
}

// TestBoundedCalls holds that no call takes long: what would errs before it is called. Unbounded each of these takes from seconds to
// hours, or all memory.
func TestBoundedCalls(t *testing.T) {
	for _, text := range []string{
		`l.distinct().size() > 0`, `any.distinct().size() > 0`, `lists.range(n).distinct().size() > 0`, `dyn(l).distinct().size() > 0`,
		`lists.range(5000).map(x, -x).sort()[0] < 0`, `l.sort()[0] == 0`, `l.sortBy(x, -x)[0] == 0`,
		`sets.contains(l, l)`, `sets.equivalent(l, l)`, `sets.intersects(l, l.map(x, -x - 1))`, `l.hasAny(l.map(x, -x - 1))`,
		doubled("[n]", 24, "sum(a24) > 0"), doubled("[n]", 24, "a24 == a24"), doubled("[n]", 24, "5 in a24"), doubled("[n]", 24, "a24.distinct().size() > 0"),
		doubled("[s]", 24, `a24.join("x").size() > 0`), doubled("[dyn(n)]", 24, "a24 != a24"), doubled("dyn([n])", 24, "a24 == a24"),
		doubled("[n]", 24, "a24.size() > 0"), doubled("[n]", 14, "a14.distinct().size() > 0"),
		nested(24, "a24 == [a23, a23]"), nested(24, "a24 in [[a23, a23]]"), nested(24, "[a24].distinct().size() > 0"), nested(24, "sets.contains([a24], [[a23, a23]])"),
		nested(24, "a24.flatten(24).size() > 0"), nested(24, "{'a': a24} == {'a': [a23, a23]}"), nested(24, "'%s'.format([a24]) == ''"), nested(24, "optional.of(a24) == optional.of([a23, a23])"),
		`[s, s].map(x, s).join(s.substring(1)).size() > 0`, `s.replace("a", s).size() > 0`, `s.indexOf(s.substring(100000) + "b") > 0`,
		`s.matches("^(a|b)*$")`, `!matches(s, "b")`, `s.matches(s)`,
	} {
		e, faults := expr.Compile(text, expr.Bool(), boundVariables()...)
		if e == nil {
			t.Errorf("%.100s: %v", text, faults)
			continue
		}
		if v, err := e.Eval(boundValues()); !errors.Is(err, expr.ErrEval) {
			t.Errorf("%.100s = %v, %v, want %v", text, v, err, expr.ErrEval)
		}
	}
}

// TestBoundedLoops holds that what is looked at costs what it holds.
func TestBoundedLoops(t *testing.T) {
	for _, text := range []string{
		`lists.range(1000).all(x, [l] == [l])`, `lists.range(1000).all(x, [l, l] != [l])`, `lists.range(1000).all(x, l in [l])`,
	} {
		e, faults := expr.Compile(text, expr.Bool(), boundVariables()...)
		if e == nil {
			t.Fatalf("%s: %v", text, faults)
		}
		if v, err := e.Eval(boundValues()); !errors.Is(err, expr.ErrCost) {
			t.Errorf("%s = %v, %v, want %v", text, v, err, expr.ErrCost)
		}
	}
}

// TestWithinBounds holds that what is not too much has its value.
func TestWithinBounds(t *testing.T) {
	values := boundValues()
	for _, text := range []string{
		`l.slice(0, 500).distinct().size() == 500`, `l == l && !(l != any.map(x, int(x)))`, `19999 in l && !(-1 in l)`, `(l + l).size() == 40000 && sum(l + l) > 0`,
		`lists.range(500).sort()[499] == 499`, `sets.contains(l.slice(0, 500), [1, 2])`, `l.map(x, "x").join(",").size() == 39999`, `s.replace("a", "b").size() == 200000`,
		`s.indexOf("b") == -1`, `"a" in m && m == {"a": 1}`, `s == s && [s] == [s]`, `[[1], [2, 3]].flatten() == [1, 2, 3]`, `"%d".format([n]) == "90000"`, `any == any`,
		`"a-b".replace("-", s.substring(0, 3)) == "aaaab"`, `["b", "a"].sortBy(x, x) == ["a", "b"]`, `any + [1.0] != any`, `[1, 2] + [3] == [1, 2, 3]`, `"ab" in ["ab", s]`,
		`dyn("a") + dyn("b") == "ab"`, `dyn(1) + dyn(2) == 3`, `optional.of(l) == optional.of(l)`, `dyn(m) == m && "a" in dyn(m)`,
		`s.substring(100000).matches("^a*$") && !"b".matches("a")`,
	} {
		e, faults := expr.Compile(text, expr.Bool(), boundVariables()...)
		if e == nil {
			t.Errorf("%s: %v", text, faults)
			continue
		}
		if v, err := e.Eval(values); v != true || err != nil {
			t.Errorf("%s = %v, %v", text, v, err)
		}
	}
}
