package cli

import (
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm"
)

// PlanningConfig is what a pattern of kind planning has besides the others.
type PlanningConfig struct {
	// Require says which plans a person approves whole before anything of them runs.
	Require patterns.RequireApproval
	// Model and Temperature lie over those of [LLMConfig]; "" and nil do not.
	Model       string
	Temperature *float64
	// Instructions is what the model is told after our own prompts: a text/template over no inputs.
	Instructions string
}

const maxTemperature = 2

// keys are those of spec/config.md section 7 that come with planning; known are the tools that there are.
func (c *PlanningConfig) keys(p *PatternConfig, known []string) []configKey {
	return []configKey{
		toolListKey("tools", &p.Tools).means("The tools that a plan may name and that may be called; [] is none. Besides them a subtask may be the model's or the caller's work. The demo's refund tools are judged by the refund policy here too."),
		groupKey("allow",
			narrowKey("policy", &p.Policy, known, p.Kind).means("Narrows tools for what a plan may name. Not set: all of them; [] is nothing."),
			narrowKey("execution", &p.Execution, known, p.Kind).means("Narrows tools for what may be called. Not set: all of them; [] is nothing."),
		),
		wordKey("require_approval", &c.Require, patterns.RequireNone, patterns.RequirePlan, patterns.RequireWrite).
			means("Which plans a person approves whole, tools, order and arguments, before anything of them runs. plan: every plan; write: those in which a tool writes or destroys; none: no plan."),
		groupKey("llm",
			optionalTextKey("model", &c.Model, faultOfModel).means("The model of this pattern. Not set: llm.model."),
			optionalNumberKey("temperature", &c.Temperature, bounds{max: maxTemperature}).means("The temperature of this pattern. Not set: llm.temperature."),
		),
		instructionsKey("instructions", &c.Instructions).means("What the model is told after this program's own prompts, at most 8 KiB: a Go template over the pattern's inputs, of which planning has none."),
		groupKey("approver", approverKeys(&p.Approver)...),
	}
}

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
func narrowKey(name string, target *[]string, known []string, kind gateway.Kind) configKey {
	key := namesKey(name, target, known, kind)
	key.show = func() any {
		if *target == nil {
			return nil
		}
		return *target
	}
	return key
}

// optionalTextKey is a textKey that may be not set, which is shown as null.
func optionalTextKey(name string, target *string, check func(string) Fault) configKey {
	key := textKey(name, target, check)
	key.show = func() any {
		if *target == "" {
			return nil
		}
		return *target
	}
	return key
}

// optionalNumberKey is a numberKey that may be not set, which is shown as null.
func optionalNumberKey(name string, target **float64, b bounds) configKey {
	key := scaledKey(name, b,
		func() any {
			if *target == nil {
				return nil
			}
			return **target
		},
		func(v float64) { *target = &v })
	key.numeric = false // not set is no limit that is missing
	return key
}

func instructionsKey(name string, target *string) configKey {
	key := textKey(name, target, faultOfInstructions)
	key.takes = "text, at most 8 KiB"
	return key
}

// faultOfInstructions reads a template over no inputs.
func faultOfInstructions(text string) Fault {
	_, f := llm.NewInstructions(text, nil)
	if f == nil {
		return Fault{}
	}
	return Fault{Reason: f.Reason, Got: f.Got, Want: f.Want, DidYouMean: f.DidYouMean}
}

// instructed are a kind's prompts with what the configuration adds to each.
func instructed(p patterns.Prompts, instructions string) patterns.Prompts {
	in, _ := llm.NewInstructions(instructions, nil) // checked when it was read
	text, err := in.Words(nil)
	if err != nil || text == "" {
		return p
	}
	for _, prompt := range []*string{&p.Decide, &p.Answer, &p.Replan, &p.Work} {
		*prompt += "\nInstructions of who runs this server:\n" + text + "\n"
	}
	return p
}

// laidOver is who answers for a pattern that may say otherwise.
func (c LLMConfig) laidOver(p PlanningConfig) LLMConfig {
	if p.Model != "" {
		c.Model = p.Model
	}
	if p.Temperature != nil {
		c.Temperature = *p.Temperature
	}
	return c
}

// planningBudgetKeys are the limits of kind planning (spec/config.md section 7, Budgets).
func planningBudgetKeys(b *gateway.Budget) []configKey {
	return []configKey{
		countKey("max_subtasks", &b.MaxSubtasks, 0, maxCount).means("Subtasks of a plan, those of all rounds together; no call may ask for more."),
		countKey("max_depth", &b.MaxDepth, 0, maxCount).means("Depth of a plan's tree; no call may ask for more."),
		limitKey("max_replans", &b.MaxReplans, maxCount).means("Accepted replans of a plan."),
		countKey("max_iterations", &b.MaxIterations, 0, maxCount).means("Rounds of an iterative plan."),
		countKey("min_subtasks", &b.MinSubtasks, 0, maxCount).means("Subtasks that a plan has at least; not of later rounds and replans."),
		countKey("max_concurrent", &b.MaxConcurrent, 1, 256).means("Subtasks at once; no call may ask for more."),
		countKey("max_retries", &b.MaxRetries, 0, maxCount).means("Further attempts at a subtask; no call may ask for more."),
		secondsKey("subtask_timeout_seconds", &b.SubtaskTimeout, maxBudget).means("How long one call of a tool may take."),
		limitKey("max_calls_per_tool", &b.MaxCallsPerTool, maxCount).means("Calls of one tool in a run."),
	}
}

// acrossPlanning warns of names that narrow nothing, since tools does not have them.
func (r *configReader) acrossPlanning(c *Config) {
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if p.Kind != gateway.Planning {
			continue
		}
		here := (*keyPath)(nil).key("patterns").key(p.Name)
		for _, list := range []struct {
			name  string
			tools []string
		}{{"policy", p.Policy}, {"execution", p.Execution}} {
			path := here.key("allow").key(list.name)
			for at, tool := range list.tools {
				if slices.Contains(demoTools, tool) && !slices.Contains(p.Tools, tool) {
					r.faults.warn(r.places[path.String()], path.item(at), Fault{Reason: tool + " is not among tools", Want: "write it in " + here.key("tools").String() + " too"})
				}
			}
		}
	}
}
