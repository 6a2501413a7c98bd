package step

import (
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// What patterns do with what a file declares of them (spec/config.md section 7).

// inputMember is the payload's member in which a declared pattern's inputs travel.
const inputMember = "input"

// Instruct words what the pattern's owner tells the model, once a run: the inputs stay what they are.
func (l *Log) Instruct(inputs patterns.Inputs) {
	l.inputs, l.words, l.wordless = inputs, "", false
	if l.Spec.Instructions == nil {
		return
	}
	words, err := l.Spec.Instructions(inputs)
	if l.words, l.wordless = words, err != nil; err == nil && words != "" {
		l.words = "\nInstructions of who runs this server:\n" + words + "\n"
	}
}

// AsDeclared lays what the file declares over a question. It cannot be asked where the instructions would be too long with these
// inputs: to ask without them would be another question.
func (l *Log) AsDeclared(phase string, q patterns.Question) (patterns.Question, *Stop) {
	if l.wordless {
		return q, Stopped(phase, "llm_error:bad_request")
	}
	if (l.Spec.Declared || l.Spec.Kind != gateway.Orchestrator) && len(l.inputs) > 0 { // the built-in one has them at the top
		q.Payload = maps.Clone(q.Payload)
		q.Payload[inputMember] = map[string]any(l.inputs)
		q.Prompt += inputWords
	}
	q.Prompt += l.answerWords(q.Ask) + l.words
	return q, nil
}

// inputWords say what the inputs are.
const inputWords = "\nThe payload's member input holds the values that came with the goal; use them as they are.\n"

// answerWords say what the answer of a closing action has to be where the pattern declares it; "" of other questions. Of one that
// is a final answer itself the model's adapter says so, see [patterns.Question.Answer].
func (l *Log) answerWords(a patterns.Ask) string {
	if l.Spec.Answer == nil || a != patterns.AskAction {
		return ""
	}
	return "\nThe answer of a final action is an object that fits this schema:\n" + string(l.Spec.Answer.JSON()) + "\n"
}

// Goals are the arguments of a worker or route that are the run's own goal where nobody says otherwise: of a pattern, whose run it
// begins, its goal.
func (l *Log) Goals(name string) map[string]any {
	tool, known := l.Spec.Catalog.Tool(name)
	if !known || tool.Goal == "" || ijson.Blank(l.Task.Goal) {
		return nil
	}
	return map[string]any{tool.Goal: l.Task.Goal}
}

// OnlyValues are a worker's or route's arguments that can have one value only: the run's own inputs.
func (l *Log) OnlyValues(name string) map[string]any {
	tool, known := l.Spec.Catalog.Tool(name)
	if !known {
		return nil
	}
	fill := map[string]any{}
	for _, input := range slices.Sorted(maps.Keys(l.inputs)) {
		v := l.inputs[input]
		if patterns.TakesArgument(tool, input) && (!l.Spec.Declared || tool.Input.CheckGiven(map[string]any{input: v}) == nil) {
			fill[input] = v
		}
	}
	return fill
}

// Hidden are arguments of which no proposal needs to say anything: the pattern sets them, or fills them in.
func (l *Log) Hidden() []string {
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
