package cli

import (
	"encoding/json"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings/grammar"
)

// PatternConfig declares one pattern: a tool, of kind planning four.
type PatternConfig struct {
	Name    string
	Kind    gateway.Kind
	Enabled bool
	At      grammar.Position // of a pattern of the file's own
	// Title is what people read, Description what models do. Of kind call they may be empty: the tool's.
	Title, Description string
	// Input are its arguments beside the kind's own, by name a JSON schema; nil: none. Goal is what the text is called.
	Input  json.RawMessage
	Goal   string
	Budget gateway.Budget
	// Tools are what it has: those of the demo, or the file's own. A built-in without any is not listed; see [PatternConfig.Equipped].
	Tools []string
	// Hands are its workers or routes, where the file names them so: tools and patterns under names of its own. Then it has no Tools.
	Hands []HandConfig
	// Tool is what a pattern of kind call calls.
	Tool string
	// Policy is what a plan, route or action may name, Execution what may be called. An empty list allows nothing.
	// Of kind planning they only narrow its tools, and nil does not.
	Policy, Execution []string
	Judge             string         // the policy that judges its calls; "": none
	Params            map[string]any // laid over that policy's
	Approver          patterns.Approver
	Planning          PlanningConfig   // of kind planning
	Critical          []string         // workers without whose result a run stops, whatever its plan says
	Aggregate         *AggregateConfig // of kind orchestrator; nil: as the kind joins
	Finalize          patterns.Finalize
	// Instructions is what the model is told after our own prompts: a text/template over the inputs.
	Instructions string
	LLM          PatternLLM
	Answer       json.RawMessage // what the final answer must be, by member a JSON schema; nil: text
	// Handed are limits of its kind, by name, which a pattern that calls it has lower. The file does not say them, and may not.
	Handed map[string]float64
}

// HandConfig is a worker or a route: a tool, or a pattern of which each call begins a run.
type HandConfig struct {
	Name          string
	Item          int    // its place in a list of tools, from 1; 0: it stands under its name
	Tool, Pattern string // one of them
	Description   string // "": the tool's or the pattern's
	Reroute       string // of a route: CEL over result; "": whether its status is needs_reroute
}

// AggregateConfig says how the results of an orchestrator's tasks are joined.
type AggregateConfig struct {
	Fields []grammar.NamedExpression // in the order of the file: one may read those before it
	Health []HealthConfig
}

// HealthConfig is a colour and when it is so.
type HealthConfig struct{ Is, When string }

// PatternLLM is who answers a pattern's questions. What it does not say is that of [LLMConfig].
type PatternLLM struct {
	Provider, Role, Model string   // "": not said
	Temperature           *float64 // nil: not said
	ResponseFormat        string
	RepairTurns           *int
}

// handsKey is what a kind calls its hands; "": it has none.
func handsKeyOf(kind gateway.Kind) string {
	switch kind {
	case gateway.Orchestrator:
		return "workers"
	case gateway.Routing:
		return "routes"
	}
	return ""
}

// handNoun is what a kind calls one of its hands.
func handNoun(kind gateway.Kind) string {
	switch kind {
	case gateway.Orchestrator:
		return "worker"
	case gateway.Routing:
		return "route"
	}
	return "tool"
}

// has are the names by which a pattern knows what it may call.
func (p PatternConfig) has() []string {
	if len(p.Hands) == 0 {
		return p.Tools
	}
	names := make([]string, len(p.Hands))
	for i, h := range p.Hands {
		names[i] = h.Name
	}
	return names
}

// hand is the worker or route of that name.
func (p PatternConfig) hand(name string) (HandConfig, bool) {
	at := slices.IndexFunc(p.Hands, func(h HandConfig) bool { return h.Name == name })
	if at < 0 {
		return HandConfig{}, false
	}
	return p.Hands[at], true
}

// handDown notes a limit of its kind that who calls it has lower.
func (p *PatternConfig) handDown(limit string, figure float64) {
	if p.Handed == nil {
		p.Handed = map[string]float64{}
	}
	p.Handed[limit] = figure
}

// own is the name by which rules, windows and records know what the pattern calls so.
func (p PatternConfig) ownName(name string) string {
	if h, ok := p.hand(name); ok {
		return h.of()
	}
	return name
}

// of is the tool or the pattern.
func (h HandConfig) of() string {
	if h.Pattern != "" {
		return h.Pattern
	}
	return h.Tool
}

// calls are what may be called, by the names that rules know.
func (p PatternConfig) calls() []string {
	if p.Kind == gateway.Call {
		return []string{p.Tool}
	}
	_, execution := p.allows()
	names := make([]string, 0, len(execution))
	for _, name := range execution {
		if own := p.ownName(name); !slices.Contains(names, own) {
			names = append(names, own)
		}
	}
	return names
}

// newPattern is a pattern of the file's own of which nothing was said.
func newPattern(name string, kind gateway.Kind, at grammar.Position) PatternConfig {
	p := PatternConfig{Name: name, Kind: kind, Enabled: true, At: at, Budget: gateway.OwnBudget(kind), Approver: newApprover()}
	if kind != gateway.Call {
		p.Goal = goalName
	}
	if kind == gateway.Planning {
		p.Planning.Require = patterns.RequireNone
	}
	return p
}

// newCall is a pattern of kind call of which nothing was said.
func newCall(name string, at grammar.Position) PatternConfig {
	return newPattern(name, gateway.Call, at)
}

// newApprover is an approver of whom nothing was said.
func newApprover() patterns.Approver {
	return patterns.Approver{CapUSD: 800, Expires: 24 * time.Hour, Least: gateway.UserAssurance}
}

// goalName is what a pattern's text is called where the file does not say.
const goalName = "goal"

// own reports a pattern that is not built in.
func (p PatternConfig) own() bool { return !slices.Contains(builtinNames, p.Name) }

// Equipped reports whether a pattern has a tool. One that has none is not listed.
func (p PatternConfig) Equipped() bool { return len(p.has()) > 0 || p.Tool != "" }
