package policy

import (
	"fmt"
	"slices"

	"patterngate/gateway"
)

// Gaps warns of what a policy leaves out: tools, and the closing answer, that no rule matches, so that each call is blocked; and
// rules that ask a person without a word about why. A policy that nobody uses has none, and one without rules is told of by [New].
func (p *Policy) Gaps() (gaps []Fault) {
	if p == nil || len(p.rules) == 0 || p.reached.nobody {
		return nil
	}
	for _, name := range p.reached.judged {
		if len(p.byTool[name]) > 0 {
			continue
		}
		f := Fault{
			Member: "rules", Warning: true, Reason: "no rule matches " + name + ", so every call of it is blocked",
			Want: fmt.Sprintf("{id: %s_passes, match: [%s], approve: {}} to let it pass, or block it by a rule", name, name),
		}
		if name == finalName {
			f.Reason, f.Want = "no rule matches final, so every final answer is blocked", "{id: answer, match: [final], approve: {}}"
		}
		gaps = append(gaps, f)
	}
	for _, r := range p.rules {
		if r.decision == gateway.Escalate && r.say == "" {
			gaps = append(gaps, Fault{
				Member: fmt.Sprintf("rules[%d]", r.at), Warning: true, Reason: "it asks a person and does not say why",
				Want: "say: TEXT, which the person reads who decides",
			})
		}
	}
	return gaps
}

// Asks are the tools about whose calls a rule may ask a person, in the order of their names.
func (p *Policy) Asks() []string {
	if p == nil {
		return nil
	}
	var names []string
	for _, r := range p.rules {
		if r.decision == gateway.Escalate {
			names = append(names, r.matches...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == finalName })
}
