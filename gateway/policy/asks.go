package policy

import (
	"slices"

	"cel.dev/cel-go/common/types"

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// sift leaves out the rules that are false for every call of a tool with these params. It marks those that are always
// true. Such a result is the same for every call, so no error of a rule is lost.
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

// Asks implements [gateway.Foreteller]. It returns never if no rule that can be true for the tool escalates. It returns
// always if a rule escalates for every call, because an escalation comes before an approval.
func (j *Judge) Asks(tool string) gateway.Asks {
	d := j.docket(tool)
	if d == nil {
		return gateway.AsksNever // every call is blocked
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

// Reads returns the arguments that a rule may depend on: those that it reads itself or through vars. A rule that reads
// the arguments as a whole reads all of them.
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
