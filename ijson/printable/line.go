package printable

import "strings"

// The bounds of one line of a failure, in bytes. What is longer repeats what was typed or read.
const (
	maxLine     = 900
	maxWord     = 400 // paths are shorter
	shownOfWord = 200
)

// Line makes a line of a failure printable. Control and bidi characters are spelled out. Long words and long lines keep
// their beginning and their end.
func Line(text string) string {
	line := Text(text)
	if len(line) <= maxWord {
		return line
	}
	words := strings.Split(line, " ")
	for i, word := range words {
		if len(word) > maxWord {
			words[i] = Brief(word, shownOfWord)
		}
	}
	return Brief(strings.Join(words, " "), maxLine)
}
