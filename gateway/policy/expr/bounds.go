package expr

import (
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// The CEL library charges the cost of a function after the function returns, and one call can take minutes. So the arguments of
// functions whose time grows faster than their cost are checked first, by functions of ours that no text can name. Each returns its
// argument unchanged, or an error if the argument is too large.
const (
	wholeValue = "@whole" // each part of the value is visited once
	listItems  = "@items" // the same for a list; a map is searched by key and passes
	joined     = "@sum"   // a list made of two lists
	fewItems   = "@few"   // a list whose items are compared with each other
	wholeText  = "@text"  // a text that is searched, or that is written several times
	shortTexts = "@short" // a text to search for, or to insert
)

// Limits of these arguments.
const (
	maxParts = 100_000    // parts of a value; 100 bytes of a text count as one part
	maxFew   = 1000       // items that are compared with each other
	maxPairs = 10_000_000 // parts compared in such a list
	maxShort = 1000       // bytes of a short text
)

// boundFunctions declares these functions and their costs.
func boundFunctions() []cel.EnvOption {
	a := cel.TypeParamType("A")
	made := func(name string, bound func(ref.Val) ref.Val) cel.EnvOption {
		return cel.Function(name, cel.Overload(formOf(name), []*cel.Type{a}, a, cel.UnaryBinding(bound)))
	}
	counted := func(name string, parts func(ref.Val) int) cost.OverloadModel {
		return cost.Overload(formOf(name), cost.ManualCost(
			func(cost.Estimator, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
				return cost.NewCallEstimate(cost.RangedCostEstimate(1, maxParts+1), nil)
			},
			func(args []ref.Val, _ ref.Val) *uint64 {
				n := uint64(parts(args[0]))
				return &n
			}))
	}
	return []cel.EnvOption{
		made(wholeValue, bounding), made(listItems, items), made(joined, long), made(fewItems, few), made(wholeText, textOf(maxParts)), made(shortTexts, textOf(maxShort)),
		cel.CostModel(
			counted(wholeValue, func(v ref.Val) int { return partsOf(v, maxParts) }),
			counted(listItems, func(v ref.Val) int {
				if _, ok := v.(traits.Mapper); ok {
					return 1
				}
				return partsOf(v, maxParts)
			})),
	}
}

// formOf is the id of the one overload of such a function.
func formOf(name string) string { return name + "_any" }

// items checks the argument of listItems.
func items(v ref.Val) ref.Val {
	if _, ok := v.(traits.Mapper); ok {
		return v
	}
	return bounding(v)
}

// bounding checks the argument of wholeValue.
func bounding(v ref.Val) ref.Val {
	if partsOf(v, maxParts) > maxParts {
		return types.NewErr(tooManyValues, maxParts)
	}
	return v
}

// long checks a list that a sum of two lists made.
func long(v ref.Val) ref.Val {
	if list, ok := v.(traits.Lister); ok {
		if size, ok := list.Size().(types.Int); !ok || size > maxParts {
			return types.NewErr(tooManyItems, maxParts)
		}
	}
	return v
}

// few checks the argument of fewItems.
func few(v ref.Val) ref.Val {
	list, ok := v.(traits.Lister)
	if !ok {
		return v
	}
	size, ok := list.Size().(types.Int)
	if !ok || size > maxFew {
		return types.NewErr(tooManyCompared, maxFew)
	}
	if most := min(maxParts, maxPairs/max(1, int(size))); partsOf(v, most) > most {
		return types.NewErr(tooLargeCompared)
	}
	return v
}

// textOf checks a text against a number of bytes.
func textOf(most int) func(ref.Val) ref.Val {
	return func(v ref.Val) ref.Val {
		if text, ok := v.(types.String); ok && len(text) > most {
			return types.NewErr(textTooLong, most)
		}
		return v
	}
}

// partsOf counts the parts of a value and stops soon after most. A value that is contained twice counts twice.
func partsOf(v ref.Val, most int) int {
	switch v := v.(type) {
	case types.String:
		return 1 + len(v)/100
	case types.Bytes:
		return 1 + len(v)/100
	case traits.Lister:
		if size, ok := v.Size().(types.Int); !ok || int64(size) > int64(most) {
			return most + 1
		}
		return partsWithin(v.Iterator(), most, func(item ref.Val, left int) int { return partsOf(item, left) })
	case traits.Mapper:
		return partsWithin(v.Iterator(), most, func(key ref.Val, left int) int {
			n := partsOf(key, left)
			if value, there := v.Find(key); there && n <= left {
				n += partsOf(value, left-n)
			}
			return n
		})
	case *types.Optional:
		if v.HasValue() {
			return partsOf(v.GetValue(), most)
		}
	}
	return 1
}

// partsWithin adds up the parts of items until there are more than most.
func partsWithin(items traits.Iterator, most int, parts func(item ref.Val, left int) int) int {
	n := 1
	for n <= most && items.HasNext() == types.True {
		n += parts(items.Next(), most-n)
	}
	return n
}

// bounds tells how the arguments of a function are checked, the target of a member call first; "" is not checked.
var bounds = map[string][]string{
	operators.In: {"", listItems}, "flatten": {wholeValue}, "join": {wholeValue, shortTexts}, "format": {"", wholeValue},
	"distinct": {fewItems}, "sort": {fewItems}, "@sortByAssociatedKeys": {"", fewItems},
	"sets.contains": {fewItems, fewItems}, "sets.equivalent": {fewItems, fewItems}, "sets.intersects": {fewItems, fewItems},
	"hasOnly": {fewItems, fewItems}, "hasAny": {fewItems, fewItems}, "hasAll": {fewItems, fewItems}, "hasExactly": {fewItems, fewItems},
	operators.Equals: {wholeValue, wholeValue}, operators.NotEquals: {wholeValue, wholeValue},
	"replace": {wholeText, shortTexts, shortTexts}, "indexOf": {wholeText, shortTexts}, "lastIndexOf": {wholeText, shortTexts},
	"matches": {wholeText},
}

// bounded returns the expression with these checks where they are needed. It does not change the expression that it is given.
func bounded(checked *ast.AST) *ast.AST {
	b := &bounder{fuser{made: ast.NewExprFactory(), from: checked, next: ast.MaxID(checked)}}
	if !b.needed(checked.Expr()) {
		return checked
	}
	b.start()
	root := b.made.CopyExpr(checked.Expr())
	ast.PostOrderVisit(root, ast.NewExprVisitor(b.call))
	return ast.NewCheckedAST(ast.NewAST(root, checked.SourceInfo()), b.types, b.references)
}

// bounder puts the checks into one expression.
type bounder struct{ fuser }

// needed reports whether an expression holds a call that needs a check.
func (b *bounder) needed(e ast.Expr) bool {
	return len(b.looks(e)) > 0 || b.joins(e) || slices.ContainsFunc(Children(e), b.needed)
}

// looks returns the checks of a call's arguments, by their places; nil if the call needs none.
func (b *bounder) looks(e ast.Expr) []string {
	if e.Kind() != ast.CallKind {
		return nil
	}
	args, of := argsOf(e), bounds[e.AsCall().FunctionName()]
	looks, needed := make([]string, len(args)), 0
	for i, look := range of {
		if look != "" && i < len(args) && b.open(args[i], look) {
			looks[i] = look
			needed++
		}
	}
	if needed == 0 || needed == 1 && slices.Contains(together, e.AsCall().FunctionName()) {
		return nil
	}
	return looks
}

// together are functions that only take long if two of their arguments are long. Comparing two values ends with the smaller
// one.
var together = []string{operators.Equals, operators.NotEquals, "replace", "indexOf", "lastIndexOf"}

// argsOf returns the arguments of a call, the target of a member call first.
func argsOf(e ast.Expr) []ast.Expr {
	call := e.AsCall()
	if call.IsMemberFunction() {
		return append([]ast.Expr{call.Target()}, call.Args()...)
	}
	return call.Args()
}

// open reports whether the text does not bound the size of an argument.
func (b *bounder) open(e ast.Expr, look string) bool {
	if v, ok := Literal(e); ok {
		text, isText := v.(types.String)
		return isText && (look == shortTexts || look == wholeText) && len(text) > maxShown
	}
	if e.Kind() == ast.ListKind && !slices.ContainsFunc(e.AsList().Elements(), func(item ast.Expr) bool { return b.open(item, look) }) {
		return false
	}
	t := b.from.GetType(e.ID())
	if t == nil {
		return true
	}
	switch t.Kind() {
	case types.StringKind:
		return look == wholeText || look == shortTexts
	case types.MapKind:
		return look == wholeValue
	case types.BytesKind:
		return false
	case types.IntKind, types.UintKind, types.DoubleKind, types.BoolKind, types.TimestampKind, types.DurationKind, types.NullTypeKind, types.TypeKind:
		return false
	}
	return true
}

// joins reports a sum of two lists. The sum in which a macro adds an item to its result does not count: its cost is charged per
// item.
func (b *bounder) joins(e ast.Expr) bool {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Add || len(e.AsCall().Args()) != 2 {
		return false
	}
	if first := e.AsCall().Args()[0]; first.Kind() == ast.IdentKind && first.AsIdent() == b.made.AccuIdentName() {
		return false
	}
	t := b.from.GetType(e.ID())
	return t == nil || slices.Contains([]types.Kind{types.ListKind, types.DynKind, types.TypeParamKind}, t.Kind())
}

// call wraps the arguments of a call in their checks.
func (b *bounder) call(e ast.Expr) {
	looks := b.looks(e)
	if b.joins(e) {
		sum := b.made.NewCall(b.id(), operators.Add, e.AsCall().Args()...)
		b.like(sum, e)
		b.references[sum.ID()] = b.references[e.ID()]
		b.references[e.ID()] = ast.NewFunctionReference(formOf(joined))
		e.SetKindCase(b.made.NewCall(e.ID(), joined, sum))
		return
	}
	if len(looks) == 0 {
		return
	}
	args := slices.Clone(argsOf(e))
	for i, look := range looks {
		if look == "" {
			continue
		}
		seen := b.made.NewCall(b.id(), look, args[i])
		b.like(seen, args[i])
		b.references[seen.ID()] = ast.NewFunctionReference(formOf(look))
		args[i] = seen
	}
	name := e.AsCall().FunctionName()
	if e.AsCall().IsMemberFunction() {
		e.SetKindCase(b.made.NewMemberCall(e.ID(), name, args[0], args[1:]...))
		return
	}
	e.SetKindCase(b.made.NewCall(e.ID(), name, args...))
}

// like gives a part the type of another part.
func (b *bounder) like(e, other ast.Expr) {
	if t := b.types[other.ID()]; t != nil {
		b.types[e.ID()] = t
	}
}
