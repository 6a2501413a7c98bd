package expr

import (
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common/containers"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/parser"
)

// Limits of an expression.
const (
	MaxText  = 16384     // characters of its text
	MaxCost  = 1_000_000 // cost units of one evaluation
	maxDepth = 64        // levels of nesting
	maxRange = 100_000   // numbers that lists.range makes
)

// environment is what all expressions share: the functions and the parser. Setting it up takes about a millisecond, so it is
// done when the first expression is compiled.
type environment struct {
	cel     *cel.Env
	parser  *parser.Parser
	checker *checker.Env // knows the functions and no variables
}

// shared returns the one environment.
var shared = sync.OnceValues(newEnvironment)

func newEnvironment() (*environment, error) {
	options := []cel.EnvOption{
		cel.StdLib(), cel.OptionalTypes(),
		ext.Strings(), ext.Lists(ext.ListsMaxRangeSize(maxRange)), ext.Math(), ext.Sets(), ext.Bindings(), ext.Network(), ext.TwoVarComprehensions(),
		cel.CostModel(
			cost.Overload(sumInts, cost.EvalCost(cost.Length(cost.Arg(0)))),
			cost.Overload(sumDoubles, cost.EvalCost(cost.Length(cost.Arg(0)))),
			cost.Overload(pathWithin, cost.EvalCost(cost.Sum(cost.StringScan(cost.Arg(0)), cost.StringScan(cost.Arg(1)), cost.Const(1)))),
		),
	}
	env, err := cel.NewCustomEnv(append(append(options, ourFunctions()...), boundFunctions()...)...)
	if err != nil {
		return nil, err
	}
	check, err := checker.NewEnv(containers.DefaultContainer, env.CELTypeProvider())
	if err != nil {
		return nil, err
	}
	for _, f := range env.Functions() {
		if f.IsDeclarationDisabled() {
			continue
		}
		if err := check.AddFunctions(f); err != nil {
			return nil, err
		}
	}
	if err := check.AddIdents(env.Variables()...); err != nil {
		return nil, err
	}
	read, err := newParser(env)
	if err != nil {
		return nil, err
	}
	return &environment{cel: env, parser: read, checker: check}, nil
}

// newParser returns the hand-written parser of the library. The generated one takes as long as all other work of compiling
// together. Member names that are not words are written in backquotes: args.`order-id`.
func newParser(env *cel.Env) (*parser.Parser, error) {
	return parser.NewParser(
		parser.EnablePrattParser(true), parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true),
		parser.Macros(env.Macros()...), parser.PopulateMacroCalls(true),
		parser.ExpressionSizeCodePointLimit(MaxText), parser.MaxRecursionDepth(maxDepth), parser.ErrorReportingLimit(3))
}

// functionNames returns the names of the functions and macros that a text may call.
func (e *environment) functionNames() []string {
	var names []string
	for name := range e.cel.Functions() {
		if !strings.ContainsAny(name, "_@!-") || name == "path_within" {
			names = append(names, name)
		}
	}
	for _, m := range e.cel.Macros() {
		names = append(names, m.Function())
	}
	return names
}
