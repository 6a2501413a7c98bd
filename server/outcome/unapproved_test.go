package outcome

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/arguments"
)

// In patterns without a phase of its own the call and the decision stand in the newest row.
func TestUnapprovedStep(t *testing.T) {
	no := &patterns.HumanApproval{By: "local:7", Channel: "cli", Comment: "not today"}
	for kind, trace := range map[gateway.Kind]any{
		gateway.TaskDecomposition: patterns.StepRow{Tool: "fetch_sales_data", HumanApproval: no, StopReason: "human_rejected"},
		gateway.Routing:           patterns.RouteRow{Target: "billing_specialist", HumanApproval: no, StopReason: "human_rejected"},
		gateway.Orchestrator:      nil,
	} {
		a := account{Call: arguments.Call{}, Result: patterns.Result{StopReason: "human_rejected", Phase: "execute"}}
		a.Spec.Kind = kind
		want := "A call needed a person's approval in phase execute, and the configuration rejects such calls without asking (human_rejected)."
		if trace != nil {
			a.Trace = []any{trace}
			want = "local:7 rejected it on the command line (human_rejected)."
		}
		if got, _ := a.why(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: why = %q, want it to end %q", kind, got, want)
		}
		if got, want := a.counsel(), `The comment: "not today".`; trace != nil && got != want {
			t.Errorf("%s: counsel = %q, want %q", kind, got, want)
		}
	}
}
