package planning

import "fmt"

// This file has the texts of the package that people and models read: what a plan and its subtasks must be.

// Values.

const (
	aBool           = "true or false"
	aText           = "a text"
	textThatNames   = "a text that names it"
	textOfWork      = "a text that says what to do"
	shortText       = "at most 4,000 characters"
	argumentsObject = "an object of arguments"
)

// The number of subtasks and levels.

func subtaskList(least, most int) string {
	return fmt.Sprintf("a list of %d to %d subtasks", least, most)
}

func subtaskCount(least, most int) string {
	return fmt.Sprintf("%d to %d subtasks", least, most)
}

func atLeastSubtasks(least, has int) string {
	return fmt.Sprintf("at least %d subtasks, not %d", least, has)
}

func atMostSubtasks(most, has int) string {
	return fmt.Sprintf("at most %d subtasks, not %d", most, has)
}

func atMostLevels(most string) string {
	return fmt.Sprintf("at most %s levels", most)
}

// A subtask and its id.

const (
	subtaskForm       = "an object {id, description, dependencies, tool, args}"
	idForm            = "1 to 64 of a-z, 0-9, _ and -, the first a letter or digit"
	newID             = "an id that no subtask of this plan ever had"
	unusedID          = "an id that no other has"
	chooseID          = "give it another id, and use the right id where other subtasks name it"
	toolModelOrCaller = "a tool's name, model or caller"
	newWork           = "other work than the removed subtasks"
)

// Dependencies and parents.

const (
	idList                 = "a list of different ids; [] for none"
	otherSubtaskOfPlan     = "the id of another subtask of the plan"
	otherSubtask           = "the id of another subtask"
	otherSubtaskOfThisPlan = "the id of another subtask of this plan"
)

func noCycle(cycle string) string {
	return fmt.Sprintf("no subtask that waits for itself, as in %s", cycle)
}

const (
	joiningSubtask = "the id of the subtask that joins the results of this one"
)

// References to results.

const (
	referenceForm    = "$results.ID or $results.ID./POINTER (RFC 6901); write $$ for a $ at the beginning"
	referenceInPlan  = "a reference to a subtask of the plan"
	referenceToOther = "a reference to another subtask"
)

func referenceToDependency(id string) string {
	return fmt.Sprintf("a reference to a child or to a dependency (also an indirect one); add %s to the dependencies", id)
}

func placeInResult(id string) string {
	return fmt.Sprintf("a place that the result of %s can have", id)
}

// What the caller's work must return.

const (
	onlyCaller      = "only if the tool is caller"
	chooseCaller    = "remove it or give the subtask to the caller"
	schemaForm      = "a JSON schema of at most 16 KiB without references to other documents or circles"
	expectNotSchema = "a schema: what the plan expects is not one"
	smallerValue    = "a smaller value: this one takes too long to check against its schema"
)
