package decisions

// This file has the texts of the package that people read: why an answer does not count.

// An answer that does not count.

const (
	notOneDocument = "not one JSON document: %w"
	notDecision    = "%w: %.20q is not a decision"
	otherCall      = "%w: the answer is for another call"
	noPerson       = "%w: the answer does not say which person gave it"
	commentTooLong = "%w: a comment has at most %d characters"
	otherTime      = "%w: the answer was given at another time"
	keysChanging   = "%w: the keys of approvers change too fast"
)

// What an edit must be.

const (
	otherValue = "another value of one argument; approve runs the call unchanged"
	noPlanEdit = "approve or reject; to change the plan, use a replan, which asks again"
	noEditHere = "approve or reject; the arguments of the tool are not known here"
)
