package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// Gaps returns warnings about what a policy leaves out. One is about a tool or a final answer that no rule matches.
// Another is about a rule that asks a person without saying why. Gaps returns nothing for a policy that no pattern and
// no tool uses. [New] reports a policy without rules. The configuration reports a tool that is not declared.
func (p *Policy) Gaps() (gaps []expr.Fault) {
	if p == nil || len(p.rules) == 0 || p.reached.nobody {
		return nil
	}
	ids := map[string]bool{}
	for _, r := range p.rules {
		ids[r.id] = true
	}
	for _, name := range p.reached.judged {
		if p.reached.declares(name) && len(p.possible(name)) == 0 {
			gaps = append(gaps, unmatched(name, ids))
		}
	}
	for _, r := range p.rules {
		if r.decision == gateway.Escalate && r.say == "" {
			gaps = append(gaps, expr.Fault{
				Member: fmt.Sprintf("rules[%d]", r.at), Warning: true, Reason: noSay,
				Want: wantSay,
			})
		}
	}
	return gaps
}

// unmatched returns the warning about a tool, or the final answer, that no rule matches. It suggests a rule whose id is not in ids.
func unmatched(name string, ids map[string]bool) expr.Fault {
	if name == finalName {
		return expr.Fault{
			Member: "rules", Warning: true, Reason: finalBlocked,
			Want: wantFinalRule(freeID("answer", ids)),
		}
	}
	return expr.Fault{
		Member: "rules", Warning: true, Reason: toolBlocked(name),
		Want: wantToolRule(freeID("pass_"+name, ids), name),
	}
}

// freeID returns an id like this one that no rule has, and adds it to ids. It replaces characters that an id cannot have.
func freeID(like string, ids map[string]bool) string {
	like = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(like))
	like = like[:min(len(like), 60)]
	id := like
	for n := 2; ids[id]; n++ {
		id = like + strconv.Itoa(n)
	}
	ids[id] = true
	return id
}

// Asks returns the tools about whose calls a rule may ask a person, sorted by name.
func (p *Policy) Asks() []string {
	if p == nil || p.reached.nobody {
		return nil
	}
	var names []string
	for _, name := range p.reached.judged {
		asks := slices.ContainsFunc(p.possible(name), func(b bound) bool { return b.decision == gateway.Escalate })
		if asks && name != finalName {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// possible returns the rules of a tool, without those that are false for every call of it. An example is a condition on
// another effect.
func (p *Policy) possible(name string) []bound {
	var known interpreter.Activation = nothingKnown{}
	if t := p.reached.all[name]; !t.held() {
		known = toolKnown{tool: t.facts}
	}
	return slices.DeleteFunc(slices.Clone(p.byTool[name]), func(b bound) bool {
		return b.when != nil && b.when.foretell(known) == types.False
	})
}

// toolKnown is a view in which only the tool is known.
type toolKnown struct {
	nothingKnown
	tool map[string]any
}

// ResolveName implements [interpreter.Activation].
func (k toolKnown) ResolveName(name string) (any, bool) {
	if name == "tool" {
		return k.tool, true
	}
	return k.nothingKnown.ResolveName(name)
}
