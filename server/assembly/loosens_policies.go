package assembly

import (
	"maps"
	"slices"

	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/rules"
)

// policyChanged adds a line for each changed part of a policy. Every change of a policy counts as looser, as rules have no
// ranking. A new policy alone adds nothing: naming it in a pattern or tool does.
func policyChanged(w *looseness, path []string, was, is any) {
	before, after := policyParts(was), policyParts(is)
	switch {
	case was == nil:
		return
	case is == nil:
		w.add(path, "gone")
		return
	}
	found := len(w.found)
	for _, name := range slices.Sorted(maps.Keys(union(before.rules, after.rules))) {
		at := append(slices.Clone(path), "rules", name)
		old, had := before.rules[name].(map[string]any)
		now, has := after.rules[name].(map[string]any)
		switch {
		case ijson.Equal(before.rules[name], after.rules[name]):
		case had && !has:
			w.add(at, ruleRemoved, outcomeWord(old))
		case !had && has:
			w.add(at, ruleAdded, outcomeWord(now))
		default:
			w.add(at, ruleChanged, outcomeWord(old))
		}
	}
	for _, part := range []string{"params", "vars", "windows"} {
		if !ijson.Equal(before.others[part], after.others[part]) {
			w.add(append(slices.Clone(path), part), "changed")
		}
	}
	if len(w.found) == found { // only the order of rules or vars changed
		w.add(path, "changed")
	}
}

// policyPart is a policy as its rules by id and its other members.
type policyPart struct{ rules, others map[string]any }

func policyParts(v any) policyPart {
	p := policyPart{rules: map[string]any{}}
	text, _ := v.(string)
	p.others, _ = grammar.RawValue([]byte(text)).(map[string]any)
	list, _ := p.others["rules"].([]any)
	for _, item := range list {
		rule, _ := item.(map[string]any)
		id, _ := rule["id"].(string)
		p.rules[id] = item
	}
	return p
}

func outcomeWord(rule map[string]any) string {
	for _, outcome := range rules.Outcomes {
		if _, has := rule[outcome]; has {
			return outcome
		}
	}
	return ""
}
