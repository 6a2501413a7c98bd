package policycheck

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/settings/rules"
)

// The policies of a configuration judge recorded calls again. Each call is judged with the earlier calls of its run and, if rules
// read windows, with those of all runs:
//
//	record.Story ──Proposals──▶ gateway.Gate of the configuration ──▶ decided now
//	     └─────────Acts──▶ pastRuns ──window──────┘                        │
//	                                       recorded decision ──────────────┴──▶ difference

// errHiddenPast is the reason why a window of the past is incomplete.
var errHiddenPast = errors.New(hiddenPast)

// pastRuns holds recorded runs, and their calls by tool in the order of their intents.
type pastRuns struct {
	proposals []record.Proposal
	acts      map[string][]record.Act
	ended     map[string][]gateway.Entry // the same calls with their final states
}

// add adds a run's record. Calls before since are not judged again, but windows contain them.
func (p *pastRuns) add(events []patterns.Event, since time.Time) {
	s := record.Read(events)
	for _, proposal := range s.Proposals() {
		if !proposal.At.Before(since) {
			p.proposals = append(p.proposals, proposal)
		}
	}
	if p.acts == nil {
		p.acts = map[string][]record.Act{}
	}
	for _, a := range s.Acts() {
		p.acts[a.Entry.Tool] = append(p.acts[a.Entry.Tool], a)
	}
}

// sort sorts calls by time. Call it after all runs were added.
func (p *pastRuns) sort() {
	for _, list := range p.acts {
		slices.SortStableFunc(list, func(a, b record.Act) int { return a.Entry.At.Compare(b.Entry.At) })
	}
	p.ended = map[string][]gateway.Entry{}
	for tool, list := range p.acts {
		for i := range list {
			p.ended[tool] = append(p.ended[tool], list[i].Entry)
		}
	}
	slices.SortStableFunc(p.proposals, func(a, b record.Proposal) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.RunID, b.RunID), cmp.Compare(a.Seq, b.Seq))
	})
}

// window returns the calls of all runs that a policy would have seen before a proposal.
func (p *pastRuns) window(w gateway.Window, of record.Proposal) gateway.Seen {
	seen := gateway.Seen{Since: w.Since(of.At)}
	crowded := gateway.Seen{Since: seen.Since, Err: errHiddenPast}
	tools := slices.Compact(slices.Sorted(slices.Values(w.Tools)))
	for _, tool := range tools {
		list := p.acts[tool]
		from, _ := slices.BinarySearchFunc(list, seen.Since, func(a record.Act, t time.Time) int { return a.Entry.At.Compare(t) })
		to, _ := slices.BinarySearchFunc(list, of.At, func(a record.Act, t time.Time) int { return cmp.Or(a.Entry.At.Compare(t), -1) })
		to = max(from, to)
		counts := func(a *record.Act) bool {
			own := a.Entry.RunID == of.RunID && a.Entry.Order >= int(of.Seq)
			return !own && (!w.OfPrincipal || a.Principal == of.Facts.Principal.ID)
		}
		for to > from && list[to-1].Entry.RunID == of.RunID && list[to-1].Entry.Order >= int(of.Seq) { // leave out the call itself
			to--
		}
		whole := len(tools) == 1
		for i := from; i < to && seen.Err == nil; i++ {
			a := &list[i]
			if !counts(a) {
				whole = false
				continue
			}
			if a.Hidden {
				seen.Err = errHiddenPast
			}
			whole = whole && !a.Ended.IsZero() && !a.Ended.After(of.At)
		}
		if whole { // all calls have their final states, as in most windows
			if seen.Effects = p.ended[tool][from:to:to]; len(seen.Effects) > gateway.MaxWindow {
				return crowded
			}
			return seen
		}
		for i := from; i < to; i++ {
			if !counts(&list[i]) {
				continue
			}
			if len(seen.Effects) == gateway.MaxWindow {
				return crowded
			}
			e, _ := list[i].At(of.At)
			seen.Effects = append(seen.Effects, e)
		}
	}
	if len(tools) > 1 {
		slices.SortStableFunc(seen.Effects, func(a, b gateway.Entry) int { return a.At.Compare(b.At) })
	}
	return seen
}

// decided is the decision about a call.
type decided struct {
	Decision string `json:"decision"`
	Rule     string `json:"rule,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Values   any    `json:"values,omitempty"`
	// Args are the arguments of the call if the policy changed them.
	Args map[string]any `json:"args,omitempty"`
	// Expires and Least are the time limit and the assurance of an escalation.
	Expires float64 `json:"expires_seconds,omitempty"`
	Least   string  `json:"min_assurance,omitempty"`
}

// again judges a proposal with the present declaration of a pattern. why says why it cannot be judged; "" if it can.
func (p *pastRuns) again(spec patterns.Spec, of record.Proposal) (now decided, why string) {
	if of.Hidden != "" {
		return decided{}, of.Hidden
	}
	tool, known := spec.Catalog.Tool(of.Tool)
	if of.Tool != "" && !known {
		return decided{}, noToolHere(console.Cut(of.Tool, console.MaxTyped))
	}
	args, _ := tool.Proposed(of.Args)
	if of.Tool != "" && len(tool.Check(args)) > 0 {
		return decided{}, misfitHere(console.Cut(of.Tool, console.MaxTyped))
	}
	gate := gateway.NewGate(gateway.Config{Catalog: spec.Catalog, Reviewer: spec.Reviewer, Facts: func() gateway.Facts { return of.Facts }})
	gate.Remember(of.Effects)
	var hidden error
	r := gate.Review(gateway.Case{Tool: of.Tool, Args: args, Answer: of.Answer, Weigh: func(w gateway.Weighing) any {
		seen := map[string]gateway.Seen{}
		for _, window := range w.Windows() {
			seen[window.Name] = p.window(window, of)
			hidden = cmp.Or(hidden, seen[window.Name].Err)
		}
		return w.Judge(seen).Value(w.Args())
	}})
	if hidden != nil {
		return decided{}, hidden.Error()
	}
	return decidedBy(r), ""
}

// difference is a recorded call that would get another decision.
type difference struct {
	RunID   string  `json:"run_id"`
	Pattern string  `json:"pattern"`
	At      string  `json:"at"`
	Tool    string  `json:"tool"`
	Was     decided `json:"was"`
	Now     decided `json:"now"`
	// Ends says how the run would end differently. "" means that this call does not change its end.
	Ends string `json:"ends,omitempty"`
}

// differs compares a recorded decision with the present one. They differ in the decision, in the reason for a block or an
// escalation, in the changed arguments, or in what an escalation requires.
func differs(was, now decided) bool {
	return was.Decision != now.Decision || was.Reason != now.Reason && (was.Decision == "block" || was.Decision == "escalate") ||
		!ijson.Equal(rules.ObjectOr(was.Args), rules.ObjectOr(now.Args)) || was.Expires != now.Expires || was.Least != now.Least
}

// wasDecided returns the recorded decision, as far as it can be compared with the present one. The record does not contain
// what a person was asked, and the sent arguments could be edited by that person.
func wasDecided(of record.Proposal, tool catalog.Tool, now decided) decided {
	was := decided{Decision: of.Decision, Rule: of.Rule, Reason: of.Reason}
	if was.Decision == now.Decision { // the record does not contain how a person was to be asked
		was.Expires, was.Least = now.Expires, now.Least
	}
	switch sent, _ := tool.Proposed(of.Sent); {
	case of.Decision == "revise" && sent != nil && !of.Approved:
		was.Args = maps.Clone(sent)
		for name, v := range sent { // the pattern itself adds the run's id, which was not proposed
			if _, proposed := of.Args[name]; !proposed && v == any(of.RunID) {
				delete(was.Args, name)
			}
		}
	case of.Decision == now.Decision:
		was.Args = now.Args
	}
	return was
}

// elsewhere returns how a run would continue differently at a call, or "" if it would not.
func elsewhere(of record.Proposal, kind gateway.Kind, now decided) string {
	went := of.Decision == "approve" || of.Decision == "revise" || of.Approved
	blocked := "policy_block:"
	if kind == gateway.Supervisor {
		blocked = "supervisor_block:"
	}
	switch {
	case went && now.Decision == "block":
		return wouldStop(blocked + now.Reason)
	case went && !of.Approved && now.Decision == "escalate":
		return wouldWait(now.Reason)
	case !went && (now.Decision == "approve" || now.Decision == "revise"):
		return wouldContinue
	case of.Blocked() && now.Decision == "escalate":
		return wouldWait(now.Reason)
	case of.Blocked() && now.Decision == "block" && of.Reason != now.Reason:
		return wouldStop(blocked + now.Reason)
	case of.Decision == "revise" && now.Decision == "revise":
		return wouldSendOthers
	}
	return ""
}
