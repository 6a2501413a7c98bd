// Package console connects a command to a person at a terminal. It holds the standard streams and the environment of
// one invocation, failures with exit codes, and colours. It cuts and folds text to a width, and splits and quotes words
// for a shell. It does not know runs.
//
//	[Console] ──Print, PrintJSON, Confirm──► standard output, a question at the terminal
//	a command ──Fault, Usage──► Error ──► exit code, the cause on standard error, and what to try if that is known
//	text from outside ──Clip, Fenced──► one line, or lines with a bar before each
//	work that takes a while ──Spin──► one line at the terminal, rewritten until the work ends
//
// Read console.go first, then errors.go and text.go.
package console
