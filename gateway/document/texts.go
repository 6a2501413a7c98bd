package document

import "fmt"

// This file has the texts of the package that people and models read: what a proposed document must be.

// Documents.

const (
	jsonOrChecklist = "neither JSON nor a line such as \"- [ ] what to do\""
)

func oneObject(offset int, why string) string {
	return fmt.Sprintf("one JSON object; byte %d: %s", offset, why)
}

const (
	anObject = "an object"
	notJSON  = "not JSON"
)

// Members, ids and names.

const (
	removeOrKnown = "remove it or use a known name"
	textThatNames = "a text that names it"
	unusedID      = "an id that no other has"
	noneAllowed   = "none is allowed"
	oneOfPrefix   = "one of "
)

func textSpelled(spelling string) string { return fmt.Sprintf("a text such as %s", spelling) }
