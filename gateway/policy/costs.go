package policy

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"patterngate/gateway/policy/expr"
)

// costs are a bound on the cost of an expression, from its text. The cost is at most units for each call that its
// macros visit, or for each combination of calls if macros are nested. The zero costs give no bound.
type costs struct {
	known bool
	units int
	loops int  // how deep macros over lists of calls are nested
	calls bool // its value is a list with at most as many items as there are calls
}

// within reports whether the cost stays below [expr.MaxCost] if lists of calls hold at most this many.
func (c costs) within(calls int) bool { return c.below(expr.MaxCost, calls) }

// below reports whether the cost stays below most if lists of calls hold at most this many.
func (c costs) below(most, calls int) bool {
	if !c.known {
		return false
	}
	total := c.units
	for range c.loops {
		if total *= max(1, calls); total > most/maxUnits {
			return false
		}
	}
	return total <= most/maxUnits
}

// maxUnits is the maximum cost of one part of an expression that [coster] knows.
const maxUnits = 10

// coster computes a bound on the cost of one expression. Its lists are the vars that are lists with at most as many
// items as there are calls.
type coster struct {
	ast   *ast.AST
	lists map[string]bool
	units int
	loops int
}

func costsOf(a *ast.AST, lists map[string]bool) costs {
	c := &coster{ast: a, lists: lists}
	known := c.bounded(a.Expr(), 0)
	return costs{known, c.units, c.loops, known && c.isCalls(a.Expr())}
}

// plain are the types whose values are compared and added at a fixed cost.
var plain = []types.Kind{types.BoolKind, types.IntKind, types.DoubleKind, types.TimestampKind, types.DurationKind, types.NullTypeKind}

// fixed are the functions whose cost is the same for all arguments of plain types.
var fixed = []string{
	operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional, operators.Less, operators.LessEquals, operators.Greater,
	operators.GreaterEquals, operators.Equals, operators.NotEquals, operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo,
	operators.Negate, operators.NotStrictlyFalse, "round", "math.@max", "math.@min", "double", "int", "orValue",
}

// bounded reports whether the size of an expression and the number of calls bound its cost. It adds the cost to c.
func (c *coster) bounded(e ast.Expr, depth int) bool {
	c.units++
	c.loops = max(c.loops, depth)
	switch e.Kind() {
	case ast.LiteralKind, ast.IdentKind:
		return true
	case ast.SelectKind:
		return c.bounded(e.AsSelect().Operand(), depth)
	case ast.ListKind:
		return !slices.ContainsFunc(e.AsList().Elements(), func(item ast.Expr) bool { return !c.bounded(item, depth) })
	case ast.CallKind:
		return c.boundedCall(e.AsCall(), depth)
	case ast.ComprehensionKind:
		loop := e.AsComprehension()
		if slices.Contains(variableNames, loop.IterVar()) { // the macro's variable hides a policy variable
			return false
		}
		if loop.HasIterVar2() || !c.isCalls(loop.IterRange()) || !c.bounded(loop.IterRange(), depth) {
			return false
		}
		for _, part := range []ast.Expr{loop.AccuInit(), loop.LoopCondition(), loop.LoopStep(), loop.Result()} {
			if !c.bounded(part, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

func (c *coster) boundedCall(call ast.CallExpr, depth int) bool {
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	switch name := call.FunctionName(); {
	case slices.ContainsFunc(args, func(arg ast.Expr) bool { return !c.bounded(arg, depth) }):
		return false
	case name == operators.OptSelect:
		return true
	case (name == "sum" || name == "size") && len(args) == 1:
		if c.isCalls(args[0]) {
			c.loops = max(c.loops, depth+1)
			return true
		}
		return false
	case name == operators.Conditional:
		return true // only one branch is evaluated
	case name == operators.Add && args[0].Kind() == ast.IdentKind && args[1].Kind() == ast.ListKind:
		return true // a macro adds an item to its result
	case !slices.Contains(fixed, name):
		return false
	case name == operators.Equals || name == operators.NotEquals:
		if c.is(args[0], types.StringKind) && shortText(args[1]) || c.is(args[1], types.StringKind) && shortText(args[0]) {
			return true
		}
	case name == "orValue":
		return c.isPlain(args[1])
	}
	return !slices.ContainsFunc(args, func(arg ast.Expr) bool { return !c.isPlain(arg) })
}

// maxPlainText is the maximum length in bytes of a text that is compared at a fixed cost.
const maxPlainText = 60

// shortText reports whether an expression is a literal text of at most maxPlainText bytes.
func shortText(e ast.Expr) bool {
	v, ok := expr.Literal(e)
	text, isText := types.String(""), false
	if ok {
		text, isText = v.(types.String)
	}
	return isText && len(text) <= maxPlainText
}

func (c *coster) is(e ast.Expr, k types.Kind) bool {
	t := c.ast.GetType(e.ID())
	return t != nil && t.Kind() == k
}

func (c *coster) isPlain(e ast.Expr) bool {
	t := c.ast.GetType(e.ID())
	return t != nil && slices.Contains(plain, t.Kind())
}

// isCalls reports whether an expression is a list with at most as many items as there are calls. These are run.effects,
// windows.NAME.effects, a var that is such a list, and the results of filter and map on such a list.
func (c *coster) isCalls(e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() || !named(e) {
			return false
		}
		switch of := rootOf(e); {
		case e.AsSelect().FieldName() == "effects" && of == "run" && e.AsSelect().Operand().Kind() == ast.IdentKind:
			return true
		case e.AsSelect().FieldName() == "effects" && of == "windows":
			return true
		case of == "vars" && e.AsSelect().Operand().Kind() == ast.IdentKind:
			return c.lists[e.AsSelect().FieldName()]
		}
	case ast.ComprehensionKind:
		loop := e.AsComprehension()
		return c.is(e, types.ListKind) && loop.AccuInit().Kind() == ast.ListKind && loop.AccuInit().AsList().Size() == 0 && c.isCalls(loop.IterRange()) && addsOne(loop.LoopStep())
	}
	return false
}

// addsOne reports whether an expression is a step of filter or map, which adds at most one item.
func addsOne(step ast.Expr) bool {
	if step.Kind() != ast.CallKind {
		return false
	}
	args := step.AsCall().Args()
	switch step.AsCall().FunctionName() {
	case operators.Conditional:
		return addsOne(args[1]) && args[2].Kind() == ast.IdentKind
	case operators.Add:
		return args[0].Kind() == ast.IdentKind && args[1].Kind() == ast.ListKind && args[1].AsList().Size() == 1
	}
	return false
}
