package gosdk

import (
	"crypto/rand"
	"maps"
	"strings"
	"testing"
)

// own makes a call begin a run of its own, where an equal one may still wait.
func own(args map[string]any) map[string]any {
	args = maps.Clone(args)
	args["idempotency_key"] = rand.Text()
	return args
}

// cancelsDetached cancels the run that goes on because this client, over HTTP, closes the connection as it cancels: the
// server cannot tell that from a connection that was lost.
func (s *session) cancelsDetached(t *testing.T) {
	listed, _ := s.call(t, "list_runs", map[string]any{"status": "running"}).StructuredContent.(map[string]any)
	runs, _ := listed["runs"].([]any)
	for _, r := range runs {
		id := r.(map[string]any)["run_id"]
		s.expect(t, s.call(t, "run_cancel", map[string]any{"run_id": id}), expected{Tool: "run_orchestrator", Status: "stopped", Reason: "cancelled"})
	}
}

func comesBack(t *testing.T, s *session, in script) {
	const tool = "run_orchestrator"
	args := own(in.Morning)
	args["max_wait_seconds"] = 0
	started := s.call(t, tool, args)
	at, text := s.read(t, tool, started)
	if at.Status != "running" || at.Next.Tool != "run_wait" || started.IsError {
		t.Fatalf("a start with max_wait_seconds 0 returns %s, want it running and run_wait next", text)
	}
	if again, text := s.read(t, tool, s.call(t, tool, args)); again.RunID != at.RunID || !again.Joined {
		t.Errorf("the same call returns %s, want %s, joined", text, at.RunID)
	}
	other := maps.Clone(args)
	other["region"] = "EU"
	s.expect(t, s.call(t, tool, other), expected{Tool: tool, Status: "refused", Reason: "invalid_request:reused:idempotency_key"})
	for _, action := range []string{"call", "end_turn"} { // who asks again without a change is told to end the turn
		args := map[string]any{"run_id": at.RunID, "max_wait_seconds": 0}
		if got, text := s.read(t, "run_wait", s.call(t, "run_wait", args)); got.Status != "running" || got.Next.Action != action {
			t.Errorf("run_wait returns %s, want it running and %s next", text, action)
		}
	}
	success := expected{Tool: tool, Status: "ok", Reason: "success", Holds: at.RunID}
	s.expect(t, s.call(t, at.Next.Tool, at.Next.Arguments), success)
	drove(t, "run_wait")
	s.expect(t, s.call(t, "run_status", map[string]any{"run_id": at.RunID}), success)
	if _, text := s.read(t, "run_status", s.call(t, "run_status", map[string]any{"run_id": at.RunID, "step": "task_2"})); !strings.Contains(text, `"payments_worker"`) {
		t.Errorf("the step is %s, want that of payments_worker", text)
	}
	drove(t, "run_status")
	if _, text := s.read(t, "list_runs", s.call(t, "list_runs", map[string]any{"pattern": tool, "limit": 1})); !strings.Contains(text, at.RunID) {
		t.Errorf("the newest run is %s, want %s", text, at.RunID)
	}
	drove(t, "list_runs")
}

func cancelsWaiting(t *testing.T, s *session, in script) {
	const tool = "supervised_refund"
	at := s.expect(t, s.call(t, tool, own(map[string]any{"goal": in.Refund.Goal, "actions": []any{}})), expected{Tool: tool, Status: "waiting"})
	args := map[string]any{"run_id": at.RunID, "max_wait_seconds": 0.1}
	if got, text := s.read(t, "run_wait", s.call(t, "run_wait", args)); got.Status != "waiting" || got.Next.Tool != tool {
		t.Errorf("run_wait returns %s, want it waiting for its caller", text)
	}
	drove(t, "run_wait")
	ended := expected{Tool: tool, Status: "stopped", Reason: "cancelled", Holds: at.RunID}
	s.expect(t, s.call(t, "run_cancel", map[string]any{"run_id": at.RunID, "reason": "the person changed their mind"}), ended)
	ended.Holds = "already_ended"
	s.expect(t, s.call(t, "run_cancel", map[string]any{"run_id": at.RunID}), ended)
	drove(t, "run_cancel")
}
