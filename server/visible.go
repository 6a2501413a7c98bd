package server

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
)

// maxShownName is how much of a name that an outsider chose stands in texts for readers, in bytes as shown.
const maxShownName = 64

// appendVisible appends text with its control and bidi characters spelled as \uXXXX, so that nothing in it can end a
// line, colour a terminal or turn the order of what is read. JSON stays the same JSON.
func appendVisible(dst []byte, text string) []byte {
	from := 0 // text[from:i] goes as it is
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if unseen(r) {
			dst = append(dst, text[from:i]...)
			dst = fmt.Appendf(dst, `\u%04x`, r)
			from = i + size
		} else if r == utf8.RuneError && size == 1 { // a stray byte; some terminals obey those of C1
			dst = utf8.AppendRune(append(dst, text[from:i]...), r)
			from = i + size
		}
		i += size
	}
	return append(dst, text[from:]...)
}

// Visible is text with its control and bidi characters spelled as \uXXXX, fit for a terminal or a log.
func Visible(text string) string { return string(appendVisible(nil, text)) }

// unseen reports whether a character acts instead of showing: controls, line and paragraph separators, and the
// characters of Unicode's Bidi_Control.
func unseen(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x61c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// shownName is the beginning of an outsider's name, fit to stand in a sentence.
func shownName(name string) string {
	shown := make([]byte, 0, maxShownName)
	for _, r := range name {
		n := len(shown)
		if r < utf8.RuneSelf && !unseen(r) {
			shown = append(shown, byte(r))
		} else {
			shown = appendVisible(shown, string(r))
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
	return Visible(string(ijson.Canonical(ijson.Cut(name, maxShownName))))
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
