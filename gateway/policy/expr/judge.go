package expr

import (
	"regexp"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"

	"patterngate/catalog"
	"patterngate/ijson"
)

// judge finds what is wrong with an expression that passed the checker, using what only the schemas say. It returns errors
// before warnings.
func (w *wording) judge(want Type) []Fault {
	root := w.ast.Expr()
	var faults []Fault
	if f, bad := misfit(w.ast.GetType(root.ID()), want, w.text(root)); bad {
		f.Dyn = holdsDyn(w.ast.GetType(root.ID()))
		faults = append(faults, w.at(first(root), f))
	}
	if f, bad := noValue(root, want, notAmongValues); bad {
		faults = append(faults, w.at(root, f))
	}
	faults = append(faults, w.literals(root, w.types)...)
	w.reads(root, w.types, nil)
	return append(faults, w.warnings...)
}

// first returns the part whose text begins the text of an expression.
func first(e ast.Expr) ast.Expr {
	for {
		switch e.Kind() {
		case ast.SelectKind:
			e = e.AsSelect().Operand()
			continue
		case ast.ComprehensionKind:
			if over := e.AsComprehension().IterRange(); over.Kind() != ast.ListKind {
				e = over
				continue
			}
		case ast.CallKind:
			call := e.AsCall()
			_, isOperator := operators.FindReverseBinaryOperator(call.FunctionName())
			switch {
			case call.IsMemberFunction():
				e = call.Target()
				continue
			case isOperator, call.FunctionName() == operators.OptSelect, call.FunctionName() == operators.Index, call.FunctionName() == operators.Conditional:
				e = call.Args()[0]
				continue
			}
		}
		return e
	}
}

// literals finds literals that can never equal what they are compared with, and texts that are not a valid pattern or time.
func (w *wording) literals(e ast.Expr, known map[string]Type) []Fault {
	var faults []Fault
	inner := known
	switch e.Kind() {
	case ast.CallKind:
		faults = append(w.literalsOfCall(e, known), w.compared(e)...)
	case ast.ComprehensionKind:
		inner = w.within(e.AsComprehension(), known)
	case ast.StructKind:
		faults = append(faults, w.at(e, noMessages()))
	}
	for _, child := range Children(e) {
		faults = append(faults, w.literals(child, inner)...)
	}
	return faults
}

// noMessages is the fault of a protobuf message in a text.
func noMessages() Fault { return Fault{Reason: messagesUnsupported, Want: wantMap} }

// literalsOfCall is literals for one call, without its arguments.
func (w *wording) literalsOfCall(e ast.Expr, known map[string]Type) []Fault {
	call := e.AsCall()
	args := call.Args()
	switch name := call.FunctionName(); {
	case (name == operators.Equals || name == operators.NotEquals) && len(args) == 2:
		return append(w.outside(args[0], args[1], known), w.outside(args[1], args[0], known)...)
	case name == operators.In && len(args) == 2:
		return w.outsideList(args, known)
	case name == "sum" && len(args) == 1:
		return w.sumOfDyn(args[0])
	case name == overloads.Matches && len(args) > 0:
		return w.badText(args[len(args)-1], func(text string) string {
			if _, err := regexp.Compile(text); err != nil {
				return notRegexp(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			}
			return ""
		})
	case name == overloads.TypeConvertTimestamp && len(args) == 1:
		return w.badText(args[0], func(text string) string { return noTime(text, types.TimestampType, "2026-01-31T10:00:00Z") })
	case name == overloads.TypeConvertDuration && len(args) == 1:
		return w.badText(args[0], func(text string) string { return noTime(text, types.DurationType, "1h30m") })
	}
	return nil
}

// noTime returns why a text is not a time or duration, with one that is right; "" if it is one.
func noTime(text string, t *types.Type, right string) string {
	if types.IsError(types.String(text).ConvertToType(t)) {
		return notFormOf(celWords(t), right)
	}
	return ""
}

// badText checks a literal text: judge returns what is wrong with it, or "".
func (w *wording) badText(e ast.Expr, judge func(string) string) []Fault {
	v, ok := Literal(e)
	if !ok {
		return nil
	}
	text, ok := v.Value().(string)
	if !ok {
		return nil
	}
	if reason := judge(text); reason != "" {
		return []Fault{w.at(e, Fault{Reason: reason})}
	}
	return nil
}

// sumOfDyn refuses a sum over values that may be int or double.
func (w *wording) sumOfDyn(list ast.Expr) []Fault {
	t := w.ast.GetType(list.ID())
	if t.Kind() == types.ListKind && t.Parameters()[0].Kind() != types.DynKind {
		return nil
	}
	return []Fault{w.at(first(list), Fault{Reason: sumOfUnknown, Want: wantSumOfDoubles, Dyn: true})}
}

// outside is the fault of a literal that the other side of a comparison can never be.
func (w *wording) outside(literal, other ast.Expr, known map[string]Type) []Fault {
	if literal.Kind() != ast.LiteralKind {
		return nil
	}
	return w.outsideValues(literal, other, w.typeOf(other, known))
}

// outsideList is outside for the operator in.
func (w *wording) outsideList(args []ast.Expr, known map[string]Type) []Fault {
	var faults []Fault
	if args[1].Kind() == ast.ListKind {
		t := w.typeOf(args[0], known)
		for _, item := range args[1].AsList().Elements() {
			faults = append(faults, w.outsideValues(item, args[0], t)...)
		}
		return faults
	}
	if t := w.typeOf(args[1], known); t.kind == ListKind {
		return w.outsideValues(args[0], args[1], *t.item)
	}
	return nil
}

// outsideValues is the fault of a literal that is not among the values of t, the type of other.
func (w *wording) outsideValues(literal, other ast.Expr, t Type) []Fault {
	f, bad := noValue(literal, t, "")
	if !bad {
		return nil
	}
	f.Reason = neverIs(shorten(w.text(other)), f.Reason)
	return []Fault{w.at(literal, f)}
}

// noValue is the fault of a literal that is not among the values of a type. The reason is the literal, then says.
func noValue(literal ast.Expr, t Type, says string) (Fault, bool) {
	v, ok := Literal(literal)
	if !ok || t.values == nil {
		return Fault{}, false
	}
	got, err := Decode(v)
	if err != nil || got == nil {
		return Fault{}, false
	}
	var texts, names []string
	for _, value := range t.values {
		if ijson.Equal(value, got) {
			return Fault{}, false
		}
		texts = append(texts, ijson.Cut(string(ijson.Canonical(value)), maxShown))
		if name, isText := value.(string); isText {
			names = append(names, name)
		}
	}
	f := UnknownName(ijson.Cut(string(ijson.Canonical(got)), maxShown)+says, "", texts)
	if name, isText := got.(string); isText {
		f.DidYouMean = catalog.NearTyped(name, names)
	}
	return f, true
}
