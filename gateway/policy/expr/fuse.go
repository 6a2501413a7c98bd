package expr

import (
	"maps"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// fused returns the expression with sums over macros rewritten. The sum is added up in one loop, and no list is made only to be
// summed:
//
//	sum(list.filter(e, p).map(e, x))  ──►  one loop over list that adds x where p
//
// The value is the same, and the same inputs fail. It does not change the expression that it is given.
func fused(checked *ast.AST) *ast.AST {
	f := &fuser{made: ast.NewExprFactory(), from: checked, next: ast.MaxID(checked)}
	root := f.expr(checked.Expr())
	if !f.changed {
		return checked
	}
	return ast.NewCheckedAST(ast.NewAST(root, checked.SourceInfo()), f.types, f.references)
}

// fuser makes a changed copy of one expression.
type fuser struct {
	made       ast.ExprFactory
	from       *ast.AST
	next       int64
	changed    bool
	types      map[int64]*types.Type
	references map[int64]*ast.ReferenceInfo
}

// expr returns a copy of an expression with its sums rewritten.
func (f *fuser) expr(e ast.Expr) ast.Expr {
	copied := f.made.CopyExpr(e)
	ast.PostOrderVisit(copied, ast.NewExprVisitor(func(e ast.Expr) {
		if loop, ok := f.sum(e); ok {
			e.SetKindCase(loop)
		}
	}))
	return copied
}

// sum returns the loop for a sum over macros; false if the expression is not one.
func (f *fuser) sum(e ast.Expr) (ast.Expr, bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "sum" || len(e.AsCall().Args()) != 1 {
		return nil, false
	}
	zero, add, ok := f.adds(e)
	if !ok {
		return nil, false
	}
	over, ok := mapped(e.AsCall().Args()[0])
	if !ok || over.item == nil || f.from.GetType(over.item.ID()).Kind() != zero.Type().(*types.Type).Kind() {
		return nil, false
	}
	if before, ok := mapped(over.list); ok && before.item == nil && before.each == over.each && over.when == nil {
		over.list, over.when = before.list, before.when
	}
	if t := f.from.GetType(over.list.ID()); t == nil || t.Kind() != types.ListKind {
		return nil, false
	}
	f.start()
	delete(f.references, e.ID()) // it is no call any more
	accu := func() ast.Expr { return f.typed(f.made.NewAccuIdent(f.id()), zero) }
	step := f.typed(f.made.NewCall(f.id(), operators.Add, accu(), over.item), zero)
	f.references[step.ID()] = ast.NewFunctionReference(add)
	if over.when != nil {
		step = f.typed(f.made.NewCall(f.id(), operators.Conditional, over.when, step, accu()), zero)
		f.references[step.ID()] = ast.NewFunctionReference(overloads.Conditional)
	}
	first := f.typed(f.made.NewLiteral(f.id(), zero), zero)
	always := f.typed(f.made.NewLiteral(f.id(), types.True), types.True)
	return f.made.NewComprehension(e.ID(), over.list, over.each, f.made.AccuIdentName(), first, always, step, accu()), true
}

// adds returns the first value of a sum and the overload that adds to it.
func (f *fuser) adds(e ast.Expr) (zero ref.Val, add string, ok bool) {
	form := f.from.ReferenceMap()[e.ID()]
	if form == nil || len(form.OverloadIDs) != 1 {
		return nil, "", false
	}
	switch form.OverloadIDs[0] {
	case sumInts:
		return types.IntZero, overloads.AddInt64, true
	case sumDoubles:
		return types.Double(0), overloads.AddDouble, true
	}
	return nil, "", false
}

// start prepares the types and references of the copy when the first part changes.
func (f *fuser) start() {
	if !f.changed {
		f.changed, f.types, f.references = true, maps.Clone(f.from.TypeMap()), maps.Clone(f.from.ReferenceMap())
	}
}

func (f *fuser) id() int64 { f.next++; return f.next }

// typed records the type of a new part.
func (f *fuser) typed(e ast.Expr, like ref.Val) ast.Expr {
	f.types[e.ID()] = like.Type().(*types.Type)
	if e.Kind() == ast.IdentKind {
		f.references[e.ID()] = ast.NewIdentReference(e.AsIdent(), nil)
	}
	return e
}

// loop is a filter or map macro: from the items of list for which when is true, it takes item. A nil when is true for all; a
// nil item is the item of the list itself.
type loop struct {
	list, when, item ast.Expr
	each             string
}

// mapped reads a comprehension as the macro that it was expanded from; false if it is another one.
func mapped(e ast.Expr) (loop, bool) {
	if e.Kind() != ast.ComprehensionKind {
		return loop{}, false
	}
	c := e.AsComprehension()
	isAccu := func(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == c.AccuVar() }
	condition, literal := Literal(c.LoopCondition())
	if c.HasIterVar2() || !isAccu(c.Result()) || c.AccuInit().Kind() != ast.ListKind || c.AccuInit().AsList().Size() != 0 || !literal || condition != types.True {
		return loop{}, false
	}
	made, step := loop{list: c.IterRange(), each: c.IterVar()}, c.LoopStep()
	if step.Kind() == ast.CallKind && step.AsCall().FunctionName() == operators.Conditional && isAccu(step.AsCall().Args()[2]) {
		made.when, step = step.AsCall().Args()[0], step.AsCall().Args()[1]
	}
	if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Add {
		return loop{}, false
	}
	sides := step.AsCall().Args()
	if !isAccu(sides[0]) || sides[1].Kind() != ast.ListKind {
		return loop{}, false
	}
	if l := sides[1].AsList(); l.Size() == 1 && len(l.OptionalIndices()) == 0 {
		made.item = l.Elements()[0]
	} else {
		return loop{}, false
	}
	if made.when != nil && made.item.Kind() == ast.IdentKind && made.item.AsIdent() == made.each {
		made.item = nil
	}
	return made, true
}
