package server

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"patterngate/ijson/printable"
)

// atMost cuts a text to n characters. A text that is cut ends in "...".
func atMost(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return string(runes[:n-3]) + "..."
}

// shownNames lists the names of tools, each cut and escaped.
func shownNames(names []string) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = printable.Name(n)
	}
	return strings.Join(shown, ", ")
}

// maxSummary is the greatest length of a summary, and of a text for a person, in characters.
const maxSummary = 600

// paragraph joins sentences and cuts them to the length of a summary.
func paragraph(sentences ...string) string { return atMost(joined(sentences...), maxSummary) }

// joined joins the sentences that are not empty into one paragraph.
func joined(sentences ...string) string {
	var said []string
	for _, s := range sentences {
		if s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, " ")
}

// count returns a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// withRoom returns a paragraph with a last sentence. It cuts the text so that the sentence fits.
func withRoom(text, last string) string {
	if last == "" {
		return text
	}
	last = atMost(last, maxSummary/2)
	return atMost(text, maxSummary-len([]rune(last))-1) + " " + last
}

// maxPhrases is how many calls a sentence names before it only counts the rest.
const maxPhrases = 4

// inWords joins phrases and counts those beyond maxPhrases.
func inWords(list []string) string {
	if more := len(list) - maxPhrases; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxPhrases], "; "), more)
	}
	return strings.Join(list, "; ")
}
