package gateway

import (
	"fmt"
	"maps"
	"slices"

	"patterngate/ijson"
)

// StrategyOf is the strategy that a plan has by itself: hierarchical where a subtask names a parent, else flat.
func StrategyOf(in Intent) PlanStrategy {
	doc, _ := in.value.(map[string]any)
	list, _ := doc["subtasks"].([]any)
	for _, v := range list {
		if row, _ := v.(map[string]any); row["parent"] != nil {
			return Hierarchical
		}
	}
	return Flat
}

// ParseSubtasks judges a plan of subtasks (spec/planning-reference.md section 15, in its order).
func ParseSubtasks(in Intent, rules DocumentRules) (PlanDocument, *Refusal) {
	f := &faults{family: rules.Family}
	o, filled, ok := openDocument(f, in, documentReasons, "plan")
	if !ok || f.first != "" {
		return PlanDocument{}, f.refusal()
	}
	doc := PlanDocument{Filled: filled, Done: in.done, Checklist: in.checklist}
	o.planMembers(rules, &doc)
	list, ok := o.subtasks(rules, doc.Complete)
	if !ok {
		return PlanDocument{}, f.refusal()
	}
	p := newSubtaskParser(f, rules, list, o.at.Member("subtasks"))
	for i, v := range list {
		p.parse(i, v)
	}
	p.check()
	if r := f.refusal(); r != nil {
		r.Cycle = p.cycle
		return PlanDocument{}, r
	}
	doc.Subtasks = make([]Subtask, len(p.rows))
	for i, row := range p.rows {
		doc.Subtasks[i] = row.Subtask
	}
	return doc, nil
}

// planMembers reads what a plan may hold besides its subtasks. What it may not hold, or not so, is an extra key.
func (o object) planMembers(rules DocumentRules, doc *PlanDocument) {
	known := []string{"kind", "subtasks"}
	take := func(takes bool, key string) {
		if takes {
			known = append(known, key)
		}
	}
	take(rules.TakesComplete, "planning_complete")
	take(rules.TakesGoal, "goal")
	take(rules.TakesRationale, "adjustment_rationale")
	o.extraPresent("extra_keys", ofPlan("subtasks"), known)
	if v := o.members["planning_complete"]; v != nil && rules.TakesComplete {
		var ok bool
		if doc.Complete, ok = v.(bool); !ok {
			o.wrong("extra_keys", "planning_complete", "true or false").Fix = asBool(o.at.Member("planning_complete"), v)
		}
	}
	if rules.TakesGoal {
		doc.Goal = o.optionalText("goal")
	}
	if rules.TakesRationale {
		doc.Rationale = o.optionalText("adjustment_rationale")
	}
}

// optionalText reads a text as it is; absent and null are "".
func (o object) optionalText(key string) string {
	v := o.members[key]
	s, ok := v.(string)
	if !ok && v != nil {
		o.wrong("extra_keys", key, "a text").Fix = asText(o.at.Member(key), v)
	}
	return s
}

// extraPresent is [object.extra] where null members count as absent.
func (o object) extraPresent(reason string, table []rename, known []string) {
	if !o.hasOther(known) {
		return
	}
	present := make(map[string]any, len(o.members))
	for _, name := range sortedKeys(o.members) {
		if v := o.members[name]; v != nil {
			present[name] = v
		}
	}
	o.members = present
	o.extra(reason, table, known...)
}

// hasOther reports whether there are more members than the known ones; it is the quick way past nearly all objects.
func (o object) hasOther(known []string) bool {
	for name := range maps.Keys(o.members) { // in any order: the answer is the same
		if !slices.Contains(known, name) {
			return true
		}
	}
	return false
}

// subtasks reads the list of subtasks; false ends the check.
func (o object) subtasks(rules DocumentRules, complete bool) ([]any, bool) {
	list, isList := o.members["subtasks"].([]any)
	most := rules.Max - len(rules.Earlier)
	if rules.Round > 0 {
		most = min(most, rules.Round)
	}
	least := max(rules.Min, 1)
	n := len(list)
	switch {
	case !isList:
		o.wrong("missing_subtasks", "subtasks", fmt.Sprintf("a list of %d to %d subtasks", least, max(most, 0)))
		return nil, false
	case n == 0 && complete && rules.MayEnd:
		return nil, true
	case n == 0:
		o.wrong("empty", "subtasks", fmt.Sprintf("%d to %d subtasks", least, max(most, 0)))
		return nil, false
	case n < rules.Min:
		o.wrong("min_subtasks", "subtasks", fmt.Sprintf("at least %d subtasks, not %d", rules.Min, n))
	}
	if n > most {
		o.wrong("max_subtasks", "subtasks", fmt.Sprintf("at most %d subtasks, not %d", max(most, 0), n))
	}
	return list, n <= most
}

// isSubtaskID reports whether a text is ^[a-z0-9][a-z0-9_-]{0,63}$.
func isSubtaskID(id string) bool {
	if id == "" || len(id) > 64 || id[0] == '_' || id[0] == '-' {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// place of a member of the i-th subtask.
func (p *subtaskParser) place(i int, key string) ijson.Pointer { return p.at.Index(i).Member(key) }
