// Package console holds what every command needs to talk to a person at a terminal, and nothing about runs: failures with exit codes,
// colours, text cut and folded to a width, words for a shell, and the standard streams.
//
//	a command ──Fault, Usage──► Error ──► exit code and two lines on standard error
//	text from outside ──Clip, Fenced──► one line, or lines with a bar before each
//
// Read errors.go first, then text.go.
package console
