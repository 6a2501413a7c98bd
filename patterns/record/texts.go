package record

import "fmt"

// This file has the texts of the package. The texts of [Report] follow the words "event N:", and the others stand inside
// a sentence or a line of a page. Names and outside texts are not escaped here: the caller must do that.

// The lines of a report.
const (
	nothingChecked = "nothing was checked"
	broken         = "broken: "
	whole          = "ok: "
	decidedLine    = "approvals: %d decided, %d of them signed, %d spent"
	signatureLine  = "signatures: %d by key %s"
	uncheckedLine  = "not checked: event %d: %s"
)

// Why an event could not be checked.
const (
	redactedReason = "redacted"
	unreadReason   = "this version cannot read it"
)

// What does not fit: signatures.
const (
	keyNotGiven     = "was signed by key %.40q, which is not the given one"
	keyUnknown      = "was signed by key %.40q, which is not an approver key"
	keyRemoved      = "was signed by key %s after the key was removed"
	keyNotEnrolled  = "was signed by key %s before the key was enrolled"
	unsignedGiven   = "is not signed; the given key must have signed it"
	unsigned        = "is not signed, though an approver key was enrolled then"
	noAct           = "contains an invalid signed act: "
	staleAct        = "was signed more than 300 seconds before or after it was done"
	wrongActSign    = "does not have a valid signature of key %.40s for this act"
	wrongAnswerSign = "does not have a valid signature of key %s for this decision"
	otherAct        = "has the signature of another act, %.40q"
	otherRunsAct    = "has the signature of an act on another run"
	otherEffectsAct = "has the signature of an act on another effect"
	actUsed         = "has a signature that was used before"
	otherSettlement = "gives the run another outcome of %s than the signed one"
)

// What does not fit: questions to people, and their decisions.
const (
	noQuestion      = "asks a person an invalid question: "
	otherDigest     = "asks a person with the digest of another question"
	otherRun        = "asks a person about a call of another run, %.40q"
	noPlan          = "asks a person about a plan that is not this run's"
	decidesAgain    = "decides %.40q a second time"
	noDecision      = "contains an invalid decision of a person: "
	notAsked        = "is a decision of a person about a question that was never asked"
	decidesOther    = "decides about another digest than that of the question"
	decidesLate     = "decides after the approval expired"
	otherAssurance  = "claims the assurance %.20q, but it is %q"
	lowAssurance    = "has the assurance %q, but %q is required"
	toldNoDecision  = "gives the run an invalid decision: "
	toldOtherwise   = "gives the run another decision than the person's"
	toldOtherArgs   = "gives the run other arguments than the person approved"
	planUnapproved  = "is a call of a plan that needed a person's approval, and spends no approval"
	callUnapproved  = "is a call that needed a person's approval, and spends no approval"
	spendsForNoCall = "spends an approval and is not a call"
	spendsUnknown   = "spends %.40q, which no person gave in this run"
	spendsForPlan   = "spends %s, which is for the steps of a plan, but names no step"
	spendsAgain     = "spends %s, which event %d already spent"
	spendsOtherStep = "spends %s, which is for another step, %.60q"
	spendsOtherTool = "spends %s, which is for another tool, %.60q"
	spendsExpired   = "spends %s after it expired"
	spendsInvalid   = "spends %s, which does not allow this call"
	notApproved     = "is not what %s approved: its arguments or its policy differ"
	shareUnknown    = "spends a share of %.40q, which no person gave in this run"
	shareOfCall     = "spends a share of %s, which is for one call and not for a plan"
	shareAgain      = "spends the share %.64q of %s, which event %d already spent"
	stepNotApproved = "is not the step %.64q that %s approved: its tool, arguments or policy differ"
)

// Values.

func cutText(begin string, bytes int) string {
	return fmt.Sprintf("%s... (%d bytes in all)", begin, bytes)
}

const isRedactedText = "redacted"

// Who proposed.

const (
	theOfflineRules = "the offline rules"
	theModel        = "the model"
	aModel          = "a model"
	theCaller       = "the caller"
	theStoredPlan   = "the stored plan"
	rulesNotPeople  = "the offline rules, not a model or a person"
)

func namedModel(name string) string { return "the model " + name }

func itWroteTexts(who, arguments string) string {
	return fmt.Sprintf("%s; it wrote the text of %s", who, arguments)
}

func theyWroteTexts(who, arguments string) string {
	return fmt.Sprintf("%s; they wrote the text of %s", who, arguments)
}

const andRule = ", rule "

func rulesWrote(who, rules, arguments string) string {
	return fmt.Sprintf("%s; rule %s of the policy wrote %s", who, rules, arguments)
}

func rulesChanged(who, rules string) string { return fmt.Sprintf("%s; changed by rule %s", who, rules) }

// DoneBefore is the text for people about a duplicate.
const DoneBefore = "done before; nothing was sent again"

// Decisions of a policy or a person.
const (
	wordApproved    = "approved"
	wordChanged     = "changed"
	wordEscalated   = "sent to a person"
	wordBlocked     = "blocked"
	wordRefused     = "refused"
	wordRejected    = "rejected"
	wordEdited      = "approved with changes"
	wordHappened    = "it happened"
	wordNotHappened = "it did not happen"
	wordNotCompared = ", digest not compared"
)

// Acts on a run from outside.
const (
	noteCanceled = "cancelled"
	noteSeized   = "taken over by a person"
	noteTaken    = "taken over from a process that ended"
	noteLeft     = "released by its process"
	noteSettled  = "an unknown outcome was settled"
	noteRests    = "paused while a child run waits"
	noteWakes    = "continues with its child run"
	noteReloaded = "the configuration was reloaded"
)

// Stored plans.

const unnamedPlan = "a plan"

func planClaimed(plan string) string { return "claimed " + plan }

func planRead(plan string) string { return "read " + plan }

func planStored(plan string, revision int) string {
	return fmt.Sprintf("stored %s, revision %d", plan, revision)
}

func progressStored(plan string, revision int) string {
	return fmt.Sprintf("stored the progress of %s, revision %d", plan, revision)
}

func progressReleased(plan string, revision int) string {
	return fmt.Sprintf("stored the progress of %s, revision %d, and released it", plan, revision)
}

func planReleased(plan string) string { return fmt.Sprintf("released %s unchanged", plan) }

// What a model was asked for.
const (
	askedPlan   = "plan"
	askedRest   = "rest of the plan"
	askedResult = "result of a subtask"
)

// The steps of a plan by kind.
const (
	stepsRead    = "%d only reads"
	stepsWrite   = "%d writes"
	stepsDestroy = "%d destroys"
	stepsModel   = "%d by the model"
	stepsCaller  = "%d by the client's agent"
)

// Why a recorded proposal cannot be judged again.
const (
	HiddenRedacted = "some of its values are redacted in the record"
	HiddenCut      = "it was too large for the record"
	HiddenRevised  = "the record has only the revised arguments"
)
