package step

import (
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// The engine judges what depends on earlier runs, because it knows them. It records each judgment:
//
//	review ──JudgeEffect: windows read, judged, recorded──▶ the ruling ──▶ the call's intent: does it still hold?
//	   ▲                                                                        │ yes: made
//	   └────────────────────────── no: nothing was sent ────────────────────────┘

// MaxStale is how often a call is judged, at most, while other runs keep it from being made. Then it is blocked.
const MaxStale = 16

// Weigh returns a function that finishes reviews which depend on earlier runs. Use it in the branch that would make the call.
func Weigh(run patterns.Run, phase string) gateway.Weigh {
	return func(w gateway.Weighing) any {
		if out := Judge(run, phase, w); out.State == patterns.OK {
			return out.Output
		}
		return nil
	}
}

// Judge asks the engine to judge a call by what earlier runs did. The outcome's output is a [gateway.Ruling.Value], with the
// phase and the proposal.
func Judge(run patterns.Run, phase string, w gateway.Weighing) patterns.Outcome {
	proposal := map[string]any{"tool": w.Tool(), "args": w.Args()}
	text := ijson.Canonical(proposal)
	e := patterns.Effect{Act: patterns.JudgeAct{Weighing: &w}, Name: "judge", Phase: phase}
	e.Input = ijson.Canonical(gateway.Bounded(proposal, text, maxProposal, maxProposal-1024))
	return run.Do(e)
}

// IsStale reports whether a call was not made because the ruling that allowed it no longer holds.
func IsStale(out patterns.Outcome) bool {
	return out.State == patterns.Canceled && out.Reason == patterns.ReasonStale
}

// callAgain makes one more attempt at a call if the ruling that allowed it still holds. It does not ask a person again: if the
// policy now requires one, there is no further attempt.
func callAgain(run patterns.Run, e patterns.Effect, c patterns.CallAct) patterns.Outcome {
	w, windowed := c.Permit.Weighing()
	for range MaxStale {
		if windowed {
			if r := judgedNow(run, e.Phase, w); !w.Stands(r) {
				return patterns.Outcome{State: patterns.Canceled, Reason: blockedBy + r.Reason}
			}
		}
		out := patterns.CallTool(run, e, c)
		if !IsStale(out) {
			return out
		}
		e.Said, e.Judged = nil, nil
	}
	return patterns.Outcome{State: patterns.Canceled, Reason: blockedBy + gateway.NoRuleMatched}
}

// judgedNow returns the ruling about a call by what earlier runs have done by now.
func judgedNow(run patterns.Run, phase string, w gateway.Weighing) gateway.Ruling {
	return w.Recalled(Judge(run, phase, w).Output)
}

// IsBlocked reports whether the policy kept an attempt from being made, and returns the policy's reason.
func IsBlocked(out patterns.Outcome) (reason string, ok bool) {
	if out.State == patterns.OK {
		return "", false
	}
	return strings.CutPrefix(out.Reason, blockedBy)
}

// Stuck returns the refusal of a call that other runs keep from being made.
func Stuck() *gateway.Stop {
	return &gateway.Stop{Reason: blockedBy + gateway.NoRuleMatched, Ruled: gateway.Judgment{Reason: gateway.NoRuleMatched}, Block: &gateway.Ruling{Reason: gateway.NoRuleMatched}}
}
