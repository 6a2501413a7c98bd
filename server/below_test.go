package server

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/outcome"
)

// TestStoppedBelow checks that the report of a stop at a child run says why that run stopped.
func TestStoppedBelow(t *testing.T) {
	t.Parallel()
	const child = "run_00000000000000cc"
	route := patterns.RouteRow{Target: "refund", ChildRunID: child, ObservationError: "human_rejected"}
	task := patterns.TaskTrace{TaskID: "b", Worker: "refund", ChildRunID: child, ObservationError: "policy_block:late"}
	failed := []patterns.TaskRow{{TaskID: "b", Worker: "refund", Critical: true}}
	for name, row := range map[string]struct {
		kind   gateway.Kind
		result patterns.Result
		want   string
	}{
		"a route":                     {gateway.Routing, patterns.Result{StopReason: "route_error:refund", Trace: []any{route}}, "Its child run " + child + " stopped with human_rejected."},
		"a task":                      {gateway.Orchestrator, patterns.Result{StopReason: "critical_task_failed", FailedCritical: failed, Trace: []any{patterns.TaskTrace{TaskID: "a"}, task}}, "Its child run " + child + " stopped with policy_block:late."},
		"no child run":                {gateway.Routing, patterns.Result{StopReason: "route_error:refund", Trace: []any{patterns.RouteRow{ObservationError: "x"}}}, ""},
		"a task that is not critical": {gateway.Orchestrator, patterns.Result{StopReason: "max_seconds", Trace: []any{task}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.result.Phase = "dispatch"
			e := outcome.Ended(arguments.Call{Spec: patterns.Spec{Kind: row.kind}}, patterns.Ended{RunID: someRun, Result: row.result})
			if said := strings.Contains(e.Summary, "Its child run"); !strings.Contains(e.Summary, row.want) || said != (row.want != "") {
				t.Errorf("summary %q, want %q in it", e.Summary, row.want)
			}
		})
	}
}
