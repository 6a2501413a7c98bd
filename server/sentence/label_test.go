package sentence

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
		if got := Label(in); got != want {
			t.Errorf("Label(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestReason(t *testing.T) {
	long := strings.Repeat("n", 5000)
	for in, want := range map[string]string{
		"max_seconds":             "max_seconds",
		"tool_denied:pay":         "tool_denied:pay",
		"tool_denied:" + long:     "tool_denied:" + long[:64],
		"unknown_tool:a\u202eb\n": `unknown_tool:a\u202eb\u000a`,
	} {
		if got := Reason(in); got != want {
			t.Errorf("Reason(%.40q) = %q, want %q", in, got, want)
		}
	}
}

func TestHeadingsAreQuoted(t *testing.T) {
	for _, word := range headings {
		if got := Label(word); got != `"`+word+`"` {
			t.Errorf("%s: %s", word, got)
		}
	}
}
