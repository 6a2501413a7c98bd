// Package console holds what every command needs to talk to a person at a terminal, and nothing about runs: the standard streams and the
// environment of one invocation, failures with exit codes, colours, text cut and folded to a width, and words for a shell.
//
//	[Console] ──Print, PrintJSON, Confirm──► standard output, a question at the terminal
//	a command ──Fault, Usage──► Error ──► exit code and two lines on standard error
//	text from outside ──Clip, Fenced──► one line, or lines with a bar before each
//
// Read console.go first, then errors.go and text.go.
package console
