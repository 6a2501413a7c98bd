package cli

import (
	"strings"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/record/recordtest"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/statefile"
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
	rows := []patterns.RunRow{{RunID: "run_00000000000000a1", Pattern: pattern, Status: "ok", Summary: phrase, Began: time.Unix(0, 0)}}
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{Out: &b, Environ: []string{"COLUMNS=80"}}}, opens: func() (statefile.Runs, func(), error) { return onlyListed{rows: rows}, func() {}, nil }}
	root := a.root()
	root.SetArgs([]string{"runs", "list"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), phrase) || !strings.Contains(b.String(), pattern) {
		t.Errorf("runs list is cut:\n%s", b.String())
	}
}

// onlyListed are runs that are only listed.
type onlyListed struct {
	statefile.Runs
	rows []patterns.RunRow
}

func (onlyListed) Record(string) ([]patterns.Event, int64, error) { return nil, 0, patterns.ErrNoRun }

func (l onlyListed) List(patterns.Filter) (patterns.Page, error) {
	return patterns.Page{Rows: l.rows}, nil
}

// Pages that a file or another program reads hold each recorded value whole, in one line.
func TestPipedPagesAreWhole(t *testing.T) {
	goal := "pay user 42 back because " + strings.Repeat("the parcel came late, ", 120) + "as the ticket says"
	reason := strings.Repeat("the glass came broken, ", 60) + "twice"
	text := strings.Repeat("the rule wants a person for this, ", 12) + "always"
	r := recordtest.Recorder{T: t, ID: "run_00000000000000b7"}
	r.Start("supervised_refund", "supervisor", `{"goal":"`+goal+`"}`, `{"max_seconds":30}`)
	r.Call(1, 2, "issue_refund_of_a_whole_annual_plan#1", "write", `{"reason":"`+reason+`"}`,
		`{"decision":"approve","rule":"small","passes":1,"say":"`+text+`"}`, `{"state":"ok","output":{"note":"`+reason+`"}}`)
	f := newFakeRuns(t)
	f.records[r.ID], f.kept[r.ID] = r.Events, int64(len(r.Events))
	for _, test := range []struct {
		line  string
		wants []string
	}{
		{"runs trace " + r.ID, []string{goal, reason, "issue_refund_of_a_whole_annual_plan#1", `"note":"` + reason}},
		{"runs show " + r.ID, []string{goal, `{"reason":"` + reason + `"}`}},
		{"runs show --receipt " + r.ID, []string{goal}},
	} {
		code, out, errs := f.command(t, strings.Fields(test.line)...)
		for _, want := range test.wants {
			if code != console.ExitDone || !strings.Contains(out, want) {
				t.Errorf("%s ends with %d and has no %.60q...:\n%s%s", test.line, code, want, out, errs)
			}
		}
	}

	d := newFakeDesk(t)
	d.asked = d.asked[:1]
	d.asked[0].Phrase, d.asked[0].Text, d.asked[0].Question.Args = goal, text, map[string]any{"reason": reason}
	code, out, errs := d.command(t, nil, "show", d.asked[0].ID)
	for _, want := range []string{goal, text, `reason: "` + reason} {
		if code != console.ExitDone || !strings.Contains(unfolded(out), want) {
			t.Errorf("approvals show ends with %d and has no %.60q...:\n%s%s", code, want, out, errs)
		}
	}
}

// unfolded are the words of a page without the breaks between its lines.
func unfolded(page string) string { return strings.Join(strings.Fields(page), " ") }
