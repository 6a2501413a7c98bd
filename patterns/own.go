package patterns

import (
	"maps"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
)

// What patterns do with what a file declares of them (spec/config.md section 7).

// inputMember is the payload's member in which a declared pattern's inputs travel.
const inputMember = "input"

// GoalArgument is what the argument with the run's goal is called.
func (s Spec) GoalArgument() string {
	switch {
	case s.Goal != "":
		return s.Goal
	case s.Kind == gateway.Routing:
		return "ticket"
	}
	return "goal"
}

// Finalizes reports whether a final text is written where the call does not say: proposes is whether the intent is the caller's,
// configured whether the user set a model up.
func (s Spec) Finalizes(proposes, configured bool) bool {
	switch s.Finalize {
	case FinalizeYes:
		return true
	case FinalizeNo:
		return false
	}
	return configured || !proposes
}

// instruct words what the pattern's owner tells the model, once a run: the inputs stay what they are.
func (l *log) instruct(inputs Inputs) {
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
func (l *log) asOwned(phase string, q Question) (Question, *stop) {
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

// answerWords say what a final answer has to be where the pattern declares it; "" of other questions.
func (l *log) answerWords(a Ask) string {
	switch {
	case l.spec.Answer == nil:
		return ""
	case a == AskAnswer:
		return "\nThe answer is no prose: reply with one JSON object that fits this schema, and nothing else:\n" + string(l.spec.Answer.JSON()) + "\n"
	case a == AskAction:
		return "\nThe answer of a final action is an object that fits this schema:\n" + string(l.spec.Answer.JSON()) + "\n"
	}
	return ""
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
		if takes(tool, input) && (!l.spec.Declared || tool.Input.CheckGiven(map[string]any{input: v}) == nil) {
			fill[input] = v
		}
	}
	return fill
}

// hidden are arguments of which no proposal needs to say anything: the pattern sets them, or fills them in.
func (l *log) hidden() []string {
	names := []string{}
	if l.spec.Kind == gateway.Orchestrator {
		names = append(names, requestID)
	}
	for _, t := range l.tools {
		if t.Goal != "" && !slices.Contains(names, t.Goal) {
			names = append(names, t.Goal)
		}
	}
	return names
}

// SetsRequestID reports whether an orchestrator gives a worker the run's id, whatever the plan says: those of the demo, and where
// the pattern is a built-in one all that take it.
func (s Spec) SetsRequestID(t catalog.Tool) bool {
	return (!s.Declared || t.Demo) && takes(t, requestID)
}
