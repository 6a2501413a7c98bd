package cli

import (
	"strings"
	"testing"
	"time"

	"patterngate/patterns"
)

// Lists that a file or another program reads have whole rows, whatever COLUMNS says: a search in them finds everything.
func TestPipedListsAreWhole(t *testing.T) {
	phrase := "refunding 1200.00 USD to user 42 because " + strings.Repeat("the parcel came late, ", 8) + "as the ticket says"
	pattern := strings.Repeat("refund_", 6) + "supervisor"
	f := newFakeDesk(t)
	f.asked = []patterns.Asked{f.asked[0]}
	f.asked[0].Phrase, f.asked[0].Pattern, f.asked[0].Rule = phrase, pattern, strings.Repeat("rule_", 12)+"end"
	code, out, errs := f.command(t, nil, "list")
	for _, want := range []string{phrase, pattern, f.asked[0].Rule, f.asked[0].ID} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("approvals list, exit %d: no %q in\n%s%s", code, want, out, errs)
		}
	}
	if lines := strings.Count(out, "\n"); lines != 2 {
		t.Errorf("approvals list has %d lines, want a head and a row:\n%s", lines, out)
	}

	var b strings.Builder
	a := &app{out: &b, environ: []string{"COLUMNS=80"}}
	rows := []patterns.RunRow{{RunID: "run_00000000000000a1", Pattern: pattern, Status: "ok", Summary: phrase, Began: time.Unix(0, 0)}}
	if err := a.listRuns(onlyListed{rows: rows}, patterns.Filter{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), phrase) || !strings.Contains(b.String(), pattern) {
		t.Errorf("runs list is cut:\n%s", b.String())
	}
}

// A terminal's rows are cut to its width.
func TestTerminalListsAreCut(t *testing.T) {
	asked := patterns.Asked{ID: "ap_1", Phrase: strings.Repeat("x", 300), Pattern: strings.Repeat("p", 60)}
	for _, width := range []int{60, 100, 160} {
		for line := range strings.Lines(askedTable([]patterns.Asked{asked}, time.Unix(0, 0), width)) {
			if n := len(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("a row of %d characters for a width of %d: %q", n, width, line)
			}
		}
	}
}

// onlyListed are runs that are only listed.
type onlyListed struct {
	recordReader
	rows []patterns.RunRow
}

func (l onlyListed) List(patterns.Filter) (patterns.Page, error) {
	return patterns.Page{Rows: l.rows}, nil
}
