package assembly

import (
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/gateway/policy/expr"
	"patterngate/patterns"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// joins say how a pattern joins the results of its workers, and when its routes decline.
type joins struct {
	aggregate *policy.Aggregate                     // nil: the default of the kind
	reroute   map[string]func(observation any) bool // by route; nil: the default of the kind
}

// rerouteByDefault is the condition for a route of the file to decline if the file sets none.
const rerouteByDefault = `result.status == "needs_reroute"`

func (m *partsMaker) joins(p *settings.Pattern, parts *patternParts) (j joins) {
	switch {
	case p.Kind == gateway.Orchestrator && p.Aggregate != nil:
		j.aggregate = m.aggregate(p, parts)
	case p.Kind == gateway.Routing:
		j.reroute = m.reroutes(p)
	}
	return j
}

// reroutes compiles the conditions for the routes of a pattern to decline. A tool of the program itself that has no
// condition always says whether it declines, so its results are judged by their status. The lists of allowed tools can name
// tools that are not among the routes; they have the usual condition.
func (m *partsMaker) reroutes(p *settings.Pattern) map[string]func(any) bool {
	by := map[string]func(any) bool{}
	names := p.CallNames()
	for _, name := range names {
		h, _ := p.HandNamed(name)
		if t, known := m.all.Tool(p.OwnName(name)); !known || t.Server != "" || h.Reroute != "" {
			by[name] = m.reroute(p, name)
		}
	}
	judged, executed := p.Allows()
	for _, name := range slices.Concat(judged, executed) {
		if t, known := m.all.Tool(p.OwnName(name)); known && t.Server != "" && by[name] == nil {
			by[name] = m.reroute(p, name)
		}
	}
	if len(by) == 0 {
		return nil
	}
	return by
}

// aggregate compiles the expressions of an aggregate. Their types come from the workers' output schemas.
func (m *partsMaker) aggregate(p *settings.Pattern, parts *patternParts) *policy.Aggregate {
	source := policy.AggregateSource{Input: parts.input, Fields: expressions(p.Aggregate.Fields)}
	for _, name := range p.CallNames() {
		source.Workers = append(source.Workers, policy.Hand{Name: name, Output: m.returned(p.OwnName(name))})
	}
	for _, h := range p.Aggregate.Health {
		source.Health = append(source.Health, policy.HealthRule{Is: h.Is, When: h.When})
	}
	made, faults := policy.NewAggregate(source)
	for _, f := range faults {
		m.expression(f, append([]string{"aggregate"}, memberSteps(f.Member)...)...)
	}
	return made
}

// reroute compiles the condition for a route to decline.
func (m *partsMaker) reroute(p *settings.Pattern, name string) func(any) bool {
	h, _ := p.HandNamed(name)
	text := h.Reroute
	if text == "" {
		text = rerouteByDefault
	}
	output := m.returned(p.OwnName(name))
	if h.Reroute == "" {
		output = nil // without a schema, a missing status is not a fault
	}
	made, faults := policy.NewReroute(text, output)
	for _, f := range faults {
		m.expression(f, "routes", name, "reroute")
	}
	return made
}

// returned returns the output schema of a tool, or nil if it is not known, as for a pattern.
func (m *partsMaker) returned(tool string) *catalog.Schema {
	t, _ := m.all.Tool(tool)
	return t.Output
}

// expression records a fault in an expression, at the exact character.
func (m *partsMaker) expression(f expr.Fault, path ...string) {
	fault := yamldoc.Fault{Reason: f.Reason, DidYouMean: f.DidYouMean}
	if f.Want != "" && f.DidYouMean == "" {
		fault.Want = "write " + f.Want
	}
	m.faults = append(m.faults, ownFault{path: slices.Concat(m.at, path), offset: f.Offset, warning: f.Warning, Fault: fault})
}

// joined returns the function with which a pattern joins results, or nil for the default of the kind.
func (j joins) joined() func(patterns.Inputs, []patterns.TaskRow) patterns.Aggregate {
	if j.aggregate == nil {
		return nil
	}
	return func(in patterns.Inputs, ended []patterns.TaskRow) patterns.Aggregate {
		tasks := make([]policy.TaskResult, len(ended))
		for i, row := range ended {
			tasks[i] = policy.TaskResult{
				ID: row.TaskID, Worker: row.Worker, Critical: row.Critical, Done: row.Done(), Attempts: row.AttemptsUsed,
				Observation: row.Observation, StopReason: row.StopReason,
			}
		}
		all := j.aggregate.Join(in, tasks)
		a := patterns.Aggregate{Fields: all.Fields, Missing: all.Missing, Health: all.Health}
		for _, e := range all.Errors {
			a.Errors = append(a.Errors, patterns.JoinError{Member: e.Member, Reason: e.Reason})
		}
		return a
	}
}
