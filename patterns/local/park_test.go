package local_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/local"
)

type object = map[string]any

var (
	lookUp = object{"kind": "tool", "name": "get_refund_context", "args": object{"user_id": 42.0}}
	refund = object{"kind": "tool", "name": "issue_refund", "args": object{"user_id": 42.0, "amount_usd": 1200.0}}
	mail   = object{"kind": "tool", "name": "send_refund_email", "args": object{"user_id": 42.0, "amount_usd": 800.0, "message": "Done"}}
	final  = object{"kind": "final", "answer": "800 USD were refunded."}
)

// actionsTask is a supervised task whose caller hands in these actions.
func actionsTask(actions ...any) patterns.Task {
	return patterns.Task{Goal: "1200", Caller: patterns.Proposals("actions", append([]any{}, actions...))}
}

func refundJob(t testing.TB, actions ...any) patterns.Job {
	t.Helper()
	return patterns.Job{Spec: spec(t, gateway.Supervisor, 0), Task: actionsTask(actions...), Model: &script{}, Caller: patterns.Caller{Principal: "local:1"}}
}

// begin starts a run that has to wait for its caller.
func begin(t testing.TB, e patterns.Engine, job patterns.Job) patterns.Ended {
	t.Helper()
	ended, err := e.Start(context.Background(), job)
	if err != nil || ended.Waiting == nil {
		t.Fatalf("Start gave %v and %+v, want a run that waits", err, ended.Result)
	}
	return ended
}

// send hands a waiting run what its caller sends.
func send(t testing.TB, e patterns.Engine, id string, given object) patterns.Ended {
	t.Helper()
	ended, err := e.Continue(context.Background(), patterns.Continuation{Principal: "local:1", RunID: id, Given: given})
	if err != nil {
		t.Fatalf("Continue(%v): %v", given, err)
	}
	return ended
}

var madeIDs = regexp.MustCompile(`(rf|em)_42_[0-9a-f]+|"decided_at": "[^"]*"|"used": [0-9.]+|"Order": [0-9]+|"At": "[^"]*"|"RunID": "run_[0-9a-f]*"`)

// comparable is a result without what differs in each run, and without its turns.
func comparable(t testing.TB, r patterns.Result) string {
	t.Helper()
	r.Handed = nil
	return madeIDs.ReplaceAllString(asJSON(t, r), "-")
}

// A run that is led action by action comes to the result of one that was handed all actions at once, and its record
// replays to the same.
func TestActionByAction(t *testing.T) {
	whole, _ := carryOut(t, spec(t, gateway.Supervisor, 0), actionsTask(lookUp, refund, mail, final), &script{})
	var record *execution.Record
	e := &local.Engine{Reports: local.Reports{Recorded: func(_ string, r *execution.Record) { record = r }}}
	defer e.Close()
	ended := begin(t, e, refundJob(t))
	for turn, action := range []any{lookUp, refund, mail, final} {
		if w := ended.Waiting; w == nil || w.Turn != turn+1 || w.Left != 8-turn || len(w.SoFar.History) != turn {
			t.Fatalf("turn %d: waits for %+v", turn+1, w)
		}
		ended = send(t, e, ended.RunID, object{"actions": []any{action}})
	}
	if got, want := comparable(t, ended.Result), comparable(t, whole); got != want {
		t.Errorf("action by action %s\nat once %s", got, want)
	}
	again, err := local.Replay(record, spec(t, gateway.Supervisor, 0), actionsTask(), execution.First)
	if err != nil || asJSON(t, again) != asJSON(t, ended.Result) {
		t.Errorf("replayed (%v) %s\nlived %s", err, asJSON(t, again), asJSON(t, ended.Result))
	}
}

// What a run waits for says all that its caller must know.
func TestWaitingRoute(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		ended := begin(t, e, patterns.Job{
			Spec: spec(t, gateway.Routing, 0), Caller: patterns.Caller{Principal: "local:1"}, Model: &script{},
			Task: patterns.Task{Goal: "refund user_id=42", Caller: patterns.Proposals("route", object{"target": "sales_specialist"})},
		})
		w := ended.Waiting
		if w.Phase != "route" || w.Argument != "route" || w.Turn != 2 || w.Left != 2 || !slices.Equal(w.Forbidden, []string{"sales_specialist"}) ||
			slices.Contains(w.Names, "sales_specialist") || w.Last == nil || w.Until.Sub(w.Since) != 30*time.Minute {
			t.Errorf("waits for %+v", w)
		}
		ended = send(t, e, ended.RunID, object{"route": object{"target": "billing_specialist"}})
		if ended.Result.StopReason != patterns.Success || ended.Result.SelectedRoute != "billing_specialist" {
			t.Errorf("ended with %s", asJSON(t, ended.Result))
		}
	})
}

// Refused proposals leave the run waiting at the same turn, the third time it stops; nothing of them runs.
func TestRefusedContinuations(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		ended := begin(t, e, refundJob(t, lookUp))
		faulty := object{"actions": []any{lookUp, object{"kind": "tool", "name": "pay", "args": object{}}}}
		for refused := 1; refused < 3; refused++ {
			ended = send(t, e, ended.RunID, faulty)
			w := ended.Waiting
			if w == nil || w.Turn != 2 || w.Refused != refused || len(w.SoFar.Problems) == 0 || w.SoFar.RawName != "raw_action" || ended.Calls != 1 {
				t.Fatalf("refused %d times: %+v after %d calls", refused, w, ended.Calls)
			}
			if p := w.SoFar.Problems[0]; p.Pointer != "/actions/1/name" {
				t.Errorf("problem at %s, want /actions/1/name", p.Pointer)
			}
		}
		ended = send(t, e, ended.RunID, faulty)
		if r := ended.Result; ended.Waiting != nil || r.StopReason != "invalid_action:unknown_tool:pay" || r.Phase != "worker" || ended.Calls != 1 {
			t.Errorf("the third time: %+v", ended)
		}
	})
}

// A good proposal after a refused one is a fresh start: the next turn may be refused as often.
func TestRefusalsCountByTurn(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		ended := begin(t, e, refundJob(t))
		for range 3 {
			ended = send(t, e, ended.RunID, object{"actions": []any{"nonsense"}})
			ended = send(t, e, ended.RunID, object{"actions": []any{object{"kind": "tool", "name": "get_refund_context", "args": object{"user_id": 42.0}}}})
			if ended.Waiting == nil {
				break
			}
			if w := ended.Waiting; w.Refused != 0 || len(w.SoFar.Problems) != 0 {
				t.Fatalf("turn %d begins with %d refusals and %v", w.Turn, w.Refused, w.SoFar.Problems)
			}
		}
		if ended.Result.StopReason != "loop_detected:signature_repeat" {
			t.Errorf("ended by %s, want the loop", ended.Result.StopReason)
		}
	})
}

// A caller may hand over to the model, with actions or without.
func TestHandover(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		replies := []string{
			`{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":20,"reason":"broken"}}`,
			`{"kind":"final","answer":"Done."}`,
		}
		tests := map[string]object{
			"at once":      {"continue_with": "model"},
			"with actions": {"actions": []any{}, "continue_with": "model"},
		}
		for name, given := range tests {
			t.Run(name, func(t *testing.T) {
				e := open(t)
				job := refundJob(t, lookUp)
				job.Model = &script{replies: replies}
				ended := send(t, e, begin(t, e, job).RunID, given)
				if r := ended.Result; r.StopReason != patterns.Success || r.ByCall || !r.Asked || r.Usage.Requests != 2 || len(r.History) != 3 {
					t.Errorf("ended with %s", asJSON(t, r))
				}
			})
		}
	})
}

// Of continuations of one turn that come together one is taken.
func TestDoubleContinuation(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		id := begin(t, e, refundJob(t, lookUp)).RunID
		var all sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			all.Go(func() {
				_, errs[i] = e.Continue(context.Background(), patterns.Continuation{
					Principal: "local:1", RunID: id, Turn: 2, Given: object{"actions": []any{final}},
				})
			})
		}
		all.Wait()
		taken := 0
		for _, err := range errs {
			switch {
			case err == nil:
				taken++
			case !errors.Is(err, patterns.ErrNotTaken):
				t.Errorf("Continue gave %v, want %v", err, patterns.ErrNotTaken)
			}
		}
		if taken != 1 {
			t.Errorf("%d continuations of one turn were taken, want 1", taken)
		}
	})
}

// Only what fits the run as it stands is taken.
func TestNotTaken(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		id := begin(t, e, refundJob(t, lookUp)).RunID
		over, err := e.Start(context.Background(), refundJob(t, lookUp, final))
		if err != nil {
			t.Fatal(err)
		}
		tests := map[string]struct {
			c    patterns.Continuation
			want error
		}{
			"a turn that was answered":  {patterns.Continuation{Principal: "local:1", RunID: id, Turn: 1}, patterns.ErrNotTaken},
			"a turn that is to come":    {patterns.Continuation{Principal: "local:1", RunID: id, Turn: 3}, patterns.ErrNotTaken},
			"a run that ended":          {patterns.Continuation{Principal: "local:1", RunID: over.RunID}, patterns.ErrNotTaken},
			"another principal's run":   {patterns.Continuation{Principal: "token:eve", RunID: id}, patterns.ErrNoRun},
			"a run that there is not":   {patterns.Continuation{Principal: "local:1", RunID: "run_0000000000000000"}, patterns.ErrNoRun},
			"nobody's run of that name": {patterns.Continuation{RunID: id}, patterns.ErrNoRun},
		}
		for name, tt := range tests {
			if _, err := e.Continue(context.Background(), tt.c); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
		}
		if s, ok := e.Run("local:1", id); !ok || s.State != patterns.Parked || s.Ended.Waiting.Turn != 2 {
			t.Errorf("the run stands at %+v, want it waiting as before", s)
		}
	})
}

// A caller that does not come back in time ends the run; the time it took does not count.
func TestCallerExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &local.Engine{Waits: local.Waits{CallerWait: time.Hour}}
		defer e.Close()
		told := make(chan string, 10)
		e.Watch(func(s patterns.Snapshot, attended bool) {
			told <- fmt.Sprintf("%s %s attended %t", s.State, s.Ended.Result.StopReason, attended)
		})
		job := refundJob(t, lookUp)
		id := begin(t, e, job).RunID
		time.Sleep(59 * time.Minute) // the fake clock's
		ended := send(t, e, id, object{"actions": []any{"nonsense"}})
		if ended.Waiting == nil || ended.Waited != 59*time.Minute || ended.Waiting.SoFar.Budget["max_seconds"].Used != 0 {
			t.Fatalf("after 59 minutes: %+v", ended)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		s, _ := e.Run("local:1", id)
		if r := s.Ended.Result; s.State != patterns.Over || r.StopReason != "caller_expired" || r.Phase != "worker" || len(r.History) != 1 {
			t.Errorf("an hour later: %s, %s", s.State, asJSON(t, r))
		}
		for _, want := range []string{
			"waiting  attended true", "running  attended true", "waiting  attended true",
			"running  attended false", "ended caller_expired attended false",
		} {
			if got := <-told; got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
	})
}

// An engine that may not wait ends the run at once.
func TestNoCallerWait(t *testing.T) {
	for name, e := range map[string]*local.Engine{"no time": {Waits: local.Waits{CallerWait: -1}}, "no place": {Waits: local.Waits{MaxParked: -1}}} {
		ended, err := e.Start(context.Background(), refundJob(t, lookUp))
		if err != nil || ended.Waiting != nil || ended.Result.StopReason != "caller_expired" {
			t.Errorf("%s: %v, %+v", name, err, ended)
		}
		e.Close()
	}
}

// Of too many waiting runs of a principal its oldest expires, and nobody else's.
func TestOldestParkedExpires(t *testing.T) {
	e := &local.Engine{Waits: local.Waits{MaxParked: 2}}
	defer e.Close()
	foreign := refundJob(t, lookUp)
	foreign.Principal = "token:other"
	others := begin(t, e, foreign).RunID
	var ids []string
	for range 3 {
		ids = append(ids, begin(t, e, refundJob(t, lookUp)).RunID)
	}
	for i, want := range []patterns.RunState{patterns.Over, patterns.Parked, patterns.Parked} {
		if s, ok := e.Run("local:1", ids[i]); !ok || s.State != want || want == patterns.Over && s.Ended.Result.StopReason != "caller_expired" {
			t.Errorf("run %d is %s by %q, want %s", i+1, s.State, s.Ended.Result.StopReason, want)
		}
	}
	if s, _ := e.Run("token:other", others); s.State != patterns.Parked {
		t.Errorf("the other principal's run is %s", s.State)
	}
	slices.Reverse(ids)
	if got := e.RunIDs("local:1"); !slices.Equal(got, ids) {
		t.Errorf("RunIDs %v, want the newest first: %v", got, ids)
	}
}

// Waiting runs whose callers sent much expire before there are too many; a single one may wait.
func TestLargestParkedExpire(t *testing.T) {
	e := &local.Engine{}
	defer e.Close()
	var ids []string
	for _, megabytes := range []int{20, 20, 20, 100} {
		job := refundJob(t, lookUp)
		job.Size = megabytes << 20
		ids = append(ids, begin(t, e, job).RunID)
	}
	for i, want := range []patterns.RunState{patterns.Over, patterns.Over, patterns.Over, patterns.Parked} {
		if s, _ := e.Run("local:1", ids[i]); s.State != want {
			t.Errorf("run %d is %s, want %s", i+1, s.State, want)
		}
	}
}

// The last 200 ended runs of a principal are kept.
func TestEndedRunsAreForgotten(t *testing.T) {
	t.Parallel()
	e := &local.Engine{}
	defer e.Close()
	waits := begin(t, e, refundJob(t, lookUp)).RunID
	var first string
	for i := range 201 {
		ended, err := e.Start(context.Background(), refundJob(t, lookUp, final))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = ended.RunID
		}
	}
	if _, ok := e.Run("local:1", first); ok {
		t.Error("the oldest of 201 ended runs is still there")
	}
	if _, ok := e.Run("local:1", waits); !ok || len(e.RunIDs("local:1")) != 201 {
		t.Errorf("%d runs are there, want 200 that ended and the one that waits", len(e.RunIDs("local:1")))
	}
}

// Runs that wait hold no goroutine.
func TestParkedRunsRest(t *testing.T) {
	e := &local.Engine{}
	e.Close() // no idle hands
	begin(t, e, refundJob(t, lookUp))
	before := runtime.NumGoroutine()
	for range 100 {
		begin(t, e, refundJob(t, lookUp))
	}
	if after := runtime.NumGoroutine(); after > before+10 {
		t.Errorf("%d goroutines with 1 waiting run, %d with 101", before, after)
	}
}
