package kinds

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

// instruct words what the pattern's owner tells the model, once a run: the inputs stay what they are.
func (l *log) instruct(inputs patterns.Inputs) {
	l.inputs, l.words, l.wordless = inputs, "", false
	if l.spec.Instructions == nil {
		return
	}
	words, err := l.spec.Instructions(inputs)
	if l.words, l.wordless = words, err != nil; err == nil && words != "" {
		l.words = "\nInstructions of who runs this server:\n" + words + "\n"
	}
}

// asOwned lays what the file declares over a question. It cannot be asked where the instructions would be too long with these
// inputs: to ask without them would be another question.
func (l *log) asOwned(phase string, q patterns.Question) (patterns.Question, *stop) {
	if l.wordless {
		return q, stopped(phase, "llm_error:bad_request")
	}
	if (l.spec.Declared || l.spec.Kind != gateway.Orchestrator) && len(l.inputs) > 0 { // the built-in one has them at the top
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
func (l *log) answerWords(a patterns.Ask) string {
	if l.spec.Answer == nil || a != patterns.AskAction {
		return ""
	}
	return "\nThe answer of a final action is an object that fits this schema:\n" + string(l.spec.Answer.JSON()) + "\n"
}

// goals are the arguments of a worker or route that are the run's own goal where nobody says otherwise: of a pattern, whose run it
// begins, its goal.
func (l *log) goals(name string) map[string]any {
	tool, known := l.spec.Catalog.Tool(name)
	if !known || tool.Goal == "" || ijson.Blank(l.task.Goal) {
		return nil
	}
	return map[string]any{tool.Goal: l.task.Goal}
}

// onlyValues are a worker's or route's arguments that can have one value only: the run's own inputs.
func (l *log) onlyValues(name string) map[string]any {
	tool, known := l.spec.Catalog.Tool(name)
	if !known {
		return nil
	}
	fill := map[string]any{}
	for _, input := range slices.Sorted(maps.Keys(l.inputs)) {
		v := l.inputs[input]
		if patterns.TakesArgument(tool, input) && (!l.spec.Declared || tool.Input.CheckGiven(map[string]any{input: v}) == nil) {
			fill[input] = v
		}
	}
	return fill
}

// hidden are arguments of which no proposal needs to say anything: the pattern sets them, or fills them in.
func (l *log) hidden() []string {
	names := []string{}
	if l.spec.Kind == gateway.Orchestrator {
		names = append(names, patterns.RequestIDArgument)
	}
	for _, t := range l.tools {
		if t.Goal != "" && !slices.Contains(names, t.Goal) {
			names = append(names, t.Goal)
		}
	}
	return names
}
