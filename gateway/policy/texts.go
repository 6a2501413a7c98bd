package policy

import "fmt"

// This file has the texts of the package that people read: what is wrong with policies, their expressions and tests.

// Expressions as a whole.

func noExpressions(why string) string {
	return fmt.Sprintf("no expressions here: %s", why)
}

func noPolicies(why string) string {
	return fmt.Sprintf("no policies here: %s", why)
}

// Names and what they belong to.

const (
	noTool       = "no tool"
	repeatedName = "repeated name"
)

func hasNoArgument(tool string) string {
	return fmt.Sprintf("%s has no argument", tool)
}

func hasNoArgumentNamed(tool, name string) string {
	return fmt.Sprintf("%s has no argument %s", tool, name)
}

func needsArgument(tool, name string) string {
	return fmt.Sprintf("%s needs the argument %s", tool, name)
}

func argumentMisfits(name, tool string) string {
	return fmt.Sprintf("%s of %s does not fit", name, tool)
}

func notReached(tool string) string {
	return fmt.Sprintf("no pattern with this policy reaches %s", tool)
}

const (
	noPatternPrefix = "no pattern with this policy:"
	noInput         = "no input"
	noStatus        = "no status"
)

func resultHasNoMember(tool string) string {
	return fmt.Sprintf("the result of %s has no member", tool)
}

const (
	neitherToolNorArgument = "neither a tool nor an argument:"
)

// Values.

const (
	wholeNumber  = "a whole number"
	aNumber      = "a number"
	aText        = "a text"
	aBool        = "true or false"
	notJSONValue = "not a JSON value"
)

func gotButNeeded(got, needed string) string {
	return fmt.Sprintf("got %s, but %s is needed", got, needed)
}

func notAmongValues(shown string) string {
	return fmt.Sprintf("%s is not one of the values", shown)
}

const (
	expressionOrValue = "an expression, a number or a bool"
	outOfBounds       = "out of bounds"
)

// Params and vars.

const (
	repeatedParam = "repeated param"
	noParam       = "no param"
	paramForm     = "a param is a number, text, bool or a list of one of these"
)

func gotButParam(got, kind string) string {
	return fmt.Sprintf("got %s, but the policy's is %s", got, kind)
}

const (
	repeatedVar = "repeated var"
)

func varReadsItself(name string) string {
	return fmt.Sprintf("vars.%s reads itself", name)
}

func varBelow(name string) string {
	return fmt.Sprintf("vars.%s is defined below; a var reads only those above it", name)
}

// Windows.

const (
	repeatedWindow = "repeated window"
)

func noZone(quoted string) string {
	return fmt.Sprintf("no time zone %s", quoted)
}

const (
	zoneForm         = "an IANA name, such as Europe/Berlin"
	windowEmpty      = "no tools, so the window is always empty"
	spanMissing      = "the time span is missing"
	spanForm         = "seconds: 86400, or calendar: day"
	spanAndCalendar  = "seconds and calendar; keep one"
	noCalendar       = "no calendar"
	zoneOnlyCalendar = "only a calendar has a time zone"
	windowUnknown    = "windows.%s: the earlier runs are not known"
	windowTooLong    = "windows.%s: more than %d calls"
)

// Rules.

func repeatedID(id string, n int) string {
	return fmt.Sprintf("%s is also the id of rule %d", id, n)
}

func reservedReason(name, use string) string {
	return fmt.Sprintf("the reason %s is reserved: %s", name, use)
}

const (
	reasonOfNoPolicy = "calls that no policy judges have it"
	reasonOfNoRule   = "calls that no rule lets pass have it"
	reasonOfEndless  = "calls that rules change without end have it"
	reasonOfUsedKey  = "calls whose business key was used before have it"
	reasonOfErrors   = "the reason of rules that cannot be evaluated begins with it"
	noOutcome        = "no outcome"
	outcomes         = "block, revise, escalate or approve"
)

func severalOutcomes(count, list, rules string) string {
	return fmt.Sprintf("%s outcomes, %s; keep one or write %s rules", count, list, rules)
}

const (
	changesNothing = "changes nothing"
	reviseForm     = "argument: value"
)

func typeUnknown(tool string) string {
	return fmt.Sprintf("the arguments of %s are not known yet, so they are dyn here", tool)
}

const (
	finalNotRevised = "a final answer cannot be revised: block it, or say what is needed"
)

func argumentIsSet(name, tool string) string {
	return fmt.Sprintf("the configuration sets %s of %s, and no rule can change it", name, tool)
}

// Rules that never fire, and gaps.

const (
	neverReached = "can never fire: no pattern with this policy reaches a tool"
	neverMatched = "can never fire: it matches no tool; remove match to match every tool"
	neverFinal   = "can never fire: no supervisor has this policy, and only supervisors judge a final answer"
)

func neverReachedTools(names string) string {
	return fmt.Sprintf("can never fire: no pattern with this policy reaches %s", names)
}

const (
	neverTrue    = "can never fire: it is false for every call"
	alwaysFails  = "can never be evaluated: it fails for every call"
	noSay        = "the rule asks a person and does not say why"
	wantSay      = "say: TEXT, which the approver reads"
	finalBlocked = "no rule matches final, so every final answer is blocked"
)

func wantFinalRule(id string) string {
	return fmt.Sprintf("{id: %s, match: [final], approve: {}}", id)
}

func toolBlocked(tool string) string {
	return fmt.Sprintf("no rule matches %s, so every call of it is blocked", tool)
}

func wantToolRule(id, tool string) string {
	return fmt.Sprintf("{id: %s, match: [%s], approve: {}} to let it pass, or block it with a rule", id, tool)
}

const (
	policyUnused = "no pattern and no tool uses this policy"
	policyEmpty  = "no rule, so everything is blocked"
)

// The joined result of an orchestrator.

func tooManyFields(most int) string {
	return fmt.Sprintf("more than %d fields", most)
}

func tooManyRules(most int) string {
	return fmt.Sprintf("more than %d rules", most)
}

const (
	repeatedField = "repeated field"
	noColour      = "no colour"
)

func fieldReadsItself(name string) string {
	return fmt.Sprintf("fields.%s reads itself", name)
}

func fieldBelow(name string) string {
	return fmt.Sprintf("fields.%s is defined below; a field reads only those above it", name)
}

const (
	fieldTooLarge  = "more than %d bytes, or %d with the fields above it"
	theObservation = "the observation"
	noJSONForm     = "its value has no form in JSON, or is too large"
)

func notThere(name string) string {
	return fmt.Sprintf("there is no %s", name)
}

const (
	memberAbsent = "a member is absent"
)

// Business keys and unknown outcomes.

const (
	onceForm         = "a key is 1 to 128 letters, digits or . _ ~ : -"
	onceReadsNothing = "reads no argument, so only one call can ever be made"
	onceLength       = "%w: it has %d bytes"
)

func happenedReadsNothing(tool string) string {
	return fmt.Sprintf("reads nothing of result, so there is no need to call %s", tool)
}

const (
	sameForAll           = "reads nothing of result, so it says the same for every call"
	notKnownYet          = "%w: it is not known yet"
	optionalWithoutValue = "%w: an optional without a value"
)

// Tests of a policy.

const (
	okOnlyDone    = "only a call with status done is ok"
	okWithError   = "the result has an error"
	testNoPolicy  = "%s: no policy"
	testNoPattern = "%s: no pattern %s with this policy"
	testNotJudged = "%s: the policy does not judge %s"
	notOK         = "not ok"
)

func wantDecision(want, got, reason, why string) string {
	return fmt.Sprintf("want %s, got %s %s%s", want, got, reason, why)
}

func wantArgs(name, want, got string) string {
	return fmt.Sprintf("want args.%s %s, got %s", name, want, got)
}

func wantNeed(want, got string) string {
	return fmt.Sprintf("want %s, got %s", want, got)
}

const (
	noNeed  = "no need"
	aBudget = "a budget"
)
