package step

import (
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// What depends on earlier runs is judged by the engine, which knows them, and recorded as it was judged:
//
//	review ──JudgeEffect: windows read, judged, recorded──▶ the ruling ──▶ the call's intent: does it hold still?
//	   ▲                                                                        │ yes: made
//	   └────────────────────────── no: nothing was sent ────────────────────────┘

// MaxStale is how often a call is judged that other runs keep from being made, before it is blocked.
const MaxStale = 16

// Weigh finishes reviews that depend on earlier runs, in the branch that would make the call.
func Weigh(run patterns.Run, phase string) gateway.Weigh {
	return func(w gateway.Weighing) any {
		if out := Judge(run, phase, w); out.State == patterns.OK {
			return out.Output
		}
		return nil
	}
}

// Judge has the engine judge a call by what earlier runs did. The outcome's output is a [gateway.Ruling.Value], with the phase and
// the proposal.
func Judge(run patterns.Run, phase string, w gateway.Weighing) patterns.Outcome {
	proposal := map[string]any{"tool": w.Tool(), "args": w.Args()}
	text := ijson.Canonical(proposal)
	e := patterns.Effect{Kind: patterns.JudgeEffect, Name: "judge", Phase: phase, Weighing: &w}
	e.Input = ijson.Canonical(gateway.Bounded(proposal, text, maxProposal, maxProposal-1024))
	return run.Do(e)
}

// IsStale reports whether a call was not made because what it was let through by did not hold any more.
func IsStale(out patterns.Outcome) bool {
	return out.State == patterns.Canceled && out.Reason == patterns.ReasonStale
}

// callAgain makes one more attempt at a call, if what it was let through by holds still. A person is not asked again: where the
// policy wants that now, there is no further attempt.
func callAgain(run patterns.Run, e patterns.Effect, p gateway.Permit) patterns.Outcome {
	w, windowed := p.Weighing()
	for range MaxStale {
		if windowed {
			if r := judgedNow(run, e.Phase, w); !w.Stands(r) {
				return patterns.Outcome{State: patterns.Canceled, Reason: blockedBy + r.Reason}
			}
		}
		out := patterns.CallTool(run, e, p)
		if !IsStale(out) {
			return out
		}
		e.Said, e.Judged = nil, nil
	}
	return patterns.Outcome{State: patterns.Canceled, Reason: blockedBy + gateway.NoRuleMatched}
}

func judgedNow(run patterns.Run, phase string, w gateway.Weighing) gateway.Ruling {
	return w.Recalled(Judge(run, phase, w).Output)
}

// IsBlocked reports whether an attempt was not made because of the policy, and its reason.
func IsBlocked(out patterns.Outcome) (reason string, ok bool) {
	if out.State == patterns.OK {
		return "", false
	}
	return strings.CutPrefix(out.Reason, blockedBy)
}

// Stuck is the refusal of a call that other runs keep from being made.
func Stuck() *gateway.Stop {
	return &gateway.Stop{Reason: blockedBy + gateway.NoRuleMatched, Ruled: gateway.Judgment{Reason: gateway.NoRuleMatched}, Block: &gateway.Ruling{Reason: gateway.NoRuleMatched}}
}
