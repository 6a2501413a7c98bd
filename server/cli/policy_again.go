package cli

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

// Recorded calls are judged again by the policies of a configuration, each with what was done before it in its own run and, where
// rules read windows, in all:
//
//	record.Story ──Proposals──▶ gateway.Gate of the configuration ──▶ decided now
//	     └─────────Acts──▶ pastRuns ──window──────┘                        │
//	                                       recorded decision ──────────────┴──▶ difference

// errHiddenPast is why a window of the past cannot be seen whole.
var errHiddenPast = errors.New("values of earlier calls are redacted, or there are too many")

// pastRuns are recorded runs, and their calls by tool in the order of their intents.
type pastRuns struct {
	proposals []record.Proposal
	acts      map[string][]record.Act
	ended     map[string][]gateway.Entry // the same as they ended
}

// add takes a run's record. What began before since is not judged again; windows see it all the same.
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

// sort puts calls in the order of their times, once all runs are there.
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

// window is what a policy would have seen of all runs before a proposal.
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
		for to > from && list[to-1].Entry.RunID == of.RunID && list[to-1].Entry.Order >= int(of.Seq) { // the call itself
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
		if whole { // all of it is as it ended: most are
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

// decided is what is decided about a call.
type decided struct {
	Decision string `json:"decision"`
	Rule     string `json:"rule,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Values   any    `json:"values,omitempty"`
	// Args are those that a call is made with where the policy changed it.
	Args map[string]any `json:"args,omitempty"`
	// Expires and Least are what an escalation asks of a person.
	Expires float64 `json:"expires_seconds,omitempty"`
	Least   string  `json:"min_assurance,omitempty"`
}

// again judges a proposal by a pattern as it is declared now; the reason says why it cannot be judged.
func (p *pastRuns) again(spec patterns.Spec, of record.Proposal) (now decided, why string) {
	if of.Hidden != "" {
		return decided{}, of.Hidden
	}
	tool, known := spec.Catalog.Tool(of.Tool)
	if of.Tool != "" && !known {
		return decided{}, "there is no tool " + console.Cut(of.Tool, console.MaxTyped) + " here"
	}
	args, _ := tool.Proposed(of.Args)
	if of.Tool != "" && len(tool.Check(args)) > 0 {
		return decided{}, "the arguments do not fit the schema that " + console.Cut(of.Tool, console.MaxTyped) + " has here"
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

// difference is a recorded call that would be decided otherwise.
type difference struct {
	RunID   string  `json:"run_id"`
	Pattern string  `json:"pattern"`
	At      string  `json:"at"`
	Tool    string  `json:"tool"`
	Was     decided `json:"was"`
	Now     decided `json:"now"`
	// Ends says how the run would end elsewhere; "": as it did, as far as this call goes.
	Ends string `json:"ends,omitempty"`
}

// differs compares what was decided with what is decided now: another decision, another reason for the same no or question, other
// arguments that a call is made with, or something else that is asked of a person.
func differs(was, now decided) bool {
	return was.Decision != now.Decision || was.Reason != now.Reason && (was.Decision == "block" || was.Decision == "escalate") ||
		!ijson.Equal(rules.ObjectOr(was.Args), rules.ObjectOr(now.Args)) || was.Expires != now.Expires || was.Least != now.Least
}

// wasDecided is what the record says was decided, as far as it can be compared with what is decided now: what a person was asked
// is not in it, and what was sent after them may be what they edited.
func wasDecided(of record.Proposal, tool catalog.Tool, now decided) decided {
	was := decided{Decision: of.Decision, Rule: of.Rule, Reason: of.Reason}
	if was.Decision == now.Decision { // the record does not say how a person was to be asked
		was.Expires, was.Least = now.Expires, now.Least
	}
	switch sent, _ := tool.Proposed(of.Sent); {
	case of.Decision == "revise" && sent != nil && !of.Approved:
		was.Args = maps.Clone(sent)
		for name, v := range sent { // the pattern itself puts the run's id in, which was never proposed
			if _, proposed := of.Args[name]; !proposed && v == any(of.RunID) {
				delete(was.Args, name)
			}
		}
	case of.Decision == now.Decision:
		was.Args = now.Args
	}
	return was
}

// elsewhere says how a run would go another way at a call; "": it would not.
func elsewhere(of record.Proposal, kind gateway.Kind, now decided) string {
	went := of.Decision == "approve" || of.Decision == "revise" || of.Approved
	blocked := "policy_block:"
	if kind == gateway.Supervisor {
		blocked = "supervisor_block:"
	}
	switch {
	case went && now.Decision == "block":
		return "it would have stopped: " + blocked + now.Reason
	case went && !of.Approved && now.Decision == "escalate":
		return "it would have waited for a person (" + now.Reason + ")"
	case !went && (now.Decision == "approve" || now.Decision == "revise"):
		return "it would have gone on"
	case of.Blocked() && now.Decision == "escalate":
		return "it would have waited for a person (" + now.Reason + ")"
	case of.Blocked() && now.Decision == "block" && of.Reason != now.Reason:
		return "it would have stopped: " + blocked + now.Reason
	case of.Decision == "revise" && now.Decision == "revise":
		return "it would have sent other arguments"
	}
	return ""
}
