package outcome

import (
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// A summary says of a call whose act was done before that nothing was sent again, and of no other.
func TestSummaryTellsOfDuplicates(t *testing.T) {
	for _, duplicate := range []bool{false, true} {
		a := account{Call: arguments.Call{Spec: patterns.Spec{Kind: gateway.Call, Tool: "pay_back"}}, Result: patterns.Result{StopReason: patterns.Success, Ledger: []gateway.Entry{
			{Tool: "pay_back", Effect: catalog.Write, Status: gateway.Finished, Duplicate: duplicate}}}}
		if got := strings.Contains(a.written(), "nothing was sent again"); got != duplicate {
			t.Errorf("duplicate %t: %s", duplicate, a.written())
		}
	}
}

// A task that was cut when its call had acted, or may have, is not told as not done.
func TestCutTasksAreNotToldAsNotDone(t *testing.T) {
	cut := patterns.TaskRow{TaskID: "a", Worker: "pay_back", Status: "failed", StopReason: patterns.ReasonKillSwitch}
	for status, want := range map[gateway.EffectStatus]bool{gateway.Finished: false, gateway.InDoubt: false, gateway.Failed: true} {
		a := account{Call: arguments.Call{Spec: patterns.Spec{Kind: gateway.Orchestrator}}, Result: patterns.Result{
			StopReason: patterns.ReasonKillSwitch, History: []any{cut},
			Ledger: []gateway.Entry{{Key: "task#1/pay_back#1", Tool: "pay_back", Effect: catalog.Write, Status: status}}}}
		if got := a.notDone(); strings.Contains(got, "pay_back") != want {
			t.Errorf("%s: %q", status, got)
		}
	}
}

// Where only the final text is missing, it is said what to do about it, if the model knows: the offline rules do.
func TestNextOfAMissingText(t *testing.T) {
	for _, say := range []string{"", "Set a model up."} {
		a := account{Call: arguments.Call{Spec: patterns.Spec{Kind: gateway.TaskDecomposition}}, Result: patterns.Result{
			StopReason: "invalid_answer:non_json", Phase: patterns.PhaseFinalize, Say: say,
		}}
		if got := a.next(); got.Action != envelope.ActionAnswer || got.Say != say {
			t.Errorf("%+v, want it to say %q", got, say)
		}
	}
}
