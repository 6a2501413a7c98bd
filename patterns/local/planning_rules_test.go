package local_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// fine, tardy and broken are what comes of a call.
var (
	fine   = fate{After: time.Second, Result: object{"v": 1.0}}
	tardy  = fate{After: time.Hour, Cause: "subtask_timeout"}
	broken = fate{After: 2 * time.Second, Result: object{"error": "x"}}
)

func oneOf(id, tool string, dependencies ...string) *oracleSub {
	s := &oracleSub{ID: id, Desc: "Do " + id + ".", Tool: tool, Deps: dependencies}
	if tool != "caller" && tool != "model" {
		s.Args = object{"id": id}
	}
	return s
}

// TestPlanningRules are rules of spec/planning-reference.md section 15 that are easily lost, one session each.
func TestPlanningRules(t *testing.T) {
	for name, tt := range map[string]struct {
		subs []*oracleSub
		told map[string][]fate
		run  func(t *testing.T, s *oracleSession)
	}{
		"an abort does not wait for a pause, and drops it": {
			subs: []*oracleSub{oneOf("a", "model"), oneOf("b", "r1")}, told: map[string][]fate{"a": {{Cause: "llm_timeout"}}, "b": {broken}},
			run: func(t *testing.T, s *oracleSession) {
				began := time.Now()
				r := s.executes(func(c *patterns.PlanCall) {
					c.OnFailure, c.MaxRetries, c.RetryDelay, c.Concurrent = patterns.RetryOnFailure, 2, 20*time.Second, 2
				})
				equalTo(t, "stop reason", r.StopReason, "subtask_failed:a")
				equalTo(t, "failed", r.Planned.View.Failed, []string{"a", "b"})
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("it took %v, want the 2 s of the longest call", took)
				}
			},
		},
		"a retry that waits for a slot is dropped too": {
			subs: []*oracleSub{oneOf("a", "r0"), oneOf("b", "r1")}, told: map[string][]fate{"a": {tardy}, "b": {broken}},
			run: func(t *testing.T, s *oracleSession) {
				r := s.executes(func(c *patterns.PlanCall) {
					c.OnFailure, c.MaxRetries, c.RetryDelay = patterns.RetryOnFailure, 2, time.Second
				})
				equalTo(t, "stop reason", r.StopReason, "subtask_timeout:a")
				equalTo(t, "failed", r.Planned.View.Failed, []string{"a", "b"})
			},
		},
		"attempts are those of the last run in which it ran": {
			subs: []*oracleSub{oneOf("a", "r0")}, told: map[string][]fate{"a": {broken}},
			run: func(t *testing.T, s *oracleSession) {
				s.executes(nil)
				s.spec.Budget.MaxToolCalls = 0
				row := s.executes(nil).Planned.View.Plan.Subtasks[0]
				equalTo(t, "status", row.Status, patterns.SubtaskPending)
				equalTo(t, "attempts", row.Attempts, 1)
			},
		},
		"without a model replan stops with subtask_failed": {
			subs: []*oracleSub{oneOf("a", "r0")}, told: map[string][]fate{"a": {tardy}},
			run: func(t *testing.T, s *oracleSession) {
				s.spec.LLM = false
				equalTo(t, "stop reason", s.executes(func(c *patterns.PlanCall) { c.OnFailure = patterns.ReplanOnFailure }).StopReason, "subtask_failed:a")
			},
		},
		"a plan that may not be carried out shows what it came to": {
			subs: []*oracleSub{oneOf("a", "r0"), oneOf("b", "r1")}, told: map[string][]fate{"a": {fine}, "b": {broken}},
			run: func(t *testing.T, s *oracleSession) {
				s.executes(nil)
				s.spec.Execution = []string{"r0"}
				r := s.executes(nil)
				equalTo(t, "stop reason", r.StopReason, "executor_denied:r1")
				equalTo(t, "failed", r.Planned.View.Failed, []string{"b"})
				equalTo(t, "open", r.Planned.Open, []string{"b"})
				equalTo(t, "results", r.Planned.Results, map[string]any{"a": fine.Result})
			},
		},
		"a replan ends a final text": {
			subs: []*oracleSub{oneOf("a", "r0"), oneOf("b", "r1")}, told: map[string][]fate{"a": {fine}, "b": {broken}, "": {{Result: "Done."}}},
			run: func(t *testing.T, s *oracleSession) {
				equalTo(t, "answer", s.executes(func(c *patterns.PlanCall) { c.OnFailure = patterns.SkipOnFailure }).Answer, "Done.")
				s.replans(oneOf("c", "i0"))
				s.final = false
				equalTo(t, "stop reason", s.executes(nil).StopReason, patterns.Success)
				r := s.executes(nil)
				equalTo(t, "stop reason", r.StopReason, "plan_complete")
				equalTo(t, "answer", r.Answer, "")
			},
		},
		"a replan keeps what a run that waits has completed, and ends it": {
			subs: []*oracleSub{oneOf("a", "r0"), oneOf("b", "caller")}, told: map[string][]fate{"a": {fine}},
			run: func(t *testing.T, s *oracleSession) {
				s.executes(nil)
				waits := s.began.RunID
				equalTo(t, "preserved", s.replans(oneOf("c", "i0", "a")).Planned.Preserved, []string{"a"})
				synctest.Wait()
				run, _ := s.engine.Run("local:1", waits)
				equalTo(t, "the run that waited", run.Ended.Result.StopReason, patterns.PlanConflict)
				state, err := s.engine.Plan("local:1", "plan", s.id)
				if err != nil {
					t.Fatal(err)
				}
				equalTo(t, "last run", state.Plan.Last, &patterns.PlanRun{RunID: waits, Status: "stopped", StopReason: patterns.PlanConflict})
				equalTo(t, "rows of the trace", len(state.Plan.Trace), 1)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newOracleSession(t, 0)
				defer s.engine.Close()
				s.world.fates.bad, s.world.fates.told = 0, tt.told
				s.spec.Budget.SubtaskTimeout, s.final = 30*time.Second, tt.told[""] != nil
				call := patterns.PlanCall{Verb: patterns.DecomposeVerb, Strategy: planning.Flat, MaxDepth: 3, MaxSubtasks: 15}
				s.id = s.start(patterns.DecomposeVerb, s.verb(patterns.DecomposeVerb), patterns.Task{Goal: "Review April", Plan: &call, Caller: written(tt.subs)}).Result.Planned.PlanID
				tt.run(t, s)
			})
		})
	}
}

func written(subs []*oracleSub) []document.Intent {
	return []document.Intent{document.FromText(replyText(&revised{Subs: subs}, ""), "/plan")}
}

// executes carries the plan out in sequence.
func (s *oracleSession) executes(more func(*patterns.PlanCall)) patterns.Result {
	s.Helper()
	task := executing(s.id, more)
	task.Finalize = s.final
	s.began = s.start(patterns.ExecuteVerb, s.verb(patterns.ExecuteVerb), task)
	if s.began.Waiting != nil {
		return s.began.Waiting.SoFar
	}
	return s.began.Result
}

// replans has other subtasks take the place of those that are not completed.
func (s *oracleSession) replans(subs ...*oracleSub) patterns.Result {
	s.Helper()
	call := patterns.PlanCall{Verb: patterns.ReplanVerb, PlanID: s.id}
	r := s.start(patterns.ReplanVerb, s.verb(patterns.ReplanVerb), patterns.Task{Plan: &call, Caller: written(subs)}).Result
	if r.StopReason != patterns.Success {
		s.Fatalf("the replan ended %s: %v", r.StopReason, r.Problems)
	}
	return r
}

func equalTo(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: - want, + got\n%s", what, diff)
	}
}
