package policy

import (
	"slices"
	"strings"

	"patterngate/gateway"
)

// budgets are the names under which a run's limits are shown.
var budgets = []string{
	"max_seconds", "max_tool_calls", "max_llm_calls", "max_tokens", "max_cost_usd", "max_plan_steps", "max_execute_steps", "max_tasks", "max_parallel",
	"max_retries_per_task", "max_dispatches", "max_route_attempts", "max_delegations", "max_steps", "max_subtasks", "max_depth", "max_replans",
	"max_iterations", "max_concurrent", "max_retries",
}

func budgetType() Type {
	var all []Field
	for _, name := range budgets {
		f := Field{Name: name, Type: Int(), Optional: true}
		if fractional(name) {
			f.Type = Double()
		}
		all = append(all, f)
	}
	return Object(all...)
}

// rowType is a call before the judged one (spec/config.md section 5.2, Effect): of one of these tools.
func rowType(tools []*judged, names []string) Type {
	var args, results []Type
	for _, t := range tools {
		args, results = append(args, t.args), append(results, t.result)
	}
	return MembersOnly(
		Field{Name: "key", Type: String()}, Field{Name: "run_id", Type: String()}, Field{Name: "tool", Type: String(names...)},
		Field{Name: "effect", Type: String("read", "write", "destructive")},
		Field{Name: "status", Type: String(string(gateway.Reserved), string(gateway.Finished), string(gateway.Failed), string(gateway.InDoubt))},
		Field{Name: "ok", Type: Bool()}, Field{Name: "counts", Type: Bool()},
		Field{Name: "args", Type: Union(args)}, Field{Name: "result", Type: Union(results)}, Field{Name: "at", Type: Timestamp()})
}

// shapes are the types of what rules read that are needed again when values are made for them.
type shapes struct {
	row     *calls
	input   reader
	windows map[string]*calls // by the window's name
}

// variables are what all expressions of a policy may read, whatever is called; args and vars come beside them.
func (c *compiler) variables() []Variable {
	r := c.reached
	tools := r.tools()
	c.shapes.row, c.shapes.input = newCalls(rowType(tools, r.seen())), newReader(r.input())
	plan := Object(Field{Name: "id", Type: String()}, Field{Name: "tool", Type: String()}, Field{Name: "status", Type: String()}, Field{Name: "args", Type: c.shapes.row.args.is})
	budget := budgetType()
	var windows []Field
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
		windows = append(windows, Field{Name: w.Name, Type: Object(Field{Name: "effects", Type: List(row)}, Field{Name: "since", Type: Timestamp()})})
	}
	return []Variable{
		{"tool", Object(
			Field{Name: "name", Type: String(append(slices.Clone(r.judged), without(finalName, r.judged)...)...)},
			Field{Name: "effect", Type: String("read", "write", "destructive", noEffect)},
			Field{Name: "server", Type: String()}, Field{Name: "idempotent", Type: Bool()})},
		{"params", Object(c.params.fields...)},
		{"input", c.shapes.input.is},
		{"run", MembersOnly(
			Field{Name: "id", Type: String()}, Field{Name: "pattern", Type: String()}, Field{Name: "kind", Type: String(kinds...)}, Field{Name: "steps", Type: Int()},
			Field{Name: "effects", Type: List(c.shapes.row.row)}, Field{Name: "plan", Type: List(plan)},
			Field{Name: "spent", Type: budget}, Field{Name: "remaining", Type: budget})},
		{"principal", Object(Field{Name: "id", Type: String()}, Field{Name: "kind", Type: String("local", "token")}, Field{Name: "name", Type: String()})},
		{"client", Object(Field{Name: "name", Type: String()}, Field{Name: "version", Type: String()})},
		{"windows", MembersOnly(windows...)},
		{"now", Timestamp()},
	}
}

// without is a name where a list lacks it.
func without(name string, names []string) []string {
	if slices.Contains(names, name) {
		return nil
	}
	return []string{name}
}

// kinds are those of patterns.
var kinds = []string{
	string(gateway.TaskDecomposition), string(gateway.Orchestrator), string(gateway.Routing), string(gateway.Supervisor), string(gateway.Planning), string(gateway.Call),
}

// input is the type of the patterns' own input fields. What only some of the patterns have is optional; where patterns are not
// known, because a tool is judged in any of them, all of it is.
func (r *reached) input() Type {
	if len(r.reach.Patterns) == 0 {
		return Map(Dyn())
	}
	parts := make([]Type, len(r.reach.Patterns))
	for i, p := range r.reach.Patterns {
		if parts[i] = Object(); p.Input != nil {
			parts[i] = FromSchema(p.Input, "")
		}
	}
	everywhere := func(name string) bool {
		return !r.alone && !slices.ContainsFunc(parts, func(p Type) bool { _, has := p.Field(name); return !has })
	}
	for i, p := range parts {
		if p.Kind() != ObjectKind {
			continue
		}
		fields := slices.Clone(p.Fields())
		for k, f := range fields {
			fields[k].Optional = f.Optional || !everywhere(f.Name)
		}
		parts[i] = Object(fields...)
	}
	return Union(parts)
}

// reads are the members of variables that an expression names, and the variables that it reads whole.
type reads struct {
	members map[string][]string
	whole   map[string]bool
}

func (r reads) of(variable string) bool { return r.whole[variable] || len(r.members[variable]) > 0 }

// root is the variable's name of an identifier.
func root(name string) string { return strings.TrimPrefix(name, ".") }
