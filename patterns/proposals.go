package patterns

import (
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// HandedIn reads the caller's input for a turn: {route} or {actions}, and whether the model continues after it.
func HandedIn(v any, argument string) (batch []document.Intent, handover bool) {
	sent, _ := v.(map[string]any)
	if intent, ok := sent[argument]; ok {
		batch = Proposals(argument, intent)
	}
	return batch, sent["continue_with"] == "model"
}

// Proposals returns the proposals in an argument: each action of a list, or one plan or route. For an empty list it returns an empty
// slice, not nil: the caller proposes, but has proposed nothing yet.
func Proposals(argument string, v any) []document.Intent {
	at := ijson.Pointer("").Member(argument)
	actions, isList := v.([]any)
	if argument != "actions" || !isList {
		return []document.Intent{document.FromCaller(v, at)}
	}
	list := make([]document.Intent, len(actions))
	for i, action := range actions {
		list[i] = document.FromCaller(action, at.Index(i))
	}
	return list
}
