package local

// This file has the texts of the package that people read: what is wrong with runs, records and reloads.

// Runs and their records.

const (
	changingOwner    = "%w: the owner of the run changes too often"
	itsChild         = "its child run %s: %w"
	callOver         = "the call that started it is over"
	noPatternOfKind  = "no pattern of kind %q"
	rowDiffers       = "%w: its row differs from its first event"
	noPatternFor     = "%w: no pattern of kind %q"
	notEnded         = "%w: the run has not ended"
	noStart          = "%w: it does not begin with a start"
	notOneDocument   = "not one JSON document: %w"
	decidedContinues = "it was decided and continues as soon as a server takes it"
)

// Reloads.

const (
	noProgramServes  = "no program serves from this state file"
	answerUnreadable = "its answer cannot be read"
)
