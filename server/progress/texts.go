package progress

// This file has the texts of the package: the last lines of progress. The lines before it come from the patterns.

func line(phase, words string) string { return phase + ": " + words }

const isDone = "done"

func stopped(reason string) string { return "stopped, " + reason }
