package arguments

import (
	"fmt"
	"strings"
)

// This file has the texts of the package that people and models read: what the arguments of a call must be, and how the
// published schemas and the prompts describe them.

// Forms of values.

const (
	aString         = "a string"
	objectOrString  = "an object, or a string with its JSON"
	arrayOrString   = "an array, or a string with its JSON"
	aBool           = "true or false"
	wholeFromOne    = "a whole number, 1 or more"
	secondsNumber   = "a number of seconds"
	printable       = "1 to 255 printable ASCII characters"
	stepHandle      = "a step number, task or subtask id, attempt or effect key"
	aTime           = "a time such as 2026-11-21T09:30:00Z"
	wholeNumber     = "a whole number"
	planOrString    = "an object, or a string: its JSON or a checklist"
	resultsByID     = "an object of {status: completed or failed, result} by subtask id"
	aValue          = "a value"
	argumentsObject = "an object of arguments"
)

func aValueOf(form string) string {
	return fmt.Sprintf("a value %s", form)
}

func oneOf(names string) string {
	return fmt.Sprintf("one of %s", names)
}

// Bounds.

func pageSize(most int) string {
	return fmt.Sprintf("a whole number from 1 to %d", most)
}

func atMostText(most string) string {
	return fmt.Sprintf("at most %s bytes", most)
}

func atMostBytes(most int) string {
	return fmt.Sprintf("at most %d bytes", most)
}

func atMostInAll(most int) string {
	return fmt.Sprintf("at most %d bytes in all", most)
}

func atMostLevels(most int) string {
	return fmt.Sprintf("at most %d levels", most)
}

func waitSeconds(most int) string {
	return fmt.Sprintf("0 to %d; 0 returns at once", most)
}

func wholeFrom(least int) string {
	return fmt.Sprintf("a whole number, %d or more", least)
}

func wholeBetween(least, most int) string {
	return fmt.Sprintf("a whole number from %d to %d", least, most)
}

const (
	zeroOrMore = "0 or more"
)

func notBlank(form string, most int) string {
	return fmt.Sprintf("%s that is not blank, at most %d bytes", form, most)
}

func numberRange(most int) string {
	return fmt.Sprintf("finite numbers, and integers from -%d to %d; send longer ids as strings", most, most)
}

func oneDocument(why string) string {
	return fmt.Sprintf("one JSON document (I-JSON, RFC 7493), but: %s", why)
}

// A run that continues.

func runOf(tool string) string {
	return fmt.Sprintf("a run of %s that you started and that is still stored", tool)
}

func yourNext(what string) string {
	return fmt.Sprintf("your next %s", what)
}

const (
	runToContinue   = "the run that this turn belongs to"
	sameOrNothing   = "the value that the run started with, or nothing"
	removeOrRestart = "remove it to continue the run, or start another run"
)

func sameAsBefore(was string) string {
	return fmt.Sprintf("the value that the waiting run started with, or nothing; it was %s", was)
}

// Plans and the caller's results.

const (
	planHasGoal   = "nothing: the plan has its own"
	removeOrPlan  = "remove it, or make another plan"
	resultObject  = "{status: completed or failed, result}"
	resultMembers = "only status and result"
	resultStatus  = "completed or failed"
)

func resultBytes(most, has int) string {
	return fmt.Sprintf("at most %d bytes of JSON; this has %d", most, has)
}

const (
	notBoth       = "plan_id or plan, not both"
	chooseOne     = "send either the id of a stored plan or your own plan"
	planMissing   = "the id of a stored plan, or plan: your own"
	replanMissing = "your new subtasks for the remaining work; no language model is configured here"
)

// The published schemas and the prompts. A client's model reads them before it calls a tool. Each
// conversation pays for them, so a member whose name says enough has no text. Further texts are in the tags of the input
// structs.

// Arguments of all patterns.
const (
	goalWords          = "What you want, with every id, date and amount."
	requestWords       = "The request, unchanged."
	finalizeYes        = "Write a final text. Default true."
	finalizeNo         = "Write a final text. Default false."
	finalizeAuto       = "Write a final text. Default true; false if you propose."
	continueWords      = "Continues this waiting run, as in next."
	closingWords       = "Kind final: the result."
	closingObjectWords = "Kind final: an object like the result's answer."
	noNames            = "No name is allowed."
	goalOfPattern      = "the goal of a pattern"
)

// argumentsWords describes the arguments of a worker or route. left are those that a proposal can omit.
func argumentsWords(left []string) string {
	if len(left) == 0 {
		return "Its arguments."
	}
	return "You can omit: " + strings.Join(left, ", ") + "."
}

// Intents: plans, routes and actions.
const (
	noTools     = "none"
	eachTool    = "each"
	otherTools  = "others"
	routeForms  = "one target"
	ownActions  = "In order, the last one final; with fewer, the run waits for more."
	actionsForm = "one or several in order, the last one of kind final"
	ownSubtasks = "Or a Markdown checklist as a string."
	subtaskTool = "One of those listed, or caller: you do it (default)."

	subtaskToolOrModel = "One of those listed, model (default), or caller: you do it."
	contextWords       = "Facts for the plan."
	catalogHas         = " (arguments: " + CatalogTool + ")"
)

// intentWords describes an intent with the tools that it can name and a whole example. what is "" or a sentence.
func intentWords(what, tools, example string) string {
	return strings.TrimPrefix(what+" Tools: ", " ") + tools + ". Example: " + example
}

func ownRest(decompose string) string { return "Your subtasks for the rest, as in " + decompose + "." }

func stepsForm(least, most int) string { return fmt.Sprintf("%d to %d steps in order", least, most) }

func tasksForm(most int) string { return fmt.Sprintf("up to %d tasks, run in parallel", most) }
