package rules

import "fmt"

// This file has the texts of the package that people read: what is wrong with policies, and what would be right. The meanings of keys are in the tables of keys.

// What a key takes.

const (
	mappingOfNames     = "mapping of names"
	mappingOfValues    = "mapping of names to values"
	mappingOfCEL       = "mapping of names to CEL"
	mappingOfArguments = "mapping of arguments to CEL, numbers or booleans"
	nameOrNames        = "a name, or a list of names"
	listOfNames        = "list of names"
	aTime              = "a time"
	orPrincipalID      = ", or an id: token:ci"
)

// Descriptions with the keys below them.

func principalMeaning(keys string) string {
	return fmt.Sprintf("Whose run it is: %s.", keys)
}

func clientMeaning(keys string) string {
	return fmt.Sprintf("The program that makes the call: %s.", keys)
}

func blockMeaning(keys string) string {
	return fmt.Sprintf("Refuses the call: %s.", keys)
}

func escalateMeaning(keys string) string {
	return fmt.Sprintf("Asks a person: %s.", keys)
}

// Policies and their files.

const (
	tooManyPolicies = "more than 100 policies"
	wantFewer       = "write fewer"
	wantRulesOrFile = "write a mapping with rules, or {file: PATH}"
	besideFile      = "not allowed next to file"
	wantInFile      = "move it to that file, or remove file"
	wantFile        = "write the path of a file"
	largeFile       = "larger than 1 MiB"
	wantSmallerFile = "write a smaller file"
	wantRules       = "write a mapping with rules"
	notFile         = "not a regular file"
)

// Params and windows.

const (
	wantParam           = "write a number, text, true or false, or a list of one of these"
	tooLong             = "too long"
	wantShortParam      = "write at most 4096"
	spanAndCalendar     = "both seconds and calendar"
	wantOneSpan         = "keep one"
	noSpan              = "no time span"
	wantSpan            = "write seconds, or calendar: day, week or month"
	zoneWithoutCalendar = "a timezone without a calendar"
	wantRemoved         = "remove it"
	wantWindowTools     = "write the tools whose calls it holds"
	notZone             = "not a timezone"
	wantZone            = "write an IANA name: Europe/Berlin"
)

// Rules.

const (
	wantRuleID = "write a name; records use it"
	wantReason = "write a reason: a lower-case letter, then up to 63 lower-case letters, digits and _"
	noOutcome  = "no outcome"
)

func wantOutcome(words string) string {
	return fmt.Sprintf("write one of %s", words)
}

const (
	wantOneOutcome = "keep one or write two rules"
	emptyMatch     = "matches nothing"
	wantMatch      = "write names, or remove it"
	unknownKey     = "unknown key"
	wantRevised    = "write CEL in quotes, a number, true or false"
	emptyRevise    = "changes nothing"
	wantRevise     = "write the arguments that it changes"
	notName        = "not a name"
)

// Tests.

const (
	finalForm       = "wrong form for final"
	wantFinalForm   = "write {tool: final, args: {answer: TEXT}}"
	wantTestName    = "write what the test shows"
	wantJudgedCall  = "write the call that is judged: {tool, args}"
	wantVerdict     = "write approve, revise, escalate or block"
	wantEarlierTool = "write the tool that was called"
	wantArguments   = "write a mapping, {} for none"
	wantCalledTool  = "write the tool that is called"
	wantBytes       = "write 1 to 256 bytes"
	wantPrincipal   = "write local:NAME or token:NAME"
	wantShortText   = "write at most 256 bytes"
	wantTime        = "write a time: \"2026-11-22T09:30:00Z\""
	notTime         = "not a time"
)
