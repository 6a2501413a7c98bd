package cli

import (
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// PlanningConfig is what a pattern of kind planning has besides the others.
type PlanningConfig struct {
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

// allows are what a plan, route or action of the pattern may name, and what may be called.
func (p PatternConfig) allows() (policy, execution []string) {
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

// instructed are a kind's prompts with what the configuration adds to each: what is the same in every run.
func instructed(p patterns.Prompts, in prompts.Instructions) patterns.Prompts {
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
func (r *configLoader) acrossPlanning(c *Config) {
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
				if slices.Contains(demoTools, tool) && !slices.Contains(p.Tools, tool) {
					r.Faults.Warn(r.Places[path.String()], path.Item(at), yamldoc.Fault{Reason: tool + " is not among tools", Want: "write it in " + here.Key("tools").String() + " too"})
				}
			}
		}
	}
}
