package record

import (
	"encoding/json"

	"patterngate/gateway"
	"patterngate/patterns"
)

// Authors returns for each row of the timeline the author of the proposal that the row is about: caller, rules (the offline ones), model
// or its name, plan (a stored one). It is "" for a row without a proposal, and if the author is not known.
func (s Story) Authors() []string {
	list := make([]string, len(s.Rows))
	newest := map[string]string{} // the author of the newest proposal, by branch
	for i, r := range s.Rows {
		branch := r.Branch()
		if who := r.proposer(); who != "" {
			newest[branch] = who
		}
		if !r.isCall() && r.Kind != Judged && r.Kind != string(patterns.HumanEffect) || r.RefusedAnswer() {
			continue
		}
		who, own := newest[branch]
		if !own {
			who = newest[""]
		}
		if who == "" && s.isPlanning() {
			who = "plan"
		}
		list[i] = who
	}
	return list
}

// Revisions returns what a rule of the policy changed in the proposal of row i, by the names of the arguments. It returns nil if the
// row is not about such a change, or if the record does not hold both sides.
func (s Story) Revisions(i int) []Edit {
	r := s.Rows[i]
	switch {
	case r.isCall() && r.proposed != nil:
		return editsOf(argsOf(r.proposed), r.input)
	case r.Kind != Judged || r.Decision != gateway.Revise.String():
		return nil
	}
	was := argsOf(r.input)
	for _, next := range s.Rows[i+1:] {
		if next.Branch() != r.Branch() && next.Branch() != "" && r.Branch() != "" {
			continue
		}
		if args, same := next.sameCall(r.Name); same {
			return editsOf(was, args)
		}
		if next.proposer() != "" {
			break // another proposal
		}
	}
	return nil
}

// sameCall returns the arguments of a row that is about a call of a tool; false: it is not.
func (r Row) sameCall(tool string) (json.RawMessage, bool) {
	switch {
	case r.isCall():
		return r.input, r.Name == tool
	case r.Kind == Judged:
		return argsOf(r.input), r.Name == tool
	case r.Kind == string(patterns.HumanEffect):
		about, _ := r.About()
		return r.args, about == tool && r.args != nil
	}
	return nil, false
}
