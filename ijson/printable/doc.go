// Package printable makes text from outside fit for a terminal, a log or a shell. A file, a server or a model can send escape sequences,
// line ends, characters that reverse the order of reading, or thousands of bytes. None of them reaches a reader unchanged.
//
//	text ──Text──▶ control and bidi characters as \uXXXX ──Brief──▶ beginning and end of a long text
//	  └────Line──▶ both: one line of a failure
//
// Read printable.go first.
package printable
