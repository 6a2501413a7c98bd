package sentence

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"patterngate/ijson/printable"
)

// AtMost cuts a text to n characters. A text that is cut ends in "...".
func AtMost(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return string(runes[:n-3]) + "..."
}

// Names lists the names of tools, each cut and escaped.
func Names(names []string) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = printable.Name(n)
	}
	return strings.Join(shown, ", ")
}

// MaxLength is the greatest length of a summary, and of a text for a person, in characters.
const MaxLength = 600

// Paragraph joins sentences and cuts them to the length of a summary.
func Paragraph(sentences ...string) string { return AtMost(Joined(sentences...), MaxLength) }

// Joined joins the sentences that are not empty into one paragraph.
func Joined(sentences ...string) string {
	var said []string
	for _, s := range sentences {
		if s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, " ")
}

// Count returns a number of things in words.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// WithLast returns a paragraph with a last sentence. It cuts the text so that the sentence fits.
func WithLast(text, last string) string {
	if last == "" {
		return text
	}
	last = AtMost(last, MaxLength/2)
	return AtMost(text, MaxLength-len([]rune(last))-1) + " " + last
}

// MaxListed is how many calls a sentence names before it only counts the rest.
const MaxListed = 4

// List joins phrases and counts those beyond [MaxListed].
func List(list []string) string {
	if more := len(list) - MaxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:MaxListed], "; "), more)
	}
	return strings.Join(list, "; ")
}
