package server

import (
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// shownReason is a stop reason fit to stand in a sentence: the part that an outsider named is cut.
func shownReason(reason string) string {
	family, name, named := strings.Cut(reason, ":")
	if !named {
		return printable.Name(reason)
	}
	return family + ":" + printable.Name(name)
}

// headings begin the lines of a text channel that are ours alone.
var headings = []string{
	"OK", "STOPPED", "RUNNING", "WAITING", "WAITING_FOR", "NEXT", "PROBLEMS", "ANSWER", "OBSERVATIONS", "EFFECTS",
	"JUDGED", "BLOCK", "TOOLS", "PATTERNS", "NEXT_CURSOR", "STEP", "OBSERVATION", "RUNS", "SUBTASKS", "PLANS",
}

// label is an outsider's name fit to begin a line: quoted unless it is plainly a name and no heading, so that it cannot
// be taken for anything else. Quoted it is a JSON string.
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

// atMost is text cut to n characters, marked where it was cut.
func atMost(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return string(runes[:n-3]) + "..."
}
