package sentence

import (
	"slices"
	"strings"
	"time"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// Reason returns a stop reason for use in a sentence. The part after the colon can come from outside, so it is cut
// and escaped like a name.
func Reason(reason string) string {
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

// Label returns an outside name for the beginning of a line. It is unchanged if it has only letters, digits, "_", "-"
// and "." and is no heading. Any other name is quoted as a JSON string, so that it cannot look like another part of the
// text.
func Label(name string) string {
	if name != "" && len(name) <= printable.MaxName && strings.TrimLeftFunc(name, IsPlain) == "" && !slices.Contains(headings, name) {
		return name
	}
	return printable.Text(string(ijson.Canonical(ijson.Cut(name, printable.MaxName))))
}

// IsPlain reports whether a character needs no quotes in a name: an ASCII letter or digit, "_", "-" or ".".
func IsPlain(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return true
	}
	return r == '_' || r == '-' || r == '.'
}

// Short returns the beginning of a text that takes at most that many bytes when it is shown, including escapes.
func Short(text string, bytes int) string {
	for text = ijson.Cut(text, bytes); len(printable.Text(string(ijson.Canonical(text)))) > bytes+len(`""`); {
		text = ijson.Cut(text, len(text)/2)
	}
	return text
}

// TimeIfSet is stamp for a time that may be zero. It then returns "".
func TimeIfSet(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return Time(at)
}

// Time formats a time as results show it.
func Time(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// ShellWord returns a text as one word of a shell, whatever characters it has. A pasted command must mean what was
// intended.
func ShellWord(text string) string {
	safe := strings.TrimLeftFunc(text, func(r rune) bool { return IsPlain(r) || strings.ContainsRune("/#:@=+,", r) })
	if text != "" && safe == "" && text[0] != '-' && text[0] != '#' && text[0] != '=' {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
