package patterns

import (
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// HandedIn reads what a caller sent for a turn: {route} or {actions}, and whether the model is to go on.
func HandedIn(v any, argument string) (batch []document.Intent, handover bool) {
	sent, _ := v.(map[string]any)
	if intent, ok := sent[argument]; ok {
		batch = Proposals(argument, intent)
	}
	return batch, sent["continue_with"] == "model"
}

// Proposals are what a caller hands in by an argument: each of a list of actions, or one plan or route. Of an empty list
// they are empty, not nil: the caller proposes, and has proposed nothing yet.
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
