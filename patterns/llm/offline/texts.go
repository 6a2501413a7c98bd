package offline

import "fmt"

// This file has the texts of the package that people read: questions and answers of the offline rules.

// Questions.

const (
	nothingFits = "None of the tools fits the request. Describe the task in other words, or send your own proposal."
)

func tooFewCalls(least, has int, names string) string {
	return fmt.Sprintf("A plan needs %d different calls, and the request asks for %d (%s). Ask for more, or send your own plan.", least, has, names)
}

const (
	ticketUnclear = "The ticket does not say enough to choose who should answer it. What is it about?"
)

func ticketAmbiguous(targets string) string {
	return fmt.Sprintf("The ticket could be for several: %s. Which one is meant?", targets)
}

func argumentMissing(tool, name, hint string) string {
	return fmt.Sprintf("To %s I need %s (%s); the request does not contain it. What is it?", tool, name, hint)
}

func argumentAmbiguous(tool, name, values string) string {
	return fmt.Sprintf("To %s I need one %s, and the request names several: %s. Which one is meant?", tool, name, values)
}

const (
	answerNotJSON = "This pattern's answer must be JSON, and the offline rules write only prose. Configure a model in llm, call without a final text, or send the final answer yourself."
	noReplan      = "The offline rules make no new plan after a failure. Send the remaining subtasks as plan, or configure a language model."
)

// Answers.

func confirmation(done string) string {
	return fmt.Sprintf("We confirm what was done. %s", done)
}

func stoppedBy(tool, why string) string {
	return fmt.Sprintf("Stopped: %s answered with an error (%s), so nothing more was done.", tool, why)
}

const (
	noToolLeft = "Nothing was called: no tool is left for this request."
)

func requestForbids(tool string) string {
	return fmt.Sprintf("Not done: %s, because the request also says not to.", tool)
}

func requestUnclear(tool string) string {
	return fmt.Sprintf("Not done: %s, because the request does not clearly ask for it.", tool)
}

func notProposed(tool string) string {
	return fmt.Sprintf("Not proposed: %s, because it changes something.", tool)
}

func otherFigure(asked, used string) string {
	return fmt.Sprintf("The request named %s; %s was executed.", asked, used)
}

const (
	nothingFound = "Nothing was found: no step returned any data."
)

func tooLong(label string) string {
	return fmt.Sprintf("%s: the result is too long to show.", label)
}

func joinResults(goal string) string {
	return fmt.Sprintf("Join the results into one answer to: %s", goal)
}

// changesSomething says why the rules do not propose a tool.
func changesSomething(tool string) string {
	return fmt.Sprintf("%s changes something. The offline rules propose that only if the pattern's configuration has llm: {provider: rules}. Send the call yourself, or ask for something that only reads.", tool)
}

// passedOn says that a specialist declined, and why.
func passedOn(specialist, why string) string {
	return fmt.Sprintf("%s passed it on (%s).", specialist, why)
}

const fromFirstEntry = " from the first entry of " // a step follows
