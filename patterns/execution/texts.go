package execution

import "fmt"

// This file has the texts of the package that people read: why a run cannot continue.

// A child run.

const (
	childRefused = "a run of %s is not started: runs can be at most %d deep in each other, and each has a share of its parent's budget"
	callOver     = "the call that started it is over"
)

func planChanged(run string) string {
	return fmt.Sprintf("its plan was changed by %s", run)
}

// A business key.

const (
	keyInUse       = "%s: another call of this run uses the business key"
	otherArguments = "with other arguments"
	outcomeUnknown = "and its outcome is still unknown"
	keyUsed        = "%s: the business key was used by %s of %s %s"
)

// A record that the code does not fit.

const (
	recordedAs     = "%w: %s was recorded as %s and is now %s"
	judgedOf       = "%w: %s was judged for %s and is now for %s"
	recordedUnused = "%w: %s was recorded and is not used any more"
	notRecorded    = "%w: %s is not recorded"
	noPatternFor   = "%w: no pattern of kind %q"
	hiddenWords    = "%w; its text has redacted values"
	hiddenText     = "the text has redacted values"
)

// Pattern code that ends in a wrong way.

const (
	codePanicked   = "pattern code panicked: %v\n%s"
	panickedDry    = "pattern code panicked in a dry run: %v\n%s"
	panickedShown  = "pattern code panicked while it was shown: %v\n%s"
	endedGoroutine = "%s ended its goroutine"
	toolPanicked   = "%s panicked: %v\n%s"
)
