package policy

import (
	"errors"
	"fmt"
	"regexp"

	"patterngate/catalog"
	"patterngate/gateway/policy/expr"
)

// Named is a text with a name.
type Named struct{ Name, Text string }

// ErrKey is returned for an invalid business key. A key has 1 to 128 letters, digits or the characters . _ ~ : and -.
var ErrKey = errors.New(onceForm)

var key = regexp.MustCompile(`^[A-Za-z0-9._~:-]{1,128}$`)

// Once compiles the function that makes the business key of a tool's calls from their arguments (spec/config.md section
// 4, once). The function is nil if a fault is more than a warning. Its errors are [ErrKey] and those of
// [expr.Expression.Eval].
func Once(text, tool string, input *catalog.Schema) (func(args map[string]any) (string, error), []expr.Fault) {
	const member = "once"
	e, faults := expr.NewScope(expr.Variable{Name: "args", Type: expr.FromSchema(input, tool)}).Compile(text, expr.String())
	if e == nil {
		return nil, of(member, faults)
	}
	if !e.Reads("args") {
		faults = append(faults, expr.Fault{Line: 1, Column: 1, Reason: onceReadsNothing, Warning: true})
	}
	return func(args map[string]any) (string, error) {
		v, err := e.Eval(map[string]any{"args": args})
		if err != nil {
			return "", err
		}
		made, _ := v.(string)
		if !key.MatchString(made) {
			return "", fmt.Errorf(onceLength, ErrKey, len(made))
		}
		return made, nil
	}, of(member, faults)
}
