package policy

import (
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// budgets are the names of a run's limits.
var budgets = []string{
	"max_seconds", "max_tool_calls", "max_llm_calls", "max_tokens", "max_cost_usd", "max_plan_steps", "max_execute_steps", "max_tasks", "max_parallel",
	"max_retries_per_task", "max_dispatches", "max_route_attempts", "max_delegations", "max_steps", "max_subtasks", "max_depth", "max_replans",
	"max_iterations", "max_concurrent", "max_retries",
}

func budgetType() expr.Type {
	var all []expr.Field
	for _, name := range budgets {
		f := expr.Field{Name: name, Type: expr.Int(), Optional: true}
		if fractional(name) {
			f.Type = expr.Double()
		}
		all = append(all, f)
	}
	return expr.Object(all...)
}

// rowType returns the type of a call before the judged one, of one of these tools (spec/config.md section 5.2, Effect).
func rowType(tools []*judged, names []string) expr.Type {
	var args, results []expr.Type
	for _, t := range tools {
		args, results = append(args, t.args), append(results, t.result)
	}
	return expr.MembersOnly(
		expr.Field{Name: "key", Type: expr.String()}, expr.Field{Name: "run_id", Type: expr.String()}, expr.Field{Name: "tool", Type: expr.String(names...)},
		expr.Field{Name: "effect", Type: expr.String("read", "write", "destructive")},
		expr.Field{Name: "status", Type: expr.String(string(gateway.Reserved), string(gateway.Finished), string(gateway.Failed), string(gateway.InDoubt))},
		expr.Field{Name: "ok", Type: expr.Bool()}, expr.Field{Name: "counts", Type: expr.Bool()},
		expr.Field{Name: "args", Type: expr.Union(args)}, expr.Field{Name: "result", Type: expr.Union(results)}, expr.Field{Name: "at", Type: expr.Timestamp()})
}

// shapes are types of variables that are needed again when their values are made.
type shapes struct {
	row     *calls
	input   reader
	windows map[string]*calls // by the window's name
}

// variables returns the variables that all expressions of a policy may read, for every tool. An expression may also
// read args and vars.
func (c *compiler) variables() []expr.Variable {
	r := c.reached
	tools := r.tools()
	c.shapes.row, c.shapes.input = newCalls(rowType(tools, r.seen())), newReader(r.input())
	plan := expr.Object(expr.Field{Name: "id", Type: expr.String()}, expr.Field{Name: "tool", Type: expr.String()}, expr.Field{Name: "status", Type: expr.String()}, expr.Field{Name: "args", Type: c.shapes.row.args.is})
	budget := budgetType()
	var windows []expr.Field
	c.shapes.windows = map[string]*calls{}
	for _, w := range c.source.Windows {
		var of []*judged
		for _, name := range w.Tools {
			if t := r.all[name]; t != nil && name != finalName {
				of = append(of, t)
			}
		}
		row := rowType(of, w.Tools)
		c.shapes.windows[w.Name] = newCalls(row)
		windows = append(windows, expr.Field{Name: w.Name, Type: expr.Object(expr.Field{Name: "effects", Type: expr.List(row)}, expr.Field{Name: "since", Type: expr.Timestamp()})})
	}
	return []expr.Variable{
		{Name: "tool", Type: expr.Object(
			expr.Field{Name: "name", Type: expr.String(append(slices.Clone(r.judged), without(finalName, r.judged)...)...)},
			expr.Field{Name: "effect", Type: expr.String("read", "write", "destructive", noEffect)},
			expr.Field{Name: "server", Type: expr.String()}, expr.Field{Name: "idempotent", Type: expr.Bool()})},
		{Name: "params", Type: expr.Object(c.params.fields...)},
		{Name: "input", Type: c.shapes.input.is},
		{Name: "run", Type: expr.MembersOnly(
			expr.Field{Name: "id", Type: expr.String()}, expr.Field{Name: "pattern", Type: expr.String()}, expr.Field{Name: "kind", Type: expr.String(kinds...)}, expr.Field{Name: "steps", Type: expr.Int()},
			expr.Field{Name: "effects", Type: expr.List(c.shapes.row.row)}, expr.Field{Name: "plan", Type: expr.List(plan)},
			expr.Field{Name: "spent", Type: budget}, expr.Field{Name: "remaining", Type: budget})},
		{Name: "principal", Type: expr.Object(expr.Field{Name: "id", Type: expr.String()}, expr.Field{Name: "kind", Type: expr.String("local", "token")}, expr.Field{Name: "name", Type: expr.String()})},
		{Name: "client", Type: expr.Object(expr.Field{Name: "name", Type: expr.String()}, expr.Field{Name: "version", Type: expr.String()})},
		{Name: "windows", Type: expr.MembersOnly(windows...)},
		{Name: "now", Type: expr.Timestamp()},
	}
}

// without returns the name as a list if names lacks it, else nil.
func without(name string, names []string) []string {
	if slices.Contains(names, name) {
		return nil
	}
	return []string{name}
}

// kinds are the kinds of patterns.
var kinds = []string{
	string(gateway.TaskDecomposition), string(gateway.Orchestrator), string(gateway.Routing), string(gateway.Supervisor), string(gateway.Planning), string(gateway.Call),
}

// input returns the type of the patterns' own input fields. Fields that only some of the patterns have are optional. If
// a tool is judged in every pattern, the patterns are unknown and all fields are optional.
func (r *reached) input() expr.Type {
	if len(r.reach.Patterns) == 0 {
		return expr.Map(expr.Dyn())
	}
	parts := make([]expr.Type, len(r.reach.Patterns))
	for i, p := range r.reach.Patterns {
		if parts[i] = expr.Object(); p.Input != nil {
			parts[i] = expr.FromSchema(p.Input, "")
		}
	}
	everywhere := func(name string) bool {
		return !r.alone && !slices.ContainsFunc(parts, func(p expr.Type) bool { _, has := p.Field(name); return !has })
	}
	for i, p := range parts {
		if p.Kind() != expr.ObjectKind {
			continue
		}
		fields := slices.Clone(p.Fields())
		for k, f := range fields {
			fields[k].Optional = f.Optional || !everywhere(f.Name)
		}
		parts[i] = expr.Object(fields...)
	}
	return expr.Union(parts)
}

// reads are the members of variables that an expression names, and the variables that it reads as a whole.
type reads struct {
	members map[string][]string
	whole   map[string]bool
}

func (r reads) of(variable string) bool { return r.whole[variable] || len(r.members[variable]) > 0 }

// root returns the variable's name of an identifier.
func root(name string) string { return strings.TrimPrefix(name, ".") }
