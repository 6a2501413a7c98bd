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

// Pattern declares one pattern. It is one MCP tool, or four if its kind is planning.
type Pattern struct {
	Name    string
	Kind    gateway.Kind
	Enabled bool
	At      grammar.Position // of a pattern of the file's own
	// Title is for people, Description for models. With kind call both can be empty: then the tool's own apply.
	Title, Description string
	// Input holds the arguments besides the kind's own: a JSON schema by name; nil means none. Goal is the name of the
	// argument with the goal.
	Input  json.RawMessage
	Goal   string
	Budget gateway.Budget
	// Tools are the names of its tools: the demo's or the file's own. A built-in pattern without any is not listed; see
	// [Pattern.Equipped].
	Tools []string
	// Hands are its workers or routes, if the file sets them: tools and patterns under names of its own. Then Tools is
	// empty.
	Hands []Hand
	// Tool is the tool that a pattern of kind call calls.
	Tool string
	// Policy lists what a plan, route or action can name, Execution what can be called. An empty list allows nothing. With
	// kind planning they only narrow Tools, and nil does not narrow.
	Policy, Execution []string
	Judge             string         // the policy that judges its calls; "": none
	Params            map[string]any // replace that policy's
	Approver          patterns.Approver
	Planning          Planning   // of kind planning
	Critical          []string   // workers whose failure stops a run, whatever its plan says
	Aggregate         *Aggregate // of kind orchestrator; nil: the default of the kind
	Finalize          patterns.Finalize
	// Instructions is a text/template over the inputs. The model gets its text after Patterngate's own prompts.
	Instructions string
	LLM          PatternLLM
	Answer       json.RawMessage // schema of the final answer, by member a JSON schema; nil: text
	// Handed are defaults of the kind, by name, that are higher than the limit of a pattern which calls this one. The file
	// does not set them, and must not.
	Handed map[string]float64
}

// Hand is a worker or a route: a tool, or a pattern of which each call begins a run.
type Hand struct {
	Name          string
	Item          int    // its place in a list of tools, from 1; 0: the file gives it a name
	Tool, Pattern string // exactly one is set
	Description   string // "": the tool's or the pattern's
	Reroute       string // of a route: CEL over result; "": the status needs_reroute reroutes
}

// Aggregate says how the results of an orchestrator's tasks are joined.
type Aggregate struct {
	Fields []grammar.NamedExpression // in the order of the file: a field can read those before it
	Health []Health
}

// Health is a colour and the CEL expression that gives it.
type Health struct{ Is, When string }

// PatternLLM holds the llm settings of a pattern. A member that is not set takes the value of [LLM].
type PatternLLM struct {
	Provider, Role, Model string   // "": not set
	Temperature           *float64 // nil: not set
	ResponseFormat        string
	RepairTurns           *int
}

// handsKeyOf returns the key that lists the workers or routes of a kind, or "" if the kind has none.
func handsKeyOf(kind gateway.Kind) string {
	switch kind {
	case gateway.Orchestrator:
		return "workers"
	case gateway.Routing:
		return "routes"
	}
	return ""
}

// handNoun returns the word for one item of that list: worker, route or tool.
func handNoun(kind gateway.Kind) string {
	switch kind {
	case gateway.Orchestrator:
		return "worker"
	case gateway.Routing:
		return "route"
	}
	return "tool"
}

// CallNames returns the names that the pattern uses for what it can call.
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

// HandNamed returns the worker or route of that name.
func (p Pattern) HandNamed(name string) (Hand, bool) {
	at := slices.IndexFunc(p.Hands, func(h Hand) bool { return h.Name == name })
	if at < 0 {
		return Hand{}, false
	}
	return p.Hands[at], true
}

// handDown records a default of the kind that is higher than the limit of a calling pattern.
func (p *Pattern) handDown(limit string, figure float64) {
	if p.Handed == nil {
		p.Handed = map[string]float64{}
	}
	p.Handed[limit] = figure
}

// OwnName returns the real name of what the pattern calls name: that of the tool or pattern. Rules, windows and records use
// it.
func (p Pattern) OwnName(name string) string {
	if h, ok := p.HandNamed(name); ok {
		return h.Target()
	}
	return name
}

// Target returns the name of the tool or pattern.
func (h Hand) Target() string {
	if h.Pattern != "" {
		return h.Pattern
	}
	return h.Tool
}

// RuleNames returns what the pattern can call, by the names that rules use.
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

// newPattern returns a pattern of the file's own with the defaults of its kind.
func newPattern(name string, kind gateway.Kind, at grammar.Position) Pattern {
	p := Pattern{Name: name, Kind: kind, Enabled: true, At: at, Budget: gateway.OwnBudget(kind), Approver: newApprover()}
	if kind != gateway.Call {
		p.Goal = GoalName
	}
	if kind == gateway.Planning {
		p.Planning.Require = patterns.RequireNone
	}
	return p
}

// newCall returns a pattern of kind call with its defaults.
func newCall(name string, at grammar.Position) Pattern {
	return newPattern(name, gateway.Call, at)
}

// newApprover returns the default approver.
func newApprover() patterns.Approver {
	return patterns.Approver{CapUSD: 800, Expires: 24 * time.Hour, Least: gateway.UserAssurance}
}

// GoalName is the default name of the argument with the goal.
const GoalName = "goal"

// IsOwn reports whether the pattern is not built in.
func (p Pattern) IsOwn() bool { return !slices.Contains(BuiltinPatterns, p.Name) }

// Equipped reports whether the pattern has a tool. A pattern without one is not listed.
func (p Pattern) Equipped() bool { return len(p.CallNames()) > 0 || p.Tool != "" }

// GoalName returns the name of the goal argument for a spec, or "" if it is the kind's default.
func (p Pattern) GoalName() string {
	if !p.IsOwn() && p.Goal == EmbeddedPattern(p.Name).Goal {
		return ""
	}
	return p.Goal
}

// Texts returns the title and description of a pattern. For a built-in pattern, it returns "" for a text that the file does
// not change.
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

// Planning holds the settings that only kind planning has.
type Planning struct {
	// Require says which plans a person approves whole before anything of them runs.
	Require patterns.RequireApproval
}

const maxTemperature = 2

// allowed returns the tools that are also in narrow, each once. A nil narrow removes nothing.
func allowed(tools, narrow []string) []string {
	list := make([]string, 0, len(tools))
	for _, name := range tools {
		if !slices.Contains(list, name) && (narrow == nil || slices.Contains(narrow, name)) {
			list = append(list, name)
		}
	}
	return list
}

// Allows returns what a plan, route or action of the pattern can name, and what can be called.
func (p Pattern) Allows() (policy, execution []string) {
	if p.Kind != gateway.Planning {
		return p.Policy, p.Execution
	}
	return allowed(p.Tools, p.Policy), allowed(p.Tools, p.Execution)
}

// narrowKey returns a namesKey whose value can be unset, which is shown as null.
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

// Instructed returns a kind's prompts with the instructions of the configuration added. If the instructions depend on
// inputs, it returns the prompts unchanged.
func Instructed(p patterns.Prompts, in prompts.Instructions) patterns.Prompts {
	text, err := in.Words(nil)
	if err != nil || text == "" {
		return p
	}
	for _, prompt := range []*string{&p.Decide, &p.Answer, &p.Replan, &p.Work} {
		*prompt += operatorInstructions(text)
	}
	return p
}

// planningBudgetKeys returns the keys of the limits of kind planning (spec/config.md section 7, Budgets).
func planningBudgetKeys(b *gateway.Budget) []grammar.Key {
	return []grammar.Key{
		grammar.Count("max_subtasks", &b.MaxSubtasks, 0, grammar.MaxCount).Means("Subtasks of a plan, of all rounds together. No call can ask for more."),
		grammar.Count("max_depth", &b.MaxDepth, 0, grammar.MaxCount).Means("Depth of a plan's tree. No call can ask for more."),
		limitKey("max_replans", &b.MaxReplans, grammar.MaxCount).Means("Accepted replans of a plan."),
		grammar.Count("max_iterations", &b.MaxIterations, 0, grammar.MaxCount).Means("Rounds of an iterative plan."),
		grammar.Count("min_subtasks", &b.MinSubtasks, 0, grammar.MaxCount).Means("The fewest subtasks of a plan. Later rounds and replans can have fewer."),
		grammar.Count("max_concurrent", &b.MaxConcurrent, 1, 256).Means("Subtasks that run at the same time. No call can ask for more."),
		grammar.Count("max_retries", &b.MaxRetries, 0, grammar.MaxCount).Means("Retries of a subtask. No call can ask for more."),
		grammar.Seconds("subtask_timeout_seconds", &b.SubtaskTimeout, grammar.MaxSeconds).Means("How long one call of a tool can take."),
		callsPerToolKey(b),
	}
}

// acrossPlanning warns about demo tools in allow lists of planning patterns that the pattern's tools do not contain.
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
					r.Faults.Warn(r.Places[path.String()], path.Item(at), yamldoc.Fault{Reason: notAmongTools(tool), Want: wantInToolsAt(here.Key("tools").String())})
				}
			}
		}
	}
}
