package outcome

import (
	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

const humanRejected = "human_rejected"

// maxComment is how much of a person's comment is repeated, in bytes.
const maxComment = 200

// unapproved describes a call that the policy sent to a person and that was not made: for the summary, and for the
// person. It leaves out the approver's comment, because that is their own text, see [account.counsel].
func (a account) unapproved() (summary, say string) {
	call, human := a.putToPerson()
	switch a.StopReason {
	case gateway.ApprovalExpired:
		return approvalExpired(call, a.Phase, a.StopReason), approvalExpiredSay(call)
	case gateway.ApprovalConsumed:
		return approvalUsed(call, a.Phase, a.StopReason), approvalUsedSay(call)
	case gateway.ApprovalInvalid:
		return approvalInvalid(call, a.Phase, a.StopReason), approvalInvalidSay(call)
	}
	return rejected(call, a.Phase, rejection(human), a.StopReason), rejectedSay(call, rejection(human))
}

// putToPerson returns the call at which the run stopped, for the beginning of a sentence, and a person's decision about
// it. human is nil if no person decided.
func (a account) putToPerson() (call string, human *patterns.HumanApproval) {
	switch a.Spec.Kind {
	case gateway.Supervisor:
		return a.stoppedAt(), a.Human
	case gateway.Planning: // a call of one of its steps stops that step
		return thePlan, a.Human
	case gateway.Call:
		return printable.Name(a.Spec.Tool), a.singleRow().HumanApproval
	}
	if n := len(a.Trace); n > 0 {
		switch row := a.Trace[n-1].(type) {
		case patterns.StepRow:
			return printable.Name(row.Tool), row.HumanApproval
		case patterns.RouteRow:
			return printable.Name(row.Target), row.HumanApproval
		}
	}
	return aCall, nil
}

// rejection describes a rejection: its author and its channel.
func rejection(h *patterns.HumanApproval) string {
	switch {
	case h == nil || h.Channel == "none":
		return rejectedUnasked
	case h.Channel == "simulated":
		return rejectedSimulated
	case h.Channel == "page":
		return rejectedOnPage(printable.Name(h.By))
	}
	return rejectedOnCommandLine(printable.Name(h.By))
}

// counsel returns a text for the person about a call that was not approved: the approver's comment as a quote, or what
// to check.
func (a account) counsel() string {
	switch a.StopReason {
	case humanRejected:
		_, h := a.putToPerson()
		if h == nil || h.Comment == "" || h.Channel == "none" || h.Channel == "simulated" {
			return ""
		}
		said := sentence.Short(h.Comment, maxComment)
		if said != h.Comment {
			said += "..."
		}
		return approverSaid(printable.Text(arguments.JSONText(said)))
	case gateway.ApprovalConsumed:
		return lookAtCall(sentence.ShellWord(a.runID))
	case gateway.ApprovalInvalid:
		return lookAtApproval(sentence.ShellWord(a.runID))
	}
	return ""
}
