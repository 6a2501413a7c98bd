package policy

import (
	"slices"

	"cel.dev/cel-go/common/types"

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// sift leaves out the rules that are false for every call of a tool under these params, and marks those that are always true. What is told here does not depend on the call, so that no rule errs that would have.
func (j *Judge) sift(t *judged, rules []bound) []bound {
	known := beforehand{tool: t.facts, params: j.params}
	var kept []bound
	for _, b := range rules {
		if b.when != nil {
			switch b.when.foretell(known) {
			case types.False:
				continue
			case types.True:
				b.always = true
			}
		}
		kept = append(kept, b)
	}
	return kept
}

// Asks implements [gateway.Foreteller]. It is never where no rule escalates that can be true of the tool, and always where one
// escalates whatever is called: an escalation comes before an approval.
func (j *Judge) Asks(tool string) gateway.Asks {
	d := j.docket(tool)
	if d == nil {
		return gateway.AsksNever // each call is blocked
	}
	sure := gateway.AsksNever
	for _, b := range d.rules() {
		switch {
		case b.decision != gateway.Escalate:
		case b.when == nil || b.always:
			return gateway.AsksAlways
		default:
			sure = gateway.AsksMaybe
		}
	}
	return sure
}

// Reads are the arguments that a rule reads, itself or by the vars that it reads: those whose values it may depend on. A rule
// that reads them as a whole reads all.
func (j *Judge) Reads(tool, rule string) []string {
	d := j.docket(tool)
	if d == nil {
		return nil
	}
	var names []string
	for _, b := range d.rules() {
		if b.id != rule {
			continue
		}
		vars, terms := j.policy.terms[d.tool.name], b.terms()
		for i := 0; i < len(terms); i++ {
			if r := terms[i].reads; r.whole["args"] && d.tool.args.Kind() == expr.ObjectKind {
				names = append(names, d.tool.args.Names()...)
			} else {
				names = append(names, r.members["args"]...)
			}
			for at, v := range j.policy.source.Vars {
				if vars[at] != nil && terms[i].reads.reads("vars", v.Name) && !slices.Contains(terms, vars[at]) {
					terms = append(terms, vars[at])
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
