package server

import (
	"strings"
	"testing"
)

func TestLabel(t *testing.T) {
	for in, want := range map[string]string{
		"step_1":                 "step_1",
		"a.b-c":                  "a.b-c",
		"":                       `""`,
		"NEXT {}":                `"NEXT {}"`,
		"| x":                    `"| x"`,
		"a\nOK\u202e":            `"a\nOK\u202e"`,
		`q"\`:                    `"q\"\\"`,
		strings.Repeat("é", 60):  `"` + strings.Repeat("é", 32) + `"`,
		strings.Repeat("x", 100): `"` + strings.Repeat("x", 64) + `"`,
		strings.Repeat("\n", 99): `"` + strings.Repeat(`\n`, 64) + `"`,
	} {
		if got := label(in); got != want {
			t.Errorf("label(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestShownReason(t *testing.T) {
	long := strings.Repeat("n", 5000)
	for in, want := range map[string]string{
		"max_seconds":             "max_seconds",
		"tool_denied:pay":         "tool_denied:pay",
		"tool_denied:" + long:     "tool_denied:" + long[:64],
		"unknown_tool:a\u202eb\n": `unknown_tool:a\u202eb\u000a`,
	} {
		if got := shownReason(in); got != want {
			t.Errorf("shownReason(%.40q) = %q, want %q", in, got, want)
		}
	}
}

// headings are the words that begin the server's own lines in the text channel.
var headings = []string{
	"OK", "STOPPED", "RUNNING", "WAITING", "WAITING_FOR", "NEXT", "PROBLEMS", "ANSWER", "OBSERVATIONS", "EFFECTS",
	"JUDGED", "BLOCK", "TOOLS", "PATTERNS", "NEXT_CURSOR", "STEP", "OBSERVATION", "RUNS", "SUBTASKS", "PLANS",
}

func TestHeadingsAreQuoted(t *testing.T) {
	for _, word := range headings {
		if got := label(word); got != `"`+word+`"` {
			t.Errorf("%s: %s", word, got)
		}
	}
}
