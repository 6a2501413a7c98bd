package inspect

import (
	"fmt"
	"strings"

	"patterngate/server/cli/console"
)

// A name that is unknown.

func noneOf(what, name, near string, names []string) string {
	if near != "" {
		return fmt.Sprintf("no %s %s; did you mean %s?", what, name, near)
	}
	return fmt.Sprintf("no %s %s (%s)", what, name, strings.Join(names, ", "))
}

func noStopReason(name, near string) string {
	if near != "" {
		return fmt.Sprintf("no stop reason %s; did you mean %s?", name, near)
	}
	return "no stop reason " + name
}

// What a reader does after a stop: the actions of the member next (spec/surface.md section 1), in words.
var nextWords = map[string]string{
	"answer_user":   "Answer from the result.",
	"fix_and_retry": "Fix the places that the result names, and call again.",
	"call":          "Make the call that the result gives.",
	"tell_user":     "Tell the person what the result says.",
}

// The view of one stop reason.
const (
	labelExit     = "exit code"
	labelPatterns = "patterns"
	labelPhases   = "phases"
	labelNext     = "next"

	onlyTask = "none: it ends a task or subtask, not the run"
	nothing  = "-"
)

// The heading of the list of stop reasons.
const (
	headReason  = "STOP REASON"
	headExit    = "EXIT"
	headMeaning = "MEANING"
)

// What validate found.
const (
	embedded   = "the embedded configuration"
	labelFault = "fault: "
	wantNamed  = "fix what it names"
)

func andMore(n int) string { return fmt.Sprintf("and %d more", n) }
func total(faults, warnings int) string {
	switch {
	case warnings == 0:
		return console.Plural(faults, "fault")
	case faults == 0:
		return console.Plural(warnings, "warning")
	}
	return console.Plural(faults, "fault") + ", " + console.Plural(warnings, "warning")
}
func inOrder(file string, parts []string) string {
	return file + ": in order; " + strings.Join(parts, ", ")
}
func offered(tools int) string { return console.Plural(tools, "tool") + " offered" }
func listSize(bytes, tokens int) string {
	return fmt.Sprintf("tools/list %d bytes, about %d tokens", bytes, tokens)
}
