package cli

import (
	"patterngate/ijson/printable"
	"strings"
)

// The bounds of one line of a failure, in bytes. What is longer repeats what was typed or read.
const (
	maxErrorLine = 900
	maxErrorWord = 400 // paths are shorter
	shownOfWord  = 200
)

// errorLine returns a line of a failure as it is printed. Control and bidi characters are spelled out. Long words and long lines keep
// their beginning and their end.
func errorLine(text string) string {
	line := printable.Text(text)
	if len(line) <= maxErrorWord {
		return line
	}
	words := strings.Split(line, " ")
	for i, word := range words {
		if len(word) > maxErrorWord {
			words[i] = printable.Brief(word, shownOfWord)
		}
	}
	return printable.Brief(strings.Join(words, " "), maxErrorLine)
}
