package server

import (
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// shownReason returns a stop reason for use in a sentence. The part after the colon can come from outside, so it is cut
// and escaped like a name.
func shownReason(reason string) string {
	family, name, named := strings.Cut(reason, ":")
	if !named {
		return printable.Name(reason)
	}
	return family + ":" + printable.Name(name)
}

// headings are the words that begin the server's own lines in the text channel.
var headings = []string{
	"OK", "STOPPED", "RUNNING", "WAITING", "WAITING_FOR", "NEXT", "PROBLEMS", "ANSWER", "OBSERVATIONS", "EFFECTS",
	"JUDGED", "BLOCK", "TOOLS", "PATTERNS", "NEXT_CURSOR", "STEP", "OBSERVATION", "RUNS", "SUBTASKS", "PLANS",
}

// label returns an outside name for the beginning of a line. It is unchanged if it has only letters, digits, "_", "-"
// and "." and is no heading. Any other name is quoted as a JSON string, so that it cannot look like another part of the
// text.
func label(name string) string {
	if name != "" && len(name) <= printable.MaxName && strings.TrimLeftFunc(name, plain) == "" && !slices.Contains(headings, name) {
		return name
	}
	return printable.Text(string(ijson.Canonical(ijson.Cut(name, printable.MaxName))))
}

func plain(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return true
	}
	return r == '_' || r == '-' || r == '.'
}

// atMost cuts a text to n characters. A text that is cut ends in "...".
func atMost(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return string(runes[:n-3]) + "..."
}
