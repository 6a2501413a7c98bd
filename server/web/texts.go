package web

// The sentences of the pages are in package wording and in the files of html. This file holds the words of the graph of a plan, and commands.

// The statuses of a subtask.
const (
	wordCompleted = "completed"
	wordRunning   = "in progress"
	wordWaits     = "waits for the caller"
	wordReady     = "ready"
	wordPending   = "pending"
	wordBlocked   = "blocked"
	wordSkipped   = "skipped"
	wordFailed    = "failed"
	wordInDoubt   = "in doubt"
)

// resumeCommand returns the command that continues a run where no server does.
func resumeCommand(run string) string { return "patterngate runs resume " + run }
