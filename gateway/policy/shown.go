package policy

import (
	"maps"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/parser"

	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

// Limits of the values that are shown with a verdict.
const (
	maxShownValues = 16
	maxShownText   = 200 // bytes, of an expression and of a text value
	maxShownLeaves = 32  // leaves that are evaluated
	maxShownCost   = 10_000
)

// leaf is a part of an expression that is shown with its value.
type leaf struct {
	text  string
	term  *term
	whole bool // it is the whole expression; for a var, it equals the var
}

// shown returns the values that a rule read: of the names in it and of the vars that it reads. It leaves out expensive
// ones. It is the last step of a pass.
func (p *pass) shown(b *bound) map[string]any {
	values := map[string]any{}
	p.showing = true
	for i, l := range leavesOf(b.terms(), p.vars, p.judge.policy.source.Vars) {
		if i == maxShownLeaves {
			break
		}
		if v, ok := p.scalar(l.term); ok {
			values[l.text] = v
		}
		if len(values) == maxShownValues {
			break
		}
	}
	if len(values) == 0 {
		return nil
	}
	return values
}

// scalar computes a value to show. It returns false if there is no value, or if the value is not a single number, text,
// bool, time or duration.
func (v *view) scalar(t *term) (any, bool) {
	result := t.evalCheap(v, v.calls())
	if optional, ok := result.(*types.Optional); ok {
		if !optional.HasValue() {
			return nil, false
		}
		result = optional.GetValue()
	}
	switch result.(type) {
	case types.Bool, types.Int, types.Uint, types.Double, types.String, types.Timestamp, types.Duration:
	default:
		return nil, false
	}
	decoded, err := expr.Decode(result)
	if text, ok := decoded.(string); ok {
		decoded = ijson.Cut(text, maxShownText)
	}
	return decoded, err == nil
}

// leavesOf returns the leaves of terms and of the vars that they read, in the order of the texts, each once.
func leavesOf(terms, vars []*term, named []Named) []leaf {
	var all []leaf
	own := len(terms)
	for i := 0; i < len(terms); i++ {
		isVar := i >= own
		for _, l := range terms[i].leaves() {
			if !(isVar && l.whole) && !slices.ContainsFunc(all, func(o leaf) bool { return o.text == l.text }) {
				all = append(all, l)
			}
		}
		for at, v := range named {
			if at < len(vars) && vars[at] != nil && terms[i].reads.reads("vars", v.Name) && !slices.Contains(terms, vars[at]) {
				terms = append(terms, vars[at])
			}
		}
	}
	return all
}

// findLeaves finds the parts of a term that are worth showing.
func (t *term) findLeaves(lists map[string]bool) []leaf {
	var all []leaf
	t.eachLeaf(t.checked.AST.Expr(), nil, func(e ast.Expr) {
		text, err := parser.Unparse(e, t.checked.AST.SourceInfo())
		if err != nil || text == "" {
			return
		}
		all = append(all, leaf{ijson.Cut(text, maxShownText), newTerm(t.checked.Part(e), reads{}, lists), e == t.checked.AST.Expr()})
	})
	return all
}

// eachLeaf visits the names that an expression reads and the values of its macros. own are the macros' variables.
func (t *term) eachLeaf(e ast.Expr, own map[string]bool, visit func(ast.Expr)) {
	if named(e) {
		if of := rootOf(e); !own[of] && slices.Contains(variableNames, of) {
			visit(e)
		}
		return
	}
	if t.comesTo(e) && !uses(e, own) {
		visit(e)
	}
	if e.Kind() == ast.ComprehensionKind {
		c := e.AsComprehension()
		own = maps.Clone(own)
		if own == nil {
			own = map[string]bool{}
		}
		own[c.AccuVar()], own[c.IterVar()], own[c.IterVar2()] = true, true, true
	}
	for _, child := range expr.Children(e) {
		t.eachLeaf(child, own, visit)
	}
}

// comesTo reports whether an expression is one value of a macro: a macro with a single value, or a function of one.
func (t *term) comesTo(e ast.Expr) bool {
	switch e.Kind() {
	case ast.ComprehensionKind:
	case ast.CallKind:
		call := e.AsCall()
		if _, isOperator := operators.FindReverse(call.FunctionName()); isOperator || len(call.Args()) == 0 || call.Args()[0].Kind() != ast.ComprehensionKind {
			return false
		}
	default:
		return false
	}
	is := t.checked.AST.GetType(e.ID())
	return is != nil && slices.Contains([]types.Kind{types.BoolKind, types.IntKind, types.DoubleKind, types.StringKind, types.TimestampKind}, is.Kind())
}

// named reports whether an expression is a path of names: a.b, has(a.b), a.?b, a["b"].
func named(e ast.Expr) bool {
	if e.Kind() == ast.IdentKind {
		return true
	}
	operand, _, ok := memberOf(e)
	return ok && named(operand)
}

// rootOf returns the variable at the start of a path of names.
func rootOf(e ast.Expr) string {
	for e.Kind() != ast.IdentKind {
		e, _, _ = memberOf(e)
	}
	return root(e.AsIdent())
}

// uses reports whether an expression reads one of these variables.
func uses(e ast.Expr, own map[string]bool) bool {
	return e.Kind() == ast.IdentKind && own[e.AsIdent()] || slices.ContainsFunc(expr.Children(e), func(child ast.Expr) bool { return uses(child, own) })
}
