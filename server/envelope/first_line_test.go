package envelope

import (
	"testing"

	"patterngate/patterns"
)

// The first line of a dry run says what the same call without dry_run would come to, by its verdict.
func TestDryRunFirstLine(t *testing.T) {
	for verdict, want := range map[string]string{
		"block": "WOULD BE BLOCKED | p", "escalate": "WOULD WAIT for a person | p", "unknown": "WOULD DEPEND on earlier results | p",
		"revise": "WOULD BE CHANGED | p", "approve": "WOULD BE APPROVED | p", "of tomorrow": "DRY RUN | p",
	} {
		e := Envelope{Status: StatusOK, StopReason: patterns.Success, dryMembers: dryMembers{DryRun: true, Verdict: verdict, Judged: []JudgedRow{}}, Tool: "p"}
		if got := string(e.appendHeadline(nil)); got != want {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
	for name, e := range map[string]Envelope{
		"STOPPED invalid_plan:bad_kind | p": {Status: StatusStopped, StopReason: "invalid_plan:bad_kind", dryMembers: dryMembers{DryRun: true}, Tool: "p"},
		"OK success | p":                    {Status: StatusOK, StopReason: patterns.Success, Tool: "p"},
	} {
		if got := string(e.appendHeadline(nil)); got != name {
			t.Errorf("%q, want %q", got, name)
		}
	}
}
