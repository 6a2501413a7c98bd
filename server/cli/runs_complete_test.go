package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/statefile"
)

// pagedRuns are many runs, by pages of ten.
type pagedRuns struct {
	statefile.Runs
	rows []patterns.RunRow
}

func (p pagedRuns) List(f patterns.Filter) (page patterns.Page, err error) {
	from := 0
	_, _ = fmt.Sscan(f.Cursor, &from) // none is the first page
	to := min(from+10, len(p.rows))
	if page.Rows = p.rows[from:to]; to < len(p.rows) {
		page.Next = fmt.Sprint(to)
	}
	return page, nil
}

// Each command that takes a run completes its id: as it is typed, of the runs that the command can act on, also of older pages.
func TestCompleteRuns(t *testing.T) {
	var runs pagedRuns
	for i := range 30 {
		runs.rows = append(runs.rows, patterns.RunRow{
			RunID: fmt.Sprintf("run_%016x", 0xa000+i), Pattern: "supervised_refund", Status: []string{"ok", "waiting", "running"}[i%3],
		})
	}
	complete := func(words ...string) string {
		var o bytes.Buffer
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &o, Err: &o}}, opens: func() (statefile.Runs, func(), error) { return runs, func() {}, nil }}
		root := a.root()
		root.SetOut(&o)
		root.SetArgs(append([]string{"__complete"}, words...))
		if err := root.Execute(); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		return o.String()
	}
	for _, command := range []string{"runs show", "runs trace", "runs head", "runs export", "runs verify", "policy record"} {
		if got := complete(append(strings.Fields(command), "run_")...); strings.Count(got, "run_0") != 30 || !strings.Contains(got, "run_000000000000a01d\tsupervised_refund running") {
			t.Errorf("%s run_ offers\n%s", command, got)
		}
	}
	for command, want := range map[string]int{"cancel": 20, "resume": 20, "settle": 10} {
		if got := complete("runs", command, ""); strings.Count(got, "run_0") != want || strings.Contains(got, "refund ok") {
			t.Errorf("runs %s offers, and %d are wanted\n%s", command, want, got)
		}
	}
	for typed, want := range map[string]string{"000000000000a01d": "\n000000000000a01d\t", "run_000000000000a01d": "\nrun_000000000000a01d\t"} {
		if got := complete("runs", "show", typed); !strings.Contains("\n"+got, want) || strings.Count(got, "supervised") != 1 {
			t.Errorf("runs show %s offers\n%s", typed, got)
		}
	}
	if got := complete("runs", "show", "run_000000000000a01d", ""); strings.Contains(got, "run_0") {
		t.Errorf("a second argument is offered:\n%s", got)
	}
	if got := complete("runs", "verify", ""); !strings.Contains(got, "\n:0\n") {
		t.Errorf("runs verify does not let the shell complete files:\n%s", got)
	}
}
