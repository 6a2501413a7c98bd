package step

import (
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// This file applies what a configuration file declares for a pattern (spec/config.md section 7).

// inputMember is the member of the payload that holds a pattern's inputs.
const inputMember = "input"

// Instruct sets the run's inputs and the owner's instructions, which depend on the inputs. Every question to the model carries
// both.
func (l *Log) Instruct(inputs patterns.Inputs) {
	l.inputs, l.words, l.wordless = inputs, "", false
	if l.Spec.Instructions == nil {
		return
	}
	words, err := l.Spec.Instructions(inputs)
	if l.words, l.wordless = words, err != nil; err == nil && words != "" {
		l.words = "\nInstructions from the operator of this server:\n" + words + "\n"
	}
}

// Completed returns a question with the pattern's inputs, answer schema and instructions. It returns a stop if the instructions
// would be too long with these inputs: without them it would be another question.
func (l *Log) Completed(phase string, q patterns.Question) (patterns.Question, *Stop) {
	if l.wordless {
		return q, Stopped(phase, "llm_error:bad_request")
	}
	if !l.Spec.InputsOnTop && len(l.inputs) > 0 {
		q.Payload = maps.Clone(q.Payload)
		q.Payload[inputMember] = map[string]any(l.inputs)
		q.Prompt += inputWords
	}
	q.Prompt += l.answerWords(q.Ask) + l.words
	return q, nil
}

// inputWords tell the model what the inputs are.
const inputWords = "\nThe payload's member input holds the values that came with the goal; use them as they are.\n"

// answerWords returns what the answer of a closing action must be, if the pattern declares that. It returns "" for other
// questions. For a final answer the model's adapter adds this, see [patterns.Question.Answer].
func (l *Log) answerWords(a patterns.Ask) string {
	if l.Spec.Answer == nil || a != patterns.AskAction {
		return ""
	}
	return "\nThe answer of a final action is an object that fits this schema:\n" + string(l.Spec.Answer.JSON()) + "\n"
}

// GoalArgs returns the default goal of a worker or route that is a pattern: the run's own goal, under the argument's name. It
// returns nil for other tools, and if the run has no goal.
func (l *Log) GoalArgs(name string) map[string]any {
	tool, known := l.Spec.Catalog.Tool(name)
	if !known || tool.Goal == "" || ijson.Blank(l.Task.Goal) {
		return nil
	}
	return map[string]any{tool.Goal: l.Task.Goal}
}

// InputArgs returns the arguments of a worker or route that the run's own inputs fill. It returns nil for an unknown tool. It
// leaves out inputs that do not fit the tool's schema, unless the pattern fills those too.
func (l *Log) InputArgs(name string) map[string]any {
	tool, known := l.Spec.Catalog.Tool(name)
	if !known {
		return nil
	}
	fill := map[string]any{}
	for _, input := range slices.Sorted(maps.Keys(l.inputs)) {
		v := l.inputs[input]
		if patterns.TakesArgument(tool, input) && (l.Spec.FillsUnfit || tool.Input.CheckGiven(map[string]any{input: v}) == nil) {
			fill[input] = v
		}
	}
	return fill
}

// HiddenArgs returns the arguments that a proposal may omit, because the pattern sets them or fills them in.
func (l *Log) HiddenArgs() []string {
	names := []string{}
	if l.Spec.Kind == gateway.Orchestrator {
		names = append(names, patterns.RequestIDArgument)
	}
	for _, t := range l.Tools {
		if t.Goal != "" && !slices.Contains(names, t.Goal) {
			names = append(names, t.Goal)
		}
	}
	return names
}
