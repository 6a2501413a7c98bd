package policy

import (
	"patterngate/catalog"
	"patterngate/gateway/policy/expr"
)

// ReconcileSource says how an outcome that is unknown is settled (spec/config.md section 6).
type ReconcileSource struct {
	Tool  string // the tool whose calls may be in doubt
	Input *catalog.Schema
	// By is the tool that looks the call up. Observation is the schema of its result, ByInput that of its arguments;
	// nil: unknown.
	By                   string
	Observation, ByInput *catalog.Schema
	Args                 []Named
	Happened             string
	Output               []Named // nil: the observation is the call's result
}

// Look looks up calls in doubt. Its functions are safe for concurrent use and never panic.
type Look struct {
	// Args makes the arguments of the look-up. It leaves out an argument that is an optional without a value.
	Args func(catalog.Doubt) (map[string]any, error)
	// Happened reads from the look-up's observation whether the call happened. This is unknown if the expression has no
	// value. It is also unknown if the observation is an error that the expression does not read. If an http tool
	// answers that there is none, the call did not happen.
	Happened func(catalog.Doubt, any) (happened, known bool)
	// Output makes the call's own result from the observation. If it is nil, the result is the observation.
	Output func(catalog.Doubt, any) (any, error)
}

// Reconcile compiles how to look up calls in doubt. Its texts read effect {key, run_id, tool, args, at}. Those of
// happened and output also read result. The Look is zero if a fault is more than a warning.
func Reconcile(in ReconcileSource) (Look, []expr.Fault) {
	effect := expr.Variable{Name: "effect", Type: expr.Object(
		expr.Field{Name: "key", Type: expr.String()}, expr.Field{Name: "run_id", Type: expr.String()}, expr.Field{Name: "tool", Type: expr.String()},
		expr.Field{Name: "args", Type: expr.FromSchema(in.Input, in.Tool)}, expr.Field{Name: "at", Type: expr.Timestamp()})}
	asking, reading := expr.NewScope(effect), expr.NewScope(effect, expr.Variable{Name: "result", Type: expr.ResultOf(in.Observation, in.By)})

	args, faults := askedArgs(asking, in)
	happened, found := reading.Compile(in.Happened, expr.Bool())
	if happened != nil && !happened.Reads("result") {
		found = append(found, expr.Fault{Line: 1, Column: 1, Reason: happenedReadsNothing(in.By), Warning: true})
	}
	faults = append(faults, of("reconcile.happened", found)...)
	output, found := compileMembers(reading, in.Output, "reconcile.output.", nil)
	faults = append(faults, found...)
	if expr.HasErrors(faults) {
		return Look{}, faults
	}
	look := Look{
		Args:     func(d catalog.Doubt) (map[string]any, error) { return args.eval(seen(d, nil)) },
		Happened: happenedBy(happened),
	}
	if in.Output != nil {
		look.Output = func(d catalog.Doubt, observation any) (any, error) {
			made, err := output.eval(seen(d, observation))
			if err != nil {
				return nil, err // not a nil map
			}
			return made, nil
		}
	}
	return look, faults
}

// askedArgs compiles the look-up's arguments and checks them against its schema.
func askedArgs(scope *expr.Scope, in ReconcileSource) (memberExpressions, []expr.Fault) {
	takes := expr.FromSchema(in.ByInput, in.By)
	args, faults := compileMembers(scope, in.Args, "reconcile.args.", func(name string) (expr.Type, []expr.Fault) {
		switch takes.Kind() {
		case expr.ObjectKind:
			f, ok := takes.Field(name)
			if !ok {
				wrong := expr.UnknownName(hasNoArgument(in.By), name, takes.Names())
				wrong.Line, wrong.Column = 1, 1
				return expr.Dyn(), []expr.Fault{wrong}
			}
			return f.Type, nil
		case expr.MapKind:
			return takes.Item(), nil
		}
		return expr.Dyn(), nil
	})
	if takes.Kind() != expr.ObjectKind {
		return args, faults
	}
	for _, f := range takes.Fields() {
		if !f.Optional && !hasMember(in.Args, f.Name) {
			faults = append(faults, expr.Fault{Member: "reconcile.args", Line: 1, Column: 1, Reason: needsArgument(in.By, f.Name)})
		}
	}
	return args, faults
}

func hasMember(members []Named, name string) bool {
	for _, m := range members {
		if m.Name == name {
			return true
		}
	}
	return false
}

// seen returns the values that the expressions read.
func seen(d catalog.Doubt, observation any) map[string]any {
	return map[string]any{
		"effect": map[string]any{"key": d.Key, "run_id": d.RunID, "tool": d.Tool, "args": orEmpty(d.Args), "at": d.At},
		"result": observation,
	}
}

func happenedBy(e *expr.Expression) func(catalog.Doubt, any) (bool, bool) {
	readsError := e.ReadsMember("error")
	return func(d catalog.Doubt, observation any) (happened, known bool) {
		o, _ := observation.(map[string]any)
		switch {
		case isAbsent(o):
			return false, true
		case o["error"] != nil && !readsError:
			return false, false
		}
		v, err := e.Eval(seen(d, observation))
		happened, known = v.(bool)
		return happened, known && err == nil
	}
}

// isAbsent reports whether an observation is the answer of an http tool that there is none (spec/config.md section 4,
// absent).
func isAbsent(o map[string]any) bool {
	_, isCode := o["status"].(float64)
	return len(o) == 2 && isCode && o["error"] == "not_found"
}
