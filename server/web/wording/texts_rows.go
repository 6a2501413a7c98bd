package wording

import "fmt"

// This file holds the sentences about runs, calls and plans that rows and tables of the pages show.

// What a run waits for.
const (
	waits              = "Waits"
	waitsForCaller     = "Waits for its caller"
	waitsForDecision   = "Waits for a decision"
	waitsForSettlement = "Waits for a person to say whether a call happened"
	waitsForMissing    = "Waits for what is missing here"
)

// How a call ended.
const (
	callDone     = "done"
	callFailed   = "failed, nothing was done"
	callInDoubt  = "outcome unknown: it may have been done"
	callReserved = "started, no outcome is recorded"

	reasonTimeout     = "no answer came in time"
	reasonBrokenReply = "the answer was lost or could not be read"
	reasonUnavailable = "nothing was sent"

	unknownPerson = "an unknown person"
)

func inAttempts(n int) string { return fmt.Sprintf(", in %d attempts", n) }

// decidedBy says how and by whom a question was decided.
func decidedBy(decision, who, assurance string) string {
	return fmt.Sprintf("%s by %s, assurance %s", decision, who, assurance)
}

// keyWords names a person by their key. name is the name of the key; "" if it is not known.
func keyWords(id, name string) string {
	if name == "" {
		return fmt.Sprintf("key %s", id)
	}
	return fmt.Sprintf("key %s (%s)", id, name)
}

// Titles of the rows of a timeline.
const (
	askedAboutPlan  = "Asked a person about a whole plan"
	aCall           = "a call"
	aProposal       = "A proposal"
	waitedForCaller = "Waited for the caller"
	rowPaused       = "Paused"
	rowUnreadable   = "An event that cannot be read"
)

// askedFor says who was asked for what. who is "" if it is not known.
func askedFor(who, what string) string {
	if who == "" {
		return fmt.Sprintf("Asked for the %s", what)
	}
	return fmt.Sprintf("Asked %s for the %s", who, what)
}

func askedWhether(call string) string { return fmt.Sprintf("Asked a person whether %s happened", call) }

func askedAbout(call string) string { return fmt.Sprintf("Asked a person about %s", call) }

func tookCallers(what string) string { return fmt.Sprintf("Took the caller's %s", what) }

func refusedAttempt(approval string) string {
	return fmt.Sprintf("An attempt to decide %s was refused", approval)
}

func proposalWas(what, decided string) string { return fmt.Sprintf("%s was %s", what, decided) }

func answeredLate(what string) string {
	return fmt.Sprintf("%s answered too late. Its answer is not used", what)
}

// Further facts about a row.
const (
	sentToPerson = "Sent to a person"
	onAllowList  = "On the list of what may be called; no rule judged it"
	noAnswer     = "no answer"
)

func inTheNameOf(who string) string { return fmt.Sprintf("In the name of %s", who) }

func refusedAs(reason string) string { return fmt.Sprintf("Refused as %s", reason) }

func answerWas(decided string) string { return fmt.Sprintf("Answer: %s", decided) }

func changedByRule(rule string) string { return fmt.Sprintf("Changed by rule %s", rule) }

// spendsApproval names the approval that a call spends, and the step of it; "" if it has no steps.
func spendsApproval(approval, step string) string {
	if step == "" {
		return fmt.Sprintf("Spends approval %s", approval)
	}
	return fmt.Sprintf("Spends approval %s for its step %s", approval, step)
}

func askedModels(names string) string { return fmt.Sprintf("Asked %s", names) }

// decidedByRule appends the rule and the reason of a decision to a text that can be empty.
func decidedByRule(text, rule, why string) string {
	switch {
	case rule != "" && why != "":
		return fmt.Sprintf("%s by rule %s: %s", text, rule, why)
	case rule != "":
		return fmt.Sprintf("%s by rule %s", text, rule)
	}
	return fmt.Sprintf("%s: %s", text, why)
}

func judgedTimes(n int) string {
	return fmt.Sprintf("judged %s times until nothing changed", Grouped(n))
}

func cutAt(shown, all int) string {
	return fmt.Sprintf("Cut: the first %s of %s bytes are shown. The whole is in the export.", Grouped(shown), Grouped(all))
}

// Plans and their subtasks.
const (
	planCompleted   = "all completed"
	planNotExecuted = "not executed yet"

	holderPlans    = "plans its next steps"
	holderExecutes = "executes it"
	holderReplans  = "replans it"
	holderHas      = "has it"
	holderWaits    = ", and waits"
	holderEnded    = ", and ended without giving it back"

	beforeFailed  = "a subtask before it failed"
	beforeSkipped = "a subtask before it was skipped"

	theModel   = "the model"
	theCaller  = "the caller"
	aChecklist = "the caller, as a checklist"
	aModel     = "a model"
	theRules   = "the offline rules"

	resultAny    = "Result"
	resultClaim  = "Result, as the caller claims it"
	resultModel  = "Result, as the model wrote it"
	resultOfCall = "Result of the call"

	kindMade      = "made"
	kindRound     = "next round"
	kindReplanned = "replanned"
)

func resultFrom(source string) string { return fmt.Sprintf("Result (%s)", source) }

func itReported(text string) string { return fmt.Sprintf("It reported: %s", text) }

func theirComment(text string) string { return fmt.Sprintf("Their comment: %s", text) }

func problemWas(where, what, want string) string {
	return fmt.Sprintf("%s: %s; want %s", where, what, want)
}
