package server

import (
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// maxShownName is how much of a name that an outsider chose stands in texts for readers, in bytes as shown.
const maxShownName = 64

// shownName is the beginning of an outsider's name, fit to stand in a sentence.
func shownName(name string) string {
	shown := make([]byte, 0, maxShownName)
	for _, r := range name {
		n := len(shown)
		if r < utf8.RuneSelf && !printable.IsControl(r) {
			shown = append(shown, byte(r))
		} else {
			shown = printable.Append(shown, string(r))
		}
		if len(shown) > maxShownName {
			return string(shown[:n])
		}
	}
	if string(shown) == name {
		return name
	}
	return string(shown)
}

// shownReason is a stop reason fit to stand in a sentence: the part that an outsider named is cut.
func shownReason(reason string) string {
	family, name, named := strings.Cut(reason, ":")
	if !named {
		return shownName(reason)
	}
	return family + ":" + shownName(name)
}

// headings begin the lines of a text channel that are ours alone.
var headings = []string{
	"OK", "STOPPED", "RUNNING", "WAITING", "WAITING_FOR", "NEXT", "PROBLEMS", "ANSWER", "OBSERVATIONS", "EFFECTS",
	"JUDGED", "BLOCK", "TOOLS", "PATTERNS", "NEXT_CURSOR", "STEP", "OBSERVATION", "RUNS", "SUBTASKS", "PLANS",
}

// label is an outsider's name fit to begin a line: quoted unless it is plainly a name and no heading, so that it cannot
// be taken for anything else. Quoted it is a JSON string.
func label(name string) string {
	if name != "" && len(name) <= maxShownName && strings.TrimLeftFunc(name, plain) == "" && !slices.Contains(headings, name) {
		return name
	}
	return printable.Text(string(ijson.Canonical(ijson.Cut(name, maxShownName))))
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
