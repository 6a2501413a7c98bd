package expr

import (
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// overload is the fault of a function or operator that does not take its arguments.
func (w *wording) overload(e ast.Expr) Fault {
	call := e.AsCall()
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	if f, ok := w.mixed(call.FunctionName(), args); ok {
		return f
	}
	given := make([]string, len(args))
	for i, arg := range args {
		given[i] = celWords(w.ast.GetType(arg.ID()))
	}
	f := Fault{}
	switch name, isOperator := operators.FindReverse(call.FunctionName()); {
	case !isOperator || name == "":
		f = w.function(call.FunctionName(), args, given)
	case len(given) == 2:
		f.Reason = doesNotGoWith(name, given[0], given[1])
		if x, y := w.text(args[0]), w.text(args[1]); x != "" && y != "" && given[0] != given[1] && given[0] != "null" && given[1] != "null" {
			f.Reason = typesOfTwo(f.Reason, shorten(x), given[0], shorten(y), given[1])
		}
		f.Want = w.otherType(call.FunctionName(), args)
	default:
		f.Reason = doesNotGoWithAll(name, strings.Join(given, ", "))
	}
	f.Dyn = slices.ContainsFunc(args, func(arg ast.Expr) bool { return holdsDyn(w.ast.GetType(arg.ID())) })
	return f
}

// holdsDyn reports whether a part of a type is not known.
func holdsDyn(t *types.Type) bool {
	return t == nil || t.Kind() == types.DynKind || t.Kind() == types.TypeParamKind || slices.ContainsFunc(t.Parameters(), holdsDyn)
}

// function is the fault of a function, with the arguments that it takes.
func (w *wording) function(name string, args []ast.Expr, given []string) Fault {
	f := Fault{Reason: functionDoesNotTake(symbol(name), strings.Join(given, ", "))}
	declared := w.scope.cel.Functions()[name]
	if declared == nil {
		return f
	}
	var forms []string
	for _, o := range declared.OverloadDecls() {
		var takes []string
		for i, t := range o.ArgTypes() {
			takes = append(takes, celWords(t))
			if f.Want == "" && len(o.ArgTypes()) == len(args) && t.Kind() == types.DoubleKind && given[i] == "int" {
				f.Want = asDouble(w.text(args[i]))
			}
		}
		forms = append(forms, "("+strings.Join(takes, ", ")+")")
	}
	const most = 3
	if len(forms) <= most {
		f.Reason += ", only " + strings.Join(forms, " or ")
	}
	return f
}

// symbol returns an operator as people write it, such as [].
func symbol(name string) string {
	switch name {
	case operators.Index, operators.OptIndex:
		return "[]"
	case operators.Conditional:
		return "? :"
	}
	return name
}

// mixed is the fault of an expression that mixes int and double. It suggests to convert the int, because the other way drops
// the fraction.
func (w *wording) mixed(function string, args []ast.Expr) (Fault, bool) {
	whole, fraction := w.firstOf(args, types.IntKind), w.firstOf(args, types.DoubleKind)
	if function == operators.In && len(args) == 2 {
		if list := w.ast.GetType(args[1].ID()); list.Kind() == types.ListKind {
			switch item := list.Parameters()[0].Kind(); {
			case whole != nil && item == types.DoubleKind:
				fraction = args[1]
			case fraction != nil && item == types.IntKind:
				return Fault{Reason: doubleInIntList(shorten(w.text(fraction))), Want: w.listOfDoubles(args[1])}, true
			}
		}
	}
	if whole == nil || fraction == nil || function == operators.Index {
		return Fault{}, false
	}
	f := Fault{Reason: intAndDouble(shorten(w.text(whole)), shorten(w.text(fraction)))}
	switch v, literal := Literal(fraction); {
	case whole.Kind() == ast.LiteralKind:
		f.Want = asDouble(w.text(whole))
	case literal && v == types.Double(int64(v.(types.Double))):
		f.Want = strconv.FormatInt(int64(v.(types.Double)), 10)
	case literal:
		f.Want = asDouble(w.text(whole))
	default:
		f.Want = asDouble(w.text(whole)) // never int(fraction): 50.99 would pass a limit of 50
	}
	return f, true
}

// listOfDoubles returns a list of ints rewritten as a list of doubles, so that a double can be searched in it.
func (w *wording) listOfDoubles(list ast.Expr) string {
	if list.Kind() == ast.ListKind && list.AsList().Size() > 0 {
		if item := list.AsList().Elements()[0]; item.Kind() == ast.LiteralKind {
			return asDouble(w.text(item))
		}
	}
	return wantDoubles(shorten(w.text(list)))
}

// firstOf returns the first expression whose type is of a kind; nil if there is none.
func (w *wording) firstOf(args []ast.Expr, k types.Kind) ast.Expr {
	for _, arg := range args {
		if t := w.ast.GetType(arg.ID()); t != nil && t.Kind() == k {
			return arg
		}
	}
	return nil
}

// asDouble returns the text of an int rewritten as a double: 1000.0, double(args.cents).
func asDouble(text string) string {
	if text != "" && strings.Trim(text, "-0123456789") == "" {
		return text + ".0"
	}
	return "double(" + shorten(text) + ")"
}
