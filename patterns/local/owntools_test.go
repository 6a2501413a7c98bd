package local_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/local"
	"patterngate/patterns/step"
)

// service is a configured tool whose calls end as they are told, in turn; then all are done. What was done is kept by key.
type service struct {
	mu    sync.Mutex
	turns []func(context.Context, catalog.Call) (any, error)
	keys  []string // of all calls
	done  []string // of those that acted
	looks int      // how often found was called
}

func (s *service) do(ctx context.Context, c catalog.Call) (any, error) {
	s.mu.Lock()
	s.keys = append(s.keys, c.Key)
	turn := acts
	if len(s.turns) > 0 {
		turn, s.turns = s.turns[0], s.turns[1:]
	}
	s.mu.Unlock()
	v, err := turn(ctx, c)
	if fault, ok := errors.AsType[*catalog.Fault](err); err == nil || ok && errors.Is(fault, errActed) {
		s.mu.Lock()
		s.done = append(s.done, c.Key)
		s.mu.Unlock()
	}
	return v, err
}

// calls is how often own was called; a call that was cut may go on.
func (s *service) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}

// looked is how often it was asked what own has done.
func (s *service) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

func acts(context.Context, catalog.Call) (any, error) { return object{"id": "1"}, nil }

// errActed says that a call acted although its answer was lost.
var errActed = errors.New("it acted")

func faults(kind catalog.FaultKind, again bool, cause error) func(context.Context, catalog.Call) (any, error) {
	return func(context.Context, catalog.Call) (any, error) {
		return nil, &catalog.Fault{Kind: kind, Again: again, Cause: cause}
	}
}

func hangs(ctx context.Context, _ catalog.Call) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

var errGone = errors.New("gone")

// tools are own, which is as change makes it, and found, which says what own has done.
func (s *service) tools(t testing.TB, change func(*catalog.Tool)) *catalog.Catalog {
	t.Helper()
	compiled := func(text string) *catalog.Schema {
		schema, err := catalog.CompileSchema([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	own := catalog.Tool{Name: "own", Server: "orders", Effect: catalog.Read, Do: s.do,
		Input: compiled(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)}
	if change != nil {
		change(&own)
	}
	found := catalog.Tool{Name: "found", Server: "orders", Effect: catalog.Read,
		Input: compiled(`{"type":"object","properties":{"key":{"type":"string"}},"additionalProperties":false}`),
		Do: func(_ context.Context, c catalog.Call) (any, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.looks++
			return object{"found": slices.Contains(s.done, c.Args["key"].(string))}, nil
		}}
	list, err := catalog.New(own, found)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// looksUp lets own be looked up by found.
func looksUp(settle time.Duration) func(*catalog.Tool) {
	return func(own *catalog.Tool) {
		own.Effect = catalog.Write
		own.Reconcile = &catalog.Reconcile{
			Tool: "found", Args: catalog.ArgsFrom(map[string]any{"key": catalog.EffectKey}), Settle: settle,
			Happened: func(_ catalog.Doubt, v any) (bool, bool) { return v.(map[string]any)["found"] == true, true },
			Output:   func(d catalog.Doubt, _ any) (any, error) { return object{"id": "found", "n": d.Args["n"]}, nil },
		}
	}
}

// rerouted is the condition of routes for which a file sets none: the status needs_reroute.
func rerouted(routes []string) map[string]func(any) bool {
	by := map[string]func(any) bool{}
	for _, name := range routes {
		by[name] = func(observation any) bool { return step.Status(observation) == "needs_reroute" }
	}
	return by
}

// ownJob is a run of a kind that calls own once.
func (s *service) ownJob(t testing.TB, kind gateway.Kind, change func(*catalog.Tool)) patterns.Job {
	t.Helper()
	names := []string{"own"}
	job := patterns.Job{Caller: patterns.Caller{Principal: mine}, Spec: patterns.Spec{
		Name: "mine", Plans: "mine", Kind: kind, Tool: "own", Catalog: s.tools(t, change), Tools: names, Policy: names, Execution: names,
		Budget: gateway.DefaultBudget(kind), Envelope: patterns.RequireNone, Reroute: rerouted(names),
	}, Task: patterns.Task{Goal: "own"}}
	args := object{"n": 1.0}
	job.Spec.Budget.MinPlanSteps, job.Spec.Budget.TaskTimeout = 1, 10*time.Second
	switch kind {
	case gateway.Call:
		job.Task.Args = args
	case gateway.TaskDecomposition:
		job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "steps": []any{object{"id": "a", "title": "a", "tool": "own", "args": args}}})
	case gateway.Orchestrator:
		job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "tasks": []any{object{"id": "a", "worker": "own", "args": args, "critical": false}}})
	case gateway.Routing:
		job.Task.Caller = patterns.Proposals("route", object{"kind": "route", "target": "own", "args": args})
	case gateway.Supervisor:
		job.Task.Caller = patterns.Proposals("actions", []any{object{"kind": "tool", "name": "own", "args": args}, final})
	case gateway.Planning:
		job.Task.Plan = &patterns.PlanCall{Verb: patterns.ExecuteVerb, Concurrent: 1, OnFailure: patterns.AbortOnFailure}
		job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "subtasks": []any{
			object{"id": "a", "description": "a", "dependencies": []any{}, "tool": "own", "args": args}}})
	}
	return job
}

// endOf is why the call stopped: of kinds whose tasks fail by themselves the task's reason.
func endOf(r patterns.Result) string {
	for _, row := range r.History {
		if task, ok := row.(patterns.TaskRow); ok && task.StopReason != "" {
			return task.StopReason
		}
	}
	if r.Planned != nil && !r.OK() {
		for _, row := range slices.Backward(r.Trace) {
			if attempt, ok := row.(patterns.AttemptRow); ok && attempt.StopReason != "" {
				return attempt.StopReason
			}
		}
	}
	return r.StopReason
}

// familyOf is by which word a kind's calls are refused.
func familyOf(kind gateway.Kind) string {
	switch kind {
	case gateway.Orchestrator:
		return "worker"
	case gateway.Routing:
		return "route"
	case gateway.Planning:
		return "executor"
	}
	return "tool"
}

var ownKinds = []gateway.Kind{gateway.TaskDecomposition, gateway.Orchestrator, gateway.Routing, gateway.Supervisor, gateway.Planning, gateway.Call}

// livedOut carries a job out and holds that its record alone gives the same result.
func livedOut(t *testing.T, job patterns.Job, e *local.Engine) patterns.Result {
	t.Helper()
	var record *execution.Record
	e.Recorded = func(_ string, r *execution.Record) { record = r }
	defer e.Close()
	ended, err := e.Start(t.Context(), job)
	if err != nil || ended.Waiting != nil {
		t.Fatalf("Start: %v, waits for %+v", err, ended.Waiting)
	}
	again, err := local.Replay(record, job.Spec, job.Task, execution.First)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, ended.Result), asJSON(t, again); a != b {
		t.Errorf("lived %s\nreplayed %s", a, b)
	}
	return ended.Result
}

// How a configured tool's call may end, in every pattern, by the reason of its family; and how often it was made.
func TestHowOwnCallsEnd(t *testing.T) {
	type turns = []func(context.Context, catalog.Call) (any, error)
	gone, lostIt := faults(catalog.NotSent, true, errGone), faults(catalog.NoAnswer, true, errGone)
	retry := catalog.Retry{Max: 2, Delay: time.Millisecond, MaxDelay: 2 * time.Millisecond}
	write := func(own *catalog.Tool) { own.Effect = catalog.Write }
	tests := map[string]struct {
		change func(*catalog.Tool)
		turns  turns
		calls  int
		all    string // the reason, with %s for the family's word
		status gateway.EffectStatus
	}{
		"nothing is sent": {turns: turns{gone}, calls: 1, all: "%s_unavailable:own", status: gateway.Failed},
		"nothing is sent, and then it is": {change: func(own *catalog.Tool) { own.Effect, own.Retry = catalog.Write, retry }, turns: turns{gone, gone}, calls: 3,
			all: patterns.Success, status: gateway.Finished},
		"nothing is ever sent": {change: func(own *catalog.Tool) { own.Retry = retry }, turns: turns{gone, gone, gone, gone}, calls: 3, all: "%s_unavailable:own", status: gateway.Failed},
		"held":                 {change: func(own *catalog.Tool) { own.Retry = retry }, turns: turns{faults(catalog.NotSent, false, errGone)}, calls: 1, all: "%s_unavailable:own", status: gateway.Failed},
		"a write is declined": {change: func(own *catalog.Tool) { own.Effect, own.Retry = catalog.Write, retry }, turns: turns{faults(catalog.Declined, true, errGone)}, calls: 1,
			all: "%s_error:own", status: gateway.Failed},
		"a read is declined, and then not": {change: func(own *catalog.Tool) { own.Retry = retry }, turns: turns{faults(catalog.Declined, true, errGone)}, calls: 2, all: patterns.Success, status: gateway.Finished},
		"a read's answer is lost":          {turns: turns{lostIt}, calls: 1, all: "%s_error:own", status: gateway.Failed},
		"a repeatable write's answer is lost": {change: func(own *catalog.Tool) { own.Effect, own.Idempotent = catalog.Write, true }, turns: turns{lostIt}, calls: 2,
			all: patterns.Success, status: gateway.Finished},
		"a repeatable write's answer is lost, and then nothing is sent, and it is declined": {change: func(own *catalog.Tool) {
			own.Effect, own.Idempotent, own.Retry = catalog.Write, true, retry
		}, turns: turns{faults(catalog.NoAnswer, true, errActed), gone, faults(catalog.Declined, false, errGone)}, calls: 3, all: "in_doubt:own", status: gateway.InDoubt},
		"a repeatable write's answer is lost, and then nothing is sent": {change: func(own *catalog.Tool) { own.Effect, own.Idempotent = catalog.Write, true },
			turns: turns{lostIt, gone}, calls: 2, all: "in_doubt:own", status: gateway.InDoubt},
		"a repeatable write's answer is lost, and then it is declined": {change: func(own *catalog.Tool) { own.Effect, own.Idempotent = catalog.Write, true },
			turns: turns{lostIt, faults(catalog.Declined, false, errGone)}, calls: 2, all: "in_doubt:own", status: gateway.InDoubt},
		"a repeatable write's answer is lost, then nothing is sent, and it is looked up": {
			change: func(own *catalog.Tool) { looksUp(0)(own); own.Idempotent = true },
			turns:  turns{faults(catalog.NoAnswer, true, errActed), gone}, calls: 2, all: patterns.Success, status: gateway.Finished},
		"a write's answer is lost, and nobody can be asked": {change: write, turns: turns{lostIt}, calls: 1, all: "in_doubt:own", status: gateway.InDoubt},
		"a write's answer is lost, and it is looked up": {change: looksUp(0), turns: turns{faults(catalog.NoAnswer, false, errActed)}, calls: 1,
			all: patterns.Success, status: gateway.Finished},
		"a write is lost, and it is looked up": {change: looksUp(0), turns: turns{lostIt}, calls: 2, all: patterns.Success, status: gateway.Finished},
		"a write takes too long, and it is looked up": {change: looksUp(0), turns: turns{faults(catalog.TimedOut, true, errActed)}, calls: 1,
			all: patterns.Success, status: gateway.Finished},
		"a write hangs, and it is looked up": {change: func(own *catalog.Tool) { looksUp(0)(own); own.Timeout = 2 * time.Second }, turns: turns{hangs}, calls: 2,
			all: patterns.Success, status: gateway.Finished},
	}
	for name, tt := range tests {
		for _, kind := range ownKinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // what hangs is cut, whatever this machine is doing
					s := &service{turns: tt.turns}
					job := s.ownJob(t, kind, tt.change)
					r := livedOut(t, job, &local.Engine{})
					want := strings.Replace(tt.all, "%s", familyOf(kind), 1)
					if got := endOf(r); got != want || s.calls() != tt.calls {
						t.Errorf("stopped by %s after %d calls, want %s after %d\n%s", got, s.calls(), want, tt.calls, asJSON(t, r))
					}
					at := slices.IndexFunc(r.Ledger, func(e gateway.Entry) bool { return e.Tool == "own" })
					if newest := r.Ledger[len(r.Ledger)-1]; r.Ledger[at].Effect != catalog.Read && r.Ledger[at].Status != tt.status || newest.Effect == catalog.Read && newest.Tool == "own" && newest.Status != tt.status {
						t.Errorf("effects %+v, want the call %s", r.Ledger, tt.status)
					}
					if rows := slices.DeleteFunc(slices.Clone(r.Ledger), func(e gateway.Entry) bool { return e.Tool != "own" || e.Effect == catalog.Read }); len(rows) > 1 {
						t.Errorf("one act has the rows %+v", rows)
					}
					if s.calls() > 1 && job.Spec.Catalog != nil && r.Ledger[at].Effect != catalog.Read {
						if slices.ContainsFunc(s.keys, func(k string) bool { return k != s.keys[0] }) {
							t.Errorf("the same act has the keys %q", s.keys)
						}
					}
				})
			})
		}
	}
}

// A read that takes too long has its family's word.
func TestOwnReadTakesTooLong(t *testing.T) {
	want := map[gateway.Kind]string{gateway.TaskDecomposition: "tool_timeout:own", gateway.Orchestrator: "task_timeout", gateway.Routing: "route_timeout:own",
		gateway.Supervisor: "tool_timeout:own", gateway.Planning: "subtask_timeout", gateway.Call: "tool_timeout:own"}
	for _, kind := range ownKinds {
		for name, turn := range map[string]func(context.Context, catalog.Call) (any, error){"it hangs": hangs, "it says so": faults(catalog.TimedOut, true, errGone)} {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				s := &service{turns: []func(context.Context, catalog.Call) (any, error){turn}}
				job := s.ownJob(t, kind, func(own *catalog.Tool) { own.Timeout = 20 * time.Millisecond })
				job.Spec.Budget.MaxRetriesPerTask = 0
				if got := endOf(livedOut(t, job, &local.Engine{})); got != want[kind] || s.calls() != 1 {
					t.Errorf("stopped by %s after %d calls, want %s after one", got, s.calls(), want[kind])
				}
			})
		}
	}
}

// Each attempt is a tool call of the budget; one for which there is no room leaves the reason of the one before.
func TestAttemptsAreToolCalls(t *testing.T) {
	gone := faults(catalog.NotSent, true, errGone)
	for _, kind := range ownKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := &service{turns: []func(context.Context, catalog.Call) (any, error){gone, gone, gone, gone}}
			job := s.ownJob(t, kind, func(own *catalog.Tool) { own.Retry = catalog.Retry{Max: 5} })
			job.Spec.Budget.MaxToolCalls = 2
			r := livedOut(t, job, &local.Engine{})
			want := familyOf(kind)
			if got := endOf(r); got != want+"_unavailable:own" || s.calls() != 2 {
				t.Errorf("stopped by %s after %d calls, want %s_unavailable:own after 2: %s", got, s.calls(), want, asJSON(t, r))
			}
			if used := r.Budget["max_tool_calls"].Used; used != 2 && kind != gateway.Planning {
				t.Errorf("%v tool calls were used, want 2", used)
			}
		})
	}
}

// The run's own end during a write: it is looked up, and the run stops all the same.
func TestOwnWriteAtTheDeadline(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(*catalog.Tool)
		arrived bool
		status  gateway.EffectStatus
	}{
		"it happened":    {looksUp(0), true, gateway.Finished},
		"it did not":     {looksUp(0), false, gateway.Failed},
		"nobody can say": {func(own *catalog.Tool) { own.Effect = catalog.Write }, true, gateway.InDoubt},
	} {
		for _, kind := range ownKinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				s := &service{}
				s.turns = append(s.turns, func(ctx context.Context, c catalog.Call) (any, error) {
					if tt.arrived {
						s.mu.Lock()
						s.done = append(s.done, c.Key)
						s.mu.Unlock()
					}
					return hangs(ctx, c)
				})
				job := s.ownJob(t, kind, tt.change)
				job.Spec.Budget.MaxTime = 150 * time.Millisecond
				r := livedOut(t, job, &local.Engine{})
				if r.StopReason != "max_seconds" || s.calls() != 1 || r.Ledger[0].Status != tt.status {
					t.Errorf("%s after %d calls, effects %+v; want max_seconds after one, %s", r.StopReason, s.calls(), r.Ledger, tt.status)
				}
			})
		}
	}
}

// In a state file a person is asked about a write of which nobody knows, and told why.
func TestOwnDoubtIsAPersonsToSettle(t *testing.T) {
	t.Parallel()
	for cause, turn := range map[string]func(context.Context, catalog.Call) (any, error){
		"timeout": hangs, "broken_reply": faults(catalog.NoAnswer, true, errGone),
	} {
		for _, kind := range ownKinds {
			t.Run(cause+"/"+string(kind), func(t *testing.T) {
				t.Parallel()
				s := &service{turns: []func(context.Context, catalog.Call) (any, error){turn}}
				job := s.ownJob(t, kind, func(own *catalog.Tool) {
					if own.Effect = catalog.Write; cause == "timeout" {
						own.Timeout = 50 * time.Millisecond
					}
				})
				e := opened(t, newState(t), jobs{job.Spec.Name: job})
				e.Go()
				ended := begin(t, e, job)
				if w := ended.Waiting; w.Kind != patterns.ForSettlement || w.Cause != cause || w.Tool != "own" {
					t.Fatalf("waits for %+v, want a settlement by cause %s", w, cause)
				}
				if err := e.Operator().Settle(ended.RunID, ended.Waiting.Effect, local.Settlement{Happened: true, Result: []byte(`{"id":"7"}`)}); err != nil {
					t.Fatal(err)
				}
				if r := over(t, e, ended.RunID).Result; r.StopReason != patterns.Success || s.calls() != 1 || r.Ledger[0].Status != gateway.Finished {
					t.Errorf("%s after %d calls, effects %+v; want success after one", r.StopReason, s.calls(), r.Ledger)
				}
			})
		}
	}
}
