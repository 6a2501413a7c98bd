package offline

import (
	"fmt"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/patterns/llm/offline/english"
)

// Bounds of composed answers, in bytes.
const (
	maxAnswer   = 1200
	maxSentence = 420 // about one result
	maxText     = 160 // of one value
)

// composeAnswer makes the final text from the facts of a payload with a history, results of subtasks or an aggregate: no
// word of it comes from anywhere else.
func composeAnswer(payload map[string]any) string {
	var parts []string
	if aggregate, ok := payload["aggregate"].(map[string]any); ok {
		parts = aggregateSentences(aggregate)
	}
	history, _ := payload["history"].([]any)
	said := map[string]bool{}
	if results, ok := payload["subtask_results"].(map[string]any); ok {
		parts = resultsTold(results, said)
	}
	for _, row := range history {
		if step, ok := row.(map[string]any); ok {
			parts = append(parts, observed(calledIn(step), step["observation"], said))
		}
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	if len(parts) == 0 {
		return nothingFound
	}
	return joined(parts, maxAnswer)
}

// calledIn is the name of the tool, worker or target that a history row is about.
func calledIn(row map[string]any) string {
	for _, place := range []struct{ object, member string }{
		{"plan_step", "tool"}, {"route", "target"}, {"executed_action", "name"}, {"action", "name"},
	} {
		if o, ok := row[place.object].(map[string]any); ok {
			if name, ok := o[place.member].(string); ok {
				return name
			}
		}
	}
	name, _ := row["worker"].(string)
	return name
}

// aggregateSentences tells an aggregate: its own values, then each domain, then what is missing.
func aggregateSentences(aggregate map[string]any) []string {
	own := map[string]any{}
	var parts []string
	for _, name := range sortedKeys(aggregate) {
		switch v := aggregate[name].(type) {
		case map[string]any:
			if name != "sources" { // ids of tasks
				parts = append(parts, sentence(english.Readable(name), v, map[string]bool{}))
			}
		case []any:
		default:
			own[name] = v
		}
	}
	parts = append([]string{sentence("", own, map[string]bool{})}, parts...)
	if missing := textsOf(aggregate["missing"]); len(missing) > 0 {
		parts = append(parts, "No data: "+strings.Join(missing, ", ")+".")
	}
	failed, _ := aggregate["failed_tasks"].([]any)
	for _, t := range failed {
		if task, ok := t.(map[string]any); ok {
			parts = append(parts, fmt.Sprintf("Failed: %s (%s).", worded(task["worker"]), worded(task["stop_reason"])))
		}
	}
	return parts
}

// sentenceOf tells one result of a tool, but not the long texts that were among its own arguments.
func sentenceOf(tool string, observation any, args map[string]any) string {
	said := map[string]bool{}
	for name, v := range args {
		if s, ok := v.(string); ok && len(s) > 40 {
			said[english.Readable(name)+" "+worded(s)] = true
		}
	}
	return observed(tool, observation, said)
}

// observed tells one result; what was said before is not said again.
func observed(tool string, observation any, said map[string]bool) string {
	label := subject(tool)
	if failure, failed := gateway.Reported(observation); failed {
		return fmt.Sprintf("%s: error, %s.", capitalised(label), line(failure, maxText))
	}
	object, ok := observation.(map[string]any)
	if !ok {
		if s := worded(observation); s != "" {
			return capitalised(label) + ": " + s + "."
		}
		return ""
	}
	if object["truncated"] == true && object["head"] != nil {
		return tooLong(capitalised(label))
	}
	if object["status"] == "needs_reroute" {
		return passedOn(capitalised(label), worded(object["reason"]))
	}
	if inner, ok := object["result"].(map[string]any); ok {
		object = inner
	}
	return sentence(label, object, said)
}

// subject is what a tool's name is about: "boat costs" for get_boat_costs.
func subject(tool string) string {
	list := english.NameWords(tool)
	if len(list) > 1 && (english.Dull[list[0].Low] || english.LightVerbs[list[0].Low] || looking[list[0].Low]) {
		list = list[1:]
	}
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = w.Low
	}
	return strings.Join(texts, " ")
}

// looking are verbs of reading at the beginning of tools' names.
var looking = english.SetOf(`calculate check compute count detect load lookup query read retrieve search sum`)

// silent are members that say how a result came about instead of what it is.
var silent = english.SetOf(`status worker domain`)

// sentence tells an object: its single values, then the objects and lists in it.
func sentence(label string, object map[string]any, said map[string]bool) string {
	w := &facets{label: label, said: said}
	w.tell("", object, 0)
	if len(w.list) == 0 {
		return ""
	}
	body := joinedBy(w.list, ", ", maxSentence)
	if label != "" {
		body = label + ": " + body
	}
	return capitalised(body) + "."
}

// facets collects "name value" pairs.
type facets struct {
	label string // what the sentence is about
	list  []string
	said  map[string]bool // pairs that were told already
}

const maxFacets = 40

func (f *facets) tell(parent string, object map[string]any, depth int) {
	if depth > 4 {
		return
	}
	nested := []string{}
	hasUnits := slices.ContainsFunc(sortedKeys(object), func(name string) bool { return currencyOf(name) != "" })
	for _, name := range orderedKeys(object) {
		switch object[name].(type) {
		case map[string]any, []any:
			nested = append(nested, name)
		default:
			if !silent[name] && !(name == "currency" && hasUnits) {
				f.put(parent, name, valued(name, object[name]))
			}
		}
	}
	for _, name := range nested {
		switch v := object[name].(type) {
		case map[string]any:
			f.tell(name, v, depth+1)
		case []any:
			f.put("", name, listed(v))
		}
	}
}

func (f *facets) put(parent, name, value string) {
	if value == "" || len(f.list) >= maxFacets {
		return
	}
	label := english.Readable(name)
	if money := currencyOf(name); money != "" {
		label = strings.TrimSuffix(label, " "+strings.ToLower(money))
	}
	if whose := english.Readable(parent); generic[label] && whose != "" && whose != f.label {
		label = strings.TrimSuffix(whose, " "+label) + " " + label
	}
	pair := strings.TrimSpace(label + " " + value)
	if strings.Contains(value, " ") && currencyOf(name) == "" { // a text of its own
		pair = label + ": " + value
	}
	if f.said[pair] {
		return
	}
	f.said[pair] = true
	f.list = append(f.list, pair)
}

// generic names need to say whose they are.
var generic = english.SetOf(`id name title type day date state value amount`)

// orderedKeys puts names and titles first, then the rest by name.
func orderedKeys(object map[string]any) []string {
	keys := sortedKeys(object)
	slices.SortStableFunc(keys, func(a, b string) int { return -compareBool(leads(a), leads(b)) })
	return keys
}

func leads(name string) bool {
	return name == "name" || name == "title" || strings.HasSuffix(name, "_name")
}
