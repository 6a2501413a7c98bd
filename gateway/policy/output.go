package policy

import (
	"patterngate/catalog"
	"patterngate/gateway/policy/expr"
)

// Output compiles the function that makes an http tool's observation from a response (spec/config.md section 4,
// output). Each text makes one member. It reads args and response {status int, headers map(string), body dyn}. If a
// text is an optional without a value, its member is left out. The function is nil if a fault is more than a warning.
// Its errors are those of [expr.Expression.Eval].
func Output(members []Named, tool string, input *catalog.Schema) (func(args map[string]any, status int, headers map[string]string, body any) (map[string]any, error), []expr.Fault) {
	scope := expr.NewScope(
		expr.Variable{Name: "args", Type: expr.FromSchema(input, tool)},
		expr.Variable{Name: "response", Type: expr.Object(expr.Field{Name: "status", Type: expr.Int()}, expr.Field{Name: "headers", Type: expr.Map(expr.String())}, expr.Field{Name: "body"})})
	all, faults := compileMembers(scope, members, "output.", nil)
	if expr.HasErrors(faults) {
		return nil, faults
	}
	return func(args map[string]any, status int, headers map[string]string, body any) (map[string]any, error) {
		named := make(map[string]any, len(headers))
		for name, text := range headers {
			named[name] = text
		}
		return all.eval(map[string]any{
			"args":     orEmpty(args),
			"response": map[string]any{"status": int64(status), "headers": named, "body": body},
		})
	}, faults
}

// orEmpty returns args, or an empty object for nil.
func orEmpty(args map[string]any) map[string]any {
	if args == nil {
		return map[string]any{}
	}
	return args
}

// memberExpressions are the expressions for the members of a computed object.
type memberExpressions []memberExpression

type memberExpression struct {
	name string
	*expr.Expression
}

// compileMembers compiles texts. The member of each fault is the text's name after a prefix. wanted returns the type
// that a text must have; nil: any type.
func compileMembers(scope *expr.Scope, members []Named, prefix string, wanted func(name string) (expr.Type, []expr.Fault)) (memberExpressions, []expr.Fault) {
	var all memberExpressions
	var faults []expr.Fault
	for _, m := range members {
		want := expr.Dyn()
		if wanted != nil {
			var wrong []expr.Fault
			want, wrong = wanted(m.Name)
			faults = append(faults, of(prefix+m.Name, wrong)...)
		}
		e, found := scope.Compile(m.Text, want)
		faults = append(faults, of(prefix+m.Name, found)...)
		all = append(all, memberExpression{m.Name, e})
	}
	return all, faults
}

// eval computes all members from the same values. It stops at the first error.
func (all memberExpressions) eval(values map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(all))
	for _, m := range all {
		v, there, err := m.EvalOptional(values)
		if err != nil {
			return nil, &MemberError{Member: m.name, Cause: err}
		}
		if there {
			out[m.name] = v
		}
	}
	return out, nil
}

// MemberError says which of several texts had no value.
type MemberError struct {
	Member string
	Cause  error
}

// Error returns the member and the cause.
func (e *MemberError) Error() string { return e.Member + ": " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *MemberError) Unwrap() error { return e.Cause }

// of sets the member of faults.
func of(member string, faults []expr.Fault) []expr.Fault {
	for i := range faults {
		faults[i].Member = member
	}
	return faults
}
