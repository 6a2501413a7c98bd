package planning

import (
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// StrategyOf returns the strategy that a plan shows: hierarchical if a subtask has a parent, else flat. It judges nothing.
func StrategyOf(in document.Intent) Strategy {
	doc, _ := in.Value().(map[string]any)
	list, _ := doc["subtasks"].([]any)
	for _, v := range list {
		if row, _ := v.(map[string]any); row["parent"] != nil {
			return Hierarchical
		}
	}
	return Flat
}

// ParseSubtasks accepts or refuses a plan of subtasks (spec/planning-reference.md section 15, in its order). The refusal lists every
// problem; it is nil if the plan is accepted.
func ParseSubtasks(in document.Intent, rules Rules) (Document, *document.Refusal) {
	f := document.NewFaults(rules.Family)
	o, filled, ok := document.Open(f, in, document.DefaultReasons, "plan")
	if !ok || f.Count() > 0 {
		return Document{}, f.Refusal()
	}
	doc := Document{Filled: filled}
	doc.Done, doc.Checklist = in.Checklist()
	readMembers(o, rules, &doc)
	list, ok := readSubtasks(o, rules, doc.Complete)
	if !ok {
		return Document{}, f.Refusal()
	}
	p := newSubtaskParser(f, rules, list, o.At.Member("subtasks"))
	for i, v := range list {
		p.parse(i, v)
	}
	p.check()
	if r := f.Refusal(); r != nil {
		r.Cycle = p.cycle
		return Document{}, r
	}
	doc.Subtasks = make([]Subtask, len(p.rows))
	for i, row := range p.rows {
		doc.Subtasks[i] = row.Subtask
	}
	return doc, nil
}

// readMembers reads the other members of a plan. One that is not allowed or of a wrong type is an extra key.
func readMembers(o document.Object, rules Rules, doc *Document) {
	known := []string{"kind", "subtasks"}
	take := func(takes bool, key string) {
		if takes {
			known = append(known, key)
		}
	}
	take(rules.TakesComplete, "planning_complete")
	take(rules.TakesGoal, "goal")
	take(rules.TakesRationale, "adjustment_rationale")
	o.ExtraPresent("extra_keys", document.PlanSynonyms("subtasks"), known)
	if v := o.Members["planning_complete"]; v != nil && rules.TakesComplete {
		var ok bool
		if doc.Complete, ok = v.(bool); !ok {
			o.Wrong("extra_keys", "planning_complete", aBool).Fix = document.Retype("boolean", o.At.Member("planning_complete"), v)
		}
	}
	if rules.TakesGoal {
		doc.Goal = optionalText(o, "goal")
	}
	if rules.TakesRationale {
		doc.Rationale = optionalText(o, "adjustment_rationale")
	}
}

// optionalText reads a text unchanged; absent and null are "".
func optionalText(o document.Object, key string) string {
	v := o.Members[key]
	s, ok := v.(string)
	if !ok && v != nil {
		o.Wrong("extra_keys", key, aText).Fix = document.Retype("string", o.At.Member(key), v)
	}
	return s
}

// readSubtasks reads the list of subtasks. If it returns false, there is nothing more to check.
func readSubtasks(o document.Object, rules Rules, complete bool) ([]any, bool) {
	list, isList := o.Members["subtasks"].([]any)
	most := rules.Max - len(rules.Earlier)
	if rules.Round > 0 {
		most = min(most, rules.Round)
	}
	least := max(rules.Min, 1)
	n := len(list)
	switch {
	case !isList:
		o.Wrong("missing_subtasks", "subtasks", subtaskList(least, max(most, 0)))
		return nil, false
	case n == 0 && complete && rules.MayEnd:
		return nil, true
	case n == 0:
		o.Wrong("empty", "subtasks", subtaskCount(least, max(most, 0)))
		return nil, false
	case n < rules.Min:
		o.Wrong("min_subtasks", "subtasks", atLeastSubtasks(rules.Min, n))
	}
	if n > most {
		o.Wrong("max_subtasks", "subtasks", atMostSubtasks(max(most, 0), n))
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

// place returns the place of a member of the i-th subtask.
func (p *subtaskParser) place(i int, key string) ijson.Pointer { return p.at.Index(i).Member(key) }
