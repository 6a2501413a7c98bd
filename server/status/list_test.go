package status

import (
	"strings"
	"testing"

	"patterngate/patterns"
)

// Lists show whose call began a run.
func TestListedChildRun(t *testing.T) {
	row := newRunRow(patterns.RunRow{RunID: "run_1", Pattern: "refund_order", Parent: "run_2", Status: "ok", Summary: "Done."})
	if row.Parent != "run_2" || !strings.Contains(row.line(), "started by "+"run_2"+". Done.") {
		t.Errorf("%+v: %s", row, row.line())
	}
	if row = newRunRow(patterns.RunRow{RunID: "run_1", Status: "ok", Summary: "Done."}); strings.Contains(row.line(), "started by") {
		t.Errorf("nobody's call: %s", row.line())
	}
}

// A wait with progress says that a run waits for a person, and never what about.
func TestGoingOnOfAWaitingRun(t *testing.T) {
	run := patterns.Snapshot{State: patterns.Parked, Ended: patterns.Ended{Waiting: &patterns.Waiting{
		Kind: patterns.ForApproval, Phase: "human_approval", Tool: "issue_refund", Reason: "secret",
	}}}
	if got, want := goingOn(run), "human_approval: waiting for a person"; got != want {
		t.Errorf("progress %q, want %q", got, want)
	}
}
