package policy

import (
	"errors"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// view is what the expressions of one pass read. Each part is made at its first read. Only one goroutine may use a
// view.
type view struct {
	judge *Judge
	tool  *judged
	vars  []*term // by index; nil: no rule for the tool reads it
	c     *gateway.Case
	most  int // result of calls

	showing bool // judging is done; values are only shown

	args, input, effects, plan, spent, remaining any
	values                                       []ref.Val // of the vars
	rows                                         map[string]any
	windows, run, varMembers                     members
}

var _ interpreter.Activation = (*view)(nil)

// Parent implements [interpreter.Activation].
func (v *view) Parent() interpreter.Activation { return nil }

// ResolveName implements [interpreter.Activation].
func (v *view) ResolveName(name string) (any, bool) {
	switch name {
	case "args":
		if v.args == nil {
			v.args = v.arguments()
		}
		return v.args, true
	case "tool":
		return v.tool.facts, true
	case "params":
		return v.judge.params, true
	case "vars":
		if v.varMembers.get == nil {
			v.varMembers.get = v.varValue
		}
		return &v.varMembers, true
	case "run":
		if v.run.get == nil {
			v.run.get = v.runMember
		}
		return &v.run, true
	case "windows":
		if v.windows.get == nil {
			v.windows.get = v.window
		}
		return &v.windows, true
	case "input":
		if v.input == nil {
			v.input = checkedMembers(v.judge.policy.shapes.input, v.c.Facts.Input, "input")
		}
		return v.input, true
	case "principal":
		p := v.c.Facts.Principal
		return map[string]any{"id": p.ID, "kind": p.Kind, "name": p.Name}, true
	case "client":
		return map[string]any{"name": v.c.Facts.Client.Name, "version": v.c.Facts.Client.Version}, true
	case "now":
		return types.Timestamp{Time: v.c.Facts.Now}, true
	}
	return nil, false
}

// calls returns the maximum length of a list of calls.
func (v *view) calls() int {
	if v.most == 0 {
		v.most = max(1, len(v.c.Effects))
		for _, seen := range v.c.Windows {
			v.most = max(v.most, len(seen.Effects))
		}
	}
	return v.most
}

// arguments returns those of the judged call, checked against the tool's types.
func (v *view) arguments() any {
	args := v.c.Args
	if v.tool.isFinal() {
		args = map[string]any{finalField: v.c.Answer}
	}
	if !finite(args) {
		return refused("args")
	}
	taken, err := v.tool.args.Convert(orEmpty(args), "args")
	if err != nil {
		return types.WrapErr(err)
	}
	return taken
}

// refused returns an error value instead of a value that no rule may read.
func refused(what string) ref.Val { return types.NewErr("%s: no decoded value", what) }

// checkedMembers returns members of a recorded object. If they hold values that no rule may read, it returns an error
// value.
func checkedMembers(r reader, members map[string]any, what string) any {
	if !finite(members) {
		return refused(what)
	}
	return r.read(orEmpty(members))
}

func (v *view) varValue(name string) (any, bool) {
	i := v.judge.policy.varAt(name)
	if i < 0 || i >= len(v.vars) || v.vars[i] == nil {
		return nil, false
	}
	if v.values == nil {
		v.values = make([]ref.Val, len(v.vars))
	}
	if v.values[i] == nil {
		if v.showing {
			v.values[i] = v.vars[i].evalCheap(v, v.calls())
		} else {
			v.values[i] = v.vars[i].eval(v, v.calls())
		}
	}
	return v.values[i], true
}

func (v *view) runMember(name string) (any, bool) {
	f := &v.c.Facts
	switch name {
	case "id":
		return f.RunID, true
	case "pattern":
		return f.Pattern, true
	case "kind":
		return string(f.Kind), true
	case "steps":
		return int64(f.Steps), true
	case "effects":
		if v.effects == nil {
			v.effects = rowsOf(v.judge.policy.shapes.row, v.c.Effects, f.RunID)
		}
		return v.effects, true
	case "plan":
		if v.plan == nil {
			v.plan = v.planned()
		}
		return v.plan, true
	case "spent":
		if v.spent == nil {
			v.spent = figures(f.Spent)
		}
		return v.spent, true
	case "remaining":
		if v.remaining == nil {
			v.remaining = figures(f.Remaining)
		}
		return v.remaining, true
	}
	return nil, false
}

// figures returns amounts that are spent or left, by the budgets' names.
func figures(of map[string]float64) any {
	all := make(map[string]any, len(of))
	for name, n := range of {
		all[name] = n
	}
	if !finite(all) {
		return refused(aBudget)
	}
	for name, n := range all {
		if !fractional(name) {
			all[name] = expr.Int().ConvertLoosely(n)
		}
	}
	return all
}

func (v *view) planned() any {
	steps := make([]any, len(v.c.Facts.Plan))
	args := v.judge.policy.shapes.row.args
	for i, s := range v.c.Facts.Plan {
		steps[i] = map[string]any{"id": s.ID, "tool": s.Tool, "status": s.Status, "args": checkedMembers(args, s.Args, "args")}
	}
	return steps
}

// window returns the calls of earlier runs in a window. If they are unknown, it returns an error value.
func (v *view) window(name string) (any, bool) {
	if made, known := v.rows[name]; known {
		return made, true
	}
	if v.rows == nil {
		v.rows = map[string]any{}
	}
	v.rows[name] = v.windowRows(name)
	return v.rows[name], true
}

func (v *view) windowRows(name string) any {
	seen, there := v.c.Windows[v.judge.policy.source.Name+"."+name]
	row, declared := v.judge.policy.shapes.windows[name]
	switch {
	case !there || !declared:
		return types.NewErr(windowUnknown, name)
	case seen.Err != nil:
		return types.WrapErr(seen.Err)
	case len(seen.Effects) > gateway.MaxWindow:
		return types.NewErr(windowTooLong, name, gateway.MaxWindow)
	}
	return map[string]any{"effects": rowsOf(row, seen.Effects, v.c.Facts.RunID), "since": types.Timestamp{Time: seen.Since}}
}

// unknownValue is the value of what is unknown. Values that depend on it are unknown too.
var unknownValue = types.NewUnknown(0, nil)

// members is an object whose members are made at their first read.
type members struct {
	opaque
	get func(name string) (any, bool)
}

// FindStringKey returns a member by its name.
func (m *members) FindStringKey(name string) (any, bool) { return m.get(name) }

// opaque is a value of which expressions can only read members. Any other use is an error.
type opaque struct{}

var errWhole = errors.New("policy: only members of it can be read")

// ConvertToNative implements [ref.Val].
func (opaque) ConvertToNative(reflect.Type) (any, error) { return nil, errWhole }

// ConvertToType implements [ref.Val].
func (opaque) ConvertToType(ref.Type) ref.Val { return types.WrapErr(errWhole) }

// Equal implements [ref.Val].
func (opaque) Equal(ref.Val) ref.Val { return types.WrapErr(errWhole) }

// Type implements [ref.Val].
func (opaque) Type() ref.Type { return types.DynType }

// Value implements [ref.Val].
func (opaque) Value() any { return nil }

// nothingKnown is a view in which all variables are unknown. A result with this view holds for every call.
type nothingKnown struct{}

// Parent implements [interpreter.Activation].
func (nothingKnown) Parent() interpreter.Activation { return nil }

// ResolveName implements [interpreter.Activation].
func (nothingKnown) ResolveName(name string) (any, bool) {
	return unknownValue, slices.Contains(variableNames, name)
}

// variableNames are all policy variables. Variables of macros are not among them.
var variableNames = []string{"args", "vars", "tool", "params", "input", "run", "principal", "client", "windows", "now"}

// beforehand is a view before a call: only the tool and the params are known.
type beforehand struct {
	nothingKnown
	tool, params map[string]any
}

// ResolveName implements [interpreter.Activation].
func (b beforehand) ResolveName(name string) (any, bool) {
	switch name {
	case "tool":
		return b.tool, true
	case "params":
		return b.params, true
	}
	return b.nothingKnown.ResolveName(name)
}
