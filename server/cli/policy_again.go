package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
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
	slices.SortStableFunc(p.proposals, func(a, b record.Proposal) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.RunID, b.RunID), cmp.Compare(a.Seq, b.Seq))
	})
}

// window is what a policy would have seen of all runs before a proposal.
func (p *pastRuns) window(w gateway.Window, of record.Proposal) gateway.Seen {
	seen := gateway.Seen{Since: w.Since(of.At)}
	for _, tool := range w.Tools {
		list := p.acts[tool]
		from, _ := slices.BinarySearchFunc(list, seen.Since, func(a record.Act, t time.Time) int { return a.Entry.At.Compare(t) })
		for _, a := range list[from:] {
			e, begun := a.At(of.At)
			if !begun {
				break
			}
			own := a.Entry.RunID == of.RunID && a.Entry.Order >= int(of.Seq)
			if own || w.OfPrincipal && a.Principal != of.Facts.Principal.ID {
				continue
			}
			if a.Hidden {
				seen.Err = errHiddenPast
			}
			seen.Effects = append(seen.Effects, e)
		}
	}
	slices.SortStableFunc(seen.Effects, func(a, b gateway.Entry) int { return a.At.Compare(b.At) })
	if len(seen.Effects) > gateway.MaxWindow {
		return gateway.Seen{Since: seen.Since, Err: errHiddenPast}
	}
	return seen
}

// decided is what is decided about a call.
type decided struct {
	Decision string `json:"decision"`
	Rule     string `json:"rule,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Values   any    `json:"values,omitempty"`
}

// again judges a proposal by a pattern as it is declared now; the reason says why it cannot be judged.
func (p *pastRuns) again(spec patterns.Spec, of record.Proposal) (now decided, why string) {
	if of.Hidden != "" {
		return decided{}, of.Hidden
	}
	tool, known := spec.Catalog.Tool(of.Tool)
	if of.Tool != "" && !known {
		return decided{}, "there is no tool " + of.Tool + " here"
	}
	args, _ := tool.Proposed(of.Args)
	if of.Tool != "" && len(tool.Check(args)) > 0 {
		return decided{}, "the arguments do not fit the schema that " + of.Tool + " has here"
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
	j := r.Judgment()
	now = decided{Decision: j.Decision.String(), Rule: j.Rule, Reason: j.Reason}
	if len(j.Values) > 0 {
		now.Values = j.Values
	}
	return now, ""
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

// differs compares what was decided with what is decided now: another decision, or another reason for the same no or question.
func differs(was, now decided) bool {
	return was.Decision != now.Decision || was.Reason != now.Reason && (was.Decision == "block" || was.Decision == "escalate")
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
	}
	return ""
}
