package assembly

import (
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// handsChanged adds a line for each worker or route that is new, calls another tool or pattern, or has another reroute
// condition.
func handsChanged(w *looseness, path []string, was, is any) {
	before := handsOf(was)
	list, _ := is.([]any)
	for _, item := range list {
		for name, v := range membersOfAny(item) { // one
			hand, old := membersOfAny(v), membersOfAny(before[name])
			switch {
			case before[name] == nil:
				w.add(path, itemAdded, name)
			case !ijson.Equal(hand["tool"], old["tool"]) || !ijson.Equal(hand["pattern"], old["pattern"]):
				w.add(path, callsOther, name)
			case !ijson.Equal(hand["reroute"], old["reroute"]):
				w.add(path, rerouteChanged, name)
			}
		}
	}
}

// handsOf returns workers or routes by their names.
func handsOf(v any) map[string]any {
	all := map[string]any{}
	list, _ := v.([]any)
	for _, item := range list {
		for name, hand := range membersOfAny(item) {
			all[name] = hand
		}
	}
	return all
}

func membersOfAny(v any) map[string]any {
	members, _ := v.(map[string]any)
	return members
}

// lowered adds a line if a minimum is lower.
func lowered(w *looseness, path []string, was, is any) {
	before, had := was.(float64)
	if after, _ := is.(float64); had && after < before {
		w.add(path, limitLowered, yamldoc.NumberText(before), yamldoc.NumberText(after))
	}
}

// raisedOrOther is raised for a limit that has a default of the kind if it is not set.
func raisedOrOther(w *looseness, path []string, was, is any) {
	_, had := was.(float64)
	if _, has := is.(float64); had != has {
		w.add(path, "changed")
		return
	}
	raised(w, path, was, is)
}

// changedOrGone adds a line if a value is changed or removed.
func changedOrGone(w *looseness, path []string, was, is any) {
	if was != nil {
		anyChange(w, path, was, is)
	}
}
