package outcome

import (
	"fmt"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

const humanRejected = "human_rejected"

// maxComment is how much of a person's comment is repeated, in bytes.
const maxComment = 200

// unapproved describes a call that the policy sent to a person and that was not made. It leaves out their comment,
// because that is their own text, see [account.counsel].
func (a account) unapproved() string {
	call, human := a.putToPerson()
	switch a.StopReason {
	case gateway.ApprovalExpired:
		return fmt.Sprintf("%s needed a person in phase %s; nobody decided in time, which means no (%s).", call, a.Phase, a.StopReason)
	case gateway.ApprovalConsumed:
		return fmt.Sprintf("%s was approved and stopped in phase %s: the approval had let a call through before, and each is good for one (%s).",
			call, a.Phase, a.StopReason)
	case gateway.ApprovalInvalid:
		return fmt.Sprintf("%s was stopped in phase %s: its approval does not hold for exactly this call (%s).", call, a.Phase, a.StopReason)
	}
	return fmt.Sprintf("%s needed a person in phase %s, and %s (%s).", call, a.Phase, saidNo(human), a.StopReason)
}

// putToPerson returns the call at which the run stopped, for the beginning of a sentence, and a person's decision about
// it. human is nil if no person decided.
func (a account) putToPerson() (call string, human *patterns.HumanApproval) {
	switch a.Spec.Kind {
	case gateway.Supervisor:
		return a.stoppedAt(), a.Human
	case gateway.Planning: // a call of one of its steps stops that step
		return "The plan", a.Human
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
	return "A call", nil
}

// saidNo describes a rejection: its author and its channel.
func saidNo(h *patterns.HumanApproval) string {
	switch {
	case h == nil || h.Channel == "none":
		return "nobody may be asked"
	case h.Channel == "simulated":
		return "the simulated person said no"
	case h.Channel == "page":
		return printable.Name(h.By) + " said no on the page"
	}
	return printable.Name(h.By) + " said no on the command line"
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
		return "The comment: " + printable.Text(arguments.JSONText(said)) + "."
	case gateway.ApprovalConsumed:
		return "Look up what it let through: `patterngate runs show " + sentence.ShellWord(a.runID) + "`."
	case gateway.ApprovalInvalid:
		return "Somebody has to look at the record (`patterngate runs show " + sentence.ShellWord(a.runID) + "`), at the approver keys " +
			"(`patterngate approvals keys`) and at who can write to the state file before it is asked for again."
	}
	return ""
}
