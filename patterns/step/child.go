package step

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// A worker or a route may be a pattern: a call of it begins a run of its own, a child run, under what its parent has left
// (spec/config.md section 7):
//
//	parent: intent ──▶ child: start {parent} ──▶ ... ──▶ end ──▶ parent: outcome {status, answer, ...}
//	            │            │ waits for a person ──▶ so does the parent
//	            │            └ is cancelled with what ends the call or the parent
//	            └─ the process dies: whoever carries the parent on joins the child that was begun

// StoppedBelow is why the child run of a call stopped; "" where the call began none, or none that stopped.
func StoppedBelow(out patterns.Outcome) string {
	if out.Child == "" || out.State == patterns.OK {
		return ""
	}
	about, _ := out.Output.(map[string]any)
	reason, _ := about["stop_reason"].(string)
	return reason
}

// ShareLeft is what the run has left for child runs, but for its time, which the engine knows.
func (l *Log) ShareLeft() patterns.Share {
	return patterns.ShareLeft(l.Spec.Budget, l.Gate.Tried(), l.Usage)
}

// BeginsRun reports whether a call begins a child run.
func BeginsRun(p gateway.Permit) bool {
	name, _ := p.Pattern()
	return name != ""
}

// spend counts what a child run used as the run's own: its calls, and what its models cost.
func (l *Log) spend(p gateway.Permit, out patterns.Outcome) {
	if BeginsRun(p) {
		l.Usage = l.Usage.Plus(out.Usage)
		l.Models = patterns.PlusModels(l.Models, out.Models)
		l.Gate.Count(out.Calls)
	}
}
