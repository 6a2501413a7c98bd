package approvals

import (
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// A terminal's rows are cut to its width.
func TestTerminalListsAreCut(t *testing.T) {
	asked := patterns.Asked{ID: "ap_1", Phrase: strings.Repeat("x", 300), Pattern: strings.Repeat("p", 60)}
	for _, width := range []int{60, 100, 160} {
		for line := range strings.Lines(askedTable([]patterns.Asked{asked}, time.Unix(0, 0), width, false)) {
			if n := len(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("a row of %d characters for a width of %d: %q", n, width, line)
			}
		}
	}
}

// A list of all questions names the column by what it holds: a state, not a time that is left.
func TestAllQuestionsShowAState(t *testing.T) {
	now := time.Unix(0, 0)
	open := patterns.Asked{ID: "ap_1", State: patterns.AskedOpen, Question: gateway.Question{Expires: now.Add(90 * time.Minute)}}
	edited := patterns.Asked{ID: "ap_2", State: patterns.AskedDecided, Given: &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseEdit}}}
	table := func(all bool) string { return askedTable([]patterns.Asked{open, edited}, now, 160, all) }
	for _, want := range []string{"STATE", "open 1 h 30 min", "edited"} {
		if !strings.Contains(table(true), want) {
			t.Errorf("the list of all has no %q:\n%s", want, table(true))
		}
	}
	if all := table(true); strings.Contains(all, "EXPIRES IN") || strings.Contains(table(false), "open 1 h") || !strings.Contains(table(false), "EXPIRES IN") {
		t.Errorf("the lists are\n%s\n%s", all, table(false))
	}
}
