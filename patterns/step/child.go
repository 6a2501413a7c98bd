package step

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// A worker or a route may be a pattern. A call of it begins a child run, within what the parent has left of its budget
// (spec/config.md section 7):
//
//	parent: intent ──▶ child: start {parent} ──▶ ... ──▶ end ──▶ parent: outcome {status, answer, ...}
//	            │            │ waits for a person ──▶ so does the parent
//	            │            └ is cancelled with what ends the call or the parent
//	            └─ the process dies: the process that resumes the parent joins the same child run

// ChildStopReason returns why the child run of a call stopped. It returns "" if the call began no child run, or if the child run
// succeeded.
func ChildStopReason(out patterns.Outcome) string {
	if out.Child == "" || out.State == patterns.OK {
		return ""
	}
	about, _ := out.Output.(map[string]any)
	reason, _ := about["stop_reason"].(string)
	return reason
}

// ChildSay returns the question for the person at which the child run of a call stopped. It returns "" if there is none.
func ChildSay(out patterns.Outcome) string {
	if ChildStopReason(out) == "" || out.State != patterns.Failed {
		return ""
	}
	about, _ := out.Output.(map[string]any)
	say, _ := about["say"].(string)
	return say
}

// ShareLeft returns what the run has left of its budget for child runs. It leaves out the time, which the engine knows.
func (l *Log) ShareLeft() patterns.Share {
	return patterns.ShareLeft(l.Spec.Budget, l.Gate.Tried(), l.Usage)
}

// BeginsRun reports whether a call begins a child run.
func BeginsRun(p gateway.Permit) bool {
	name, _ := p.Pattern()
	return name != ""
}

// spend adds what a child run used to the use of this run: its tool calls, and the cost of its models.
func (l *Log) spend(p gateway.Permit, out patterns.Outcome) {
	if BeginsRun(p) {
		l.Usage = l.Usage.Plus(out.Usage)
		l.Models = patterns.PlusModels(l.Models, out.Models)
		l.Gate.Count(out.Calls)
	}
}
