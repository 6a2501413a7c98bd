package settings

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// Pattern declares one pattern: a tool, of kind planning four.
type Pattern struct {
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
	// Tools are what it has: those of the demo, or the file's own. A built-in without any is not listed; see [Pattern.Equipped].
	Tools []string
	// Hands are its workers or routes, where the file names them so: tools and patterns under names of its own. Then it has no Tools.
	Hands []Hand
	// Tool is what a pattern of kind call calls.
	Tool string
	// Policy is what a plan, route or action may name, Execution what may be called. An empty list allows nothing.
	// Of kind planning they only narrow its tools, and nil does not.
	Policy, Execution []string
	Judge             string         // the policy that judges its calls; "": none
	Params            map[string]any // laid over that policy's
	Approver          patterns.Approver
	Planning          Planning   // of kind planning
	Critical          []string   // workers without whose result a run stops, whatever its plan says
	Aggregate         *Aggregate // of kind orchestrator; nil: as the kind joins
	Finalize          patterns.Finalize
	// Instructions is what the model is told after our own prompts: a text/template over the inputs.
	Instructions string
	LLM          PatternLLM
	Answer       json.RawMessage // what the final answer must be, by member a JSON schema; nil: text
	// Handed are limits of its kind, by name, which a pattern that calls it has lower. The file does not say them, and may not.
	Handed map[string]float64
}

// Hand is a worker or a route: a tool, or a pattern of which each call begins a run.
type Hand struct {
	Name          string
	Item          int    // its place in a list of tools, from 1; 0: it stands under its name
	Tool, Pattern string // one of them
	Description   string // "": the tool's or the pattern's
	Reroute       string // of a route: CEL over result; "": whether its status is needs_reroute
}

// Aggregate says how the results of an orchestrator's tasks are joined.
type Aggregate struct {
	Fields []grammar.NamedExpression // in the order of the file: one may read those before it
	Health []Health
}

// Health is a colour and when it is so.
type Health struct{ Is, When string }

// PatternLLM is who answers a pattern's questions. What it does not say is that of [LLM].
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

// CallNames are the names by which a pattern knows what it may call.
func (p Pattern) CallNames() []string {
	if len(p.Hands) == 0 {
		return p.Tools
	}
	names := make([]string, len(p.Hands))
	for i, h := range p.Hands {
		names[i] = h.Name
	}
	return names
}

// HandNamed is the worker or route of that name.
func (p Pattern) HandNamed(name string) (Hand, bool) {
	at := slices.IndexFunc(p.Hands, func(h Hand) bool { return h.Name == name })
	if at < 0 {
		return Hand{}, false
	}
	return p.Hands[at], true
}

// handDown notes a limit of its kind that who calls it has lower.
func (p *Pattern) handDown(limit string, figure float64) {
	if p.Handed == nil {
		p.Handed = map[string]float64{}
	}
	p.Handed[limit] = figure
}

// own is the name by which rules, windows and records know what the pattern calls so.
func (p Pattern) OwnName(name string) string {
	if h, ok := p.HandNamed(name); ok {
		return h.Target()
	}
	return name
}

// Target is the tool or the pattern.
func (h Hand) Target() string {
	if h.Pattern != "" {
		return h.Pattern
	}
	return h.Tool
}

// RuleNames are what may be called, by the names that rules know.
func (p Pattern) RuleNames() []string {
	if p.Kind == gateway.Call {
		return []string{p.Tool}
	}
	_, execution := p.Allows()
	names := make([]string, 0, len(execution))
	for _, name := range execution {
		if own := p.OwnName(name); !slices.Contains(names, own) {
			names = append(names, own)
		}
	}
	return names
}

// NewPattern is a pattern of the file's own of which nothing was said.
func NewPattern(name string, kind gateway.Kind, at grammar.Position) Pattern {
	p := Pattern{Name: name, Kind: kind, Enabled: true, At: at, Budget: gateway.OwnBudget(kind), Approver: newApprover()}
	if kind != gateway.Call {
		p.Goal = GoalName
	}
	if kind == gateway.Planning {
		p.Planning.Require = patterns.RequireNone
	}
	return p
}

// newCall is a pattern of kind call of which nothing was said.
func newCall(name string, at grammar.Position) Pattern {
	return NewPattern(name, gateway.Call, at)
}

// newApprover is an approver of whom nothing was said.
func newApprover() patterns.Approver {
	return patterns.Approver{CapUSD: 800, Expires: 24 * time.Hour, Least: gateway.UserAssurance}
}

// GoalName is what a pattern's text is called where the file does not say.
const GoalName = "goal"

// IsOwn reports a pattern that is not built in.
func (p Pattern) IsOwn() bool { return !slices.Contains(BuiltinPatterns, p.Name) }

// Equipped reports whether a pattern has a tool. One that has none is not listed.
func (p Pattern) Equipped() bool { return len(p.CallNames()) > 0 || p.Tool != "" }

// GoalName is what a spec calls its goal; "" where it is what the kind calls it by itself.
func (p Pattern) GoalName() string {
	if !p.IsOwn() && p.Goal == EmbeddedPattern(p.Name).Goal {
		return ""
	}
	return p.Goal
}

// Texts is what a pattern of the file's own says of itself; of a built-in what the file changed; "" for its own words.
func (p Pattern) Texts() (title, description string) {
	if p.IsOwn() {
		return p.Title, p.Description
	}
	built := EmbeddedPattern(p.Name)
	if title = p.Title; title == built.Title {
		title = ""
	}
	if description = p.Description; description == built.Description {
		description = ""
	}
	return strings.TrimSpace(title), strings.TrimSpace(description)
}

// Planning is what a pattern of kind planning has besides the others.
type Planning struct {
	// Require says which plans a person approves whole before anything of them runs.
	Require patterns.RequireApproval
}

const maxTemperature = 2

// allowed is a list of tools, each once, that another may narrow; nil narrows nothing.
func allowed(tools, narrow []string) []string {
	list := make([]string, 0, len(tools))
	for _, name := range tools {
		if !slices.Contains(list, name) && (narrow == nil || slices.Contains(narrow, name)) {
			list = append(list, name)
		}
	}
	return list
}

// Allows are what a plan, route or action of the pattern may name, and what may be called.
func (p Pattern) Allows() (policy, execution []string) {
	if p.Kind != gateway.Planning {
		return p.Policy, p.Execution
	}
	return allowed(p.Tools, p.Policy), allowed(p.Tools, p.Execution)
}

// narrowKey is a namesKey that may be not set, which is shown as null.
func narrowKey(name string, target *[]string, known []string, kind gateway.Kind) grammar.Key {
	key := namesKey(name, target, known, kind)
	key.Show = func() any {
		if *target == nil {
			return nil
		}
		return *target
	}
	return key
}

// Instructed are a kind's prompts with what the configuration adds to each: what is the same in every run.
func Instructed(p patterns.Prompts, in prompts.Instructions) patterns.Prompts {
	text, err := in.Words(nil)
	if err != nil || text == "" {
		return p
	}
	for _, prompt := range []*string{&p.Decide, &p.Answer, &p.Replan, &p.Work} {
		*prompt += "\nInstructions of who runs this server:\n" + text + "\n"
	}
	return p
}

// planningBudgetKeys are the limits of kind planning (spec/config.md section 7, Budgets).
func planningBudgetKeys(b *gateway.Budget) []grammar.Key {
	return []grammar.Key{
		grammar.Count("max_subtasks", &b.MaxSubtasks, 0, grammar.MaxCount).Means("Subtasks of a plan, those of all rounds together; no call may ask for more."),
		grammar.Count("max_depth", &b.MaxDepth, 0, grammar.MaxCount).Means("Depth of a plan's tree; no call may ask for more."),
		limitKey("max_replans", &b.MaxReplans, grammar.MaxCount).Means("Accepted replans of a plan."),
		grammar.Count("max_iterations", &b.MaxIterations, 0, grammar.MaxCount).Means("Rounds of an iterative plan."),
		grammar.Count("min_subtasks", &b.MinSubtasks, 0, grammar.MaxCount).Means("Subtasks that a plan has at least; not of later rounds and replans."),
		grammar.Count("max_concurrent", &b.MaxConcurrent, 1, 256).Means("Subtasks at once; no call may ask for more."),
		grammar.Count("max_retries", &b.MaxRetries, 0, grammar.MaxCount).Means("Further attempts at a subtask; no call may ask for more."),
		grammar.Seconds("subtask_timeout_seconds", &b.SubtaskTimeout, grammar.MaxSeconds).Means("How long one call of a tool may take."),
		limitKey("max_calls_per_tool", &b.MaxCallsPerTool, grammar.MaxCount).Means("Calls of one tool in a run."),
	}
}

// acrossPlanning warns of names that narrow nothing, since tools does not have them.
func (r *loader) acrossPlanning(c *Config) {
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if p.Kind != gateway.Planning {
			continue
		}
		here := (*yamldoc.Path)(nil).Key("patterns").Key(p.Name)
		for _, list := range []struct {
			name  string
			tools []string
		}{{"policy", p.Policy}, {"execution", p.Execution}} {
			path := here.Key("allow").Key(list.name)
			for at, tool := range list.tools {
				if slices.Contains(DemoTools, tool) && !slices.Contains(p.Tools, tool) {
					r.Faults.Warn(r.Places[path.String()], path.Item(at), yamldoc.Fault{Reason: tool + " is not among tools", Want: "write it in " + here.Key("tools").String() + " too"})
				}
			}
		}
	}
}
