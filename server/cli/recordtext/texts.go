package recordtext

import "fmt"

// This file has the texts of the package but the formats of columns. Names and outside texts arrive cut and escaped.

// Rows of a timeline: what a model, the caller, a timer or a person did.

const askedWord = "asked"

func askedFor(asked, what, end string) string {
	return fmt.Sprintf("%s for the %s: %s", asked, what, end)
}

func askedModels(names string) string { return fmt.Sprintf(" (asked %s)", names) }

const thenModel = ", then "

func attemptNumber(n int, text string) string { return fmt.Sprintf("attempt %d: %s", n, text) }

func endedAs(what, end string) string { return what + ": " + end }

const (
	waitsForCaller  = "waits for the caller"
	waitedForCaller = "waited for the caller"
	paused          = "paused"
	aProposal       = "proposal"
)

func tookProposal(what string) string { return "used the caller's " + what }

func lateAnswer(name string) string { return name + " answered too late; the answer is not used" }

func unreadable(why string) string { return "cannot be read: " + why }

// How an effect ended. The first are the words for success.
const (
	wentOn       = "continued"
	answered     = "answered"
	isDone       = "done"
	isOver       = "over"
	hasFailed    = "failed"
	noAnswer     = "no answer"
	notKnown     = "outcome unknown"
	notTried     = "not tried"
	noOutcomeYet = "no outcome is recorded"
)

func because(reason string) string { return fmt.Sprintf(" (%s)", reason) }

// What a call can change.
const (
	onlyReads = " (only reads)"
	writes    = " (writes)"
	destroys  = " (destroys)"
)

// The decision about a call.

const onAllowList = "; on the allow list"

func decidedBy(decision string) string { return "; " + decision }

func changedBy(rules string) string { return ", changed by " + rules }

const andAlso = " and "

func spendsApproval(approval string) string { return ", spends " + approval }

func forStep(step string) string { return " for its step " + step }

func ruleSays(text string) string { return "the rule says: " + text }

func judgedTimes(n int) string { return fmt.Sprintf(", judged %d times until nothing changed", n) }

const earlierRuns = ", earlier runs were checked"

// Questions to a person, and their answers.

func askedPerson(about string) string { return "asked a person about " + about }

func askedWhether(effect string) string {
	return fmt.Sprintf("asked a person whether %s happened", effect)
}

const (
	aCall       = "a call"
	aWholePlan  = "a whole plan"
	noAnswerYet = ": no answer yet"
	expired     = ": no answer before the deadline, so it was rejected"
	notSpent    = ", not spent"
	spentBy     = ", spent by "
	spentFirst  = ", spent first by "
)

func noAnswerBy(until string) string {
	return fmt.Sprintf(": no answer yet; without one by %s it is rejected", until)
}

func byWhom(who string) string { return " by " + who }

func withAssurance(assurance string) string { return ", assurance " + assurance }

func changedArguments(changes string) string { return "; changed: " + changes }

func byKey(id string) string { return "key " + id }

func edited(argument, from, to string) string {
	return fmt.Sprintf("%s from %s to %s", argument, from, to)
}

const nothing = "nothing"

func andThings(count string) string { return "and " + count }

func attemptRefused(approval, by, why string) string {
	return fmt.Sprintf("an attempt to decide %s%s was refused%s", approval, by, why)
}

const itself = "it"

func throughChannel(channel string) string { return " through " + channel }

// The head and the end of a timeline.

const (
	askedByCaller = "Asked, in the caller's words:\n"
	notKnownWho   = "unknown"
	modelUnknown  = "not known"
	noneAsked     = "none asked"
	nowRunning    = "running"
	nowWaiting    = "waiting"
)

func inPhase(phase string) string { return " in phase " + phase }

func askedBy(who string) string { return "Asked by " + who }

func began(at string) string { return ". Began " + at }

func endedAfter(at, took string) string { return fmt.Sprintf(", ended %s after %s", at, took) }

func soFar(took string) string { return "; so far " + took }

func ofItWaiting(took string) string { return fmt.Sprintf(", %s of it waiting", took) }

func endedWith(status, reason string) string { return fmt.Sprintf("ended: %s, %s", status, reason) }

func eventsAndHead(events, head string) string { return fmt.Sprintf("%s, head %s", events, head) }

func tokens(requests string, in, out int) string {
	return fmt.Sprintf(", %s, %d tokens in, %d out", requests, in, out)
}

func atMost(name string, limit float64) string { return fmt.Sprintf("%s at most %v", name, limit) }

func usedOf(name string, used, limit float64) string {
	return fmt.Sprintf("%s %v of %v", name, used, limit)
}

// The receipt.

const (
	receiptTitle    = "RECEIPT\n\n"
	askedUnchecked  = "\nAsked, in the caller's own words (not checked):\n"
	calledInOrder   = "\nCalled, in this order:\n"
	notDone         = "\nProposed and not done:\n"
	checkWith       = "Check it with\n  "
	unreadableArgs  = "arguments that cannot be read"
	noArguments     = "no arguments"
	moreArgument    = "more argument"
	moreValue       = "more value"
	oneProposal     = "a proposal"
	nothingProposed = "no one: nothing was proposed"
	theCaller       = "the caller"
	theRules        = "the offline rules"
	aModel          = "a model"
	thePlan         = "the stored plan"
	failedStatus    = "failed, nothing was done"
	doubtStatus     = "OUTCOME UNKNOWN, it may have been done"
	begunStatus     = "started, no outcome is recorded"
	allowListed     = "it is on the allow list of this tool; no rule judged it"
)

func notYet(status string) string { return "not yet: it is " + status }

func noneYet(status string) string { return "none yet: the run is " + status }

func inAttempts(n int) string { return fmt.Sprintf(", in %d attempts", n) }

func wasDecided(what, decision string) string { return fmt.Sprintf("%s was %s", what, decision) }

func waitsForPerson(what, rule, until string) string {
	return fmt.Sprintf("%s was sent to a person%s. Without an answer by %s it is rejected", what, rule, until)
}

func noOneAnswered(what, rule string) string {
	return fmt.Sprintf("%s was sent to a person%s, and no one answered before the deadline", what, rule)
}

func byNamedRule(rule string) string { return " by rule " + rule }

func throughClient(name string) string { return ", through a client that calls itself " + name }

func withoutWaits(took string) string { return took + " without waits" }

func requestsTo(count, model string, in, out int) string {
	return fmt.Sprintf("%s to %s, %d tokens in, %d out", count, model, in, out)
}

func namedModel(name string) string { return "the model " + name }
