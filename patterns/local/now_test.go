package local_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// tellsNow is a policy that says in its values what time rules see, and that of the newest call they see.
func tellsNow(base gateway.Reviewer) gateway.Reviewer {
	return gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		v := base.Review(c)
		v.Values = map[string]any{"now": c.Facts.Now.Format(time.RFC3339Nano)}
		if n := len(c.Effects); n > 0 {
			v.Values["newest"] = c.Effects[n-1].At.Format(time.RFC3339Nano)
		}
		return v
	})
}

// nowRecorded fails where a call was judged at another time than that of the newest outcome before, and returns how many were.
func nowRecorded(t *testing.T, events []patterns.Event, kind patterns.EventKind) (n int) {
	t.Helper()
	newest := events[0].At
	began := map[int64]bool{}
	for _, e := range events {
		var body struct {
			Windows map[string]any `json:"windows"`
			Values  map[string]any `json:"values"`
			Verdict struct {
				Values map[string]any `json:"values"`
			} `json:"verdict"`
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
		values := body.Verdict.Values
		if e.Kind == patterns.JudgedEvent {
			values = body.Values
		}
		if e.Kind == patterns.OutcomeEvent {
			newest = e.At
		}
		if text, judged := values["now"].(string); judged && e.Kind == kind && (kind == patterns.IntentEvent || body.Windows != nil) {
			n++
			if now, err := time.Parse(time.RFC3339Nano, text); err != nil || now.UnixMicro() != newest {
				t.Errorf("%s was judged at %s, want %s", e.Key, text, time.UnixMicro(newest))
			}
			if text, seen := values["newest"].(string); seen && kind == patterns.IntentEvent {
				if at, err := time.Parse(time.RFC3339Nano, text); err != nil || !began[at.UnixMicro()] {
					t.Errorf("%s saw a call of %s, want the time of an intent", e.Key, text)
				}
			}
		}
		if e.Kind == patterns.IntentEvent {
			began[e.At] = true
		}
	}
	return n
}

// A task that a person approves 50 minutes later is judged at the time of their answer.
func TestNowOfATask(t *testing.T) {
	t.Parallel()
	path, job := newState(t), askingTasks(t)
	job.Spec.Reviewer = tellsNow(job.Spec.Reviewer)
	e := opened(t, path, jobs{job.Spec.Name: job})
	e.Go()
	p := port{e, &begun{}}
	id := p.beginning(t, job)
	p.until(t, id, patterns.Parked)
	e.Ahead(50 * time.Minute)
	page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{Run: id})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range page.Rows {
		d := say(q, gateway.ChooseApprove, nil)
		d.Answer.At = d.Answer.At.Add(50 * time.Minute)
		if _, err := e.Approvals().Decide(d); err != nil {
			t.Fatal(err)
		}
	}
	s := p.until(t, id, patterns.Over)
	events := p.intact(t, id)
	if n := nowRecorded(t, events, patterns.JudgedEvent); n < 2 || !s.Ended.Result.OK() {
		t.Errorf("%s, %d judgments tell the time; want two at least", s.Ended.Result.StopReason, n)
	}
	again, err := local.ReplayStored(events, job)
	if a, b := asJSON(t, s.Ended.Result), asJSON(t, again.Result); err != nil || a != b {
		t.Errorf("(%v) lived\n%s\nand replayed\n%s", err, a, b)
	}
}

// A person's time begins when they are asked, also of a task that waited for its turn meanwhile: the run's own seconds are those of
// its record, for every reader.
func TestSecondsOfATaskThatWaitedForItsTurn(t *testing.T) {
	t.Parallel()
	path, job := newState(t), askingTasks(t)
	var e *local.Engine
	tool, _ := job.Spec.Catalog.Tool("pay")
	tool.Do = func(context.Context, catalog.Call) (any, error) {
		e.Ahead(time.Minute)
		return object{"ok": true}, nil
	}
	job.Spec.Catalog = must(catalog.New(tool))
	job.Spec.Budget.MaxParallel, job.Spec.Budget.MaxTime, job.Spec.Budget.TaskTimeout = 1, time.Hour, time.Hour
	job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "tasks": []any{
		object{"id": "unasked", "worker": "pay", "args": object{"n": 3.0}, "critical": false},
		object{"id": "asked", "worker": "pay", "args": object{"n": 1.0}, "critical": false},
	}})
	e = opened(t, path, jobs{job.Spec.Name: job})
	e.Go()
	p := port{e, &begun{}}
	id := p.beginning(t, job)
	p.until(t, id, patterns.Parked)
	page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{Run: id})
	if err != nil || len(page.Rows) != 1 {
		t.Fatalf("%d wait for a person (%v), want one", len(page.Rows), err)
	}
	if _, err := e.Approvals().Decide(say(page.Rows[0], gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	s := p.until(t, id, patterns.Over)
	again, err := local.ReplayStored(p.intact(t, id), job)
	lived, replayed := s.Ended.Result.Budget["max_seconds"].Used, again.Result.Budget["max_seconds"].Used
	if err != nil || !s.Ended.Result.OK() || lived != replayed || lived < 120 {
		t.Errorf("%s (%v): it took %v s and, read from its record, %v; want the same, two minutes at least", s.Ended.Result.StopReason, err, lived, replayed)
	}
}

// After ten hours in which nobody had the run the time is what the record says, and so are those of its calls; its own seconds go on
// as if there had been none.
func TestNowAfterDowntime(t *testing.T) {
	t.Parallel()
	path, source := newState(t), &begun{}
	approve := gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict {
		return gateway.Verdict{Decision: gateway.Approve, Reason: "ok", Rule: "ok"}
	})
	job := func(w *world) patterns.Job {
		j := w.job(t, 3)
		j.Spec.Reviewer = tellsNow(approve)
		return j
	}
	id := interrupted(t, path, source, func(at func(context.Context, int) error) patterns.Job {
		return job(newWorld(t, catalog.Read, at))
	}, 2)
	source.jobs[0] = job(newWorld(t, catalog.Read, nil))
	source.jobs[0].Arguments = object{"job": 0.0}
	e := opened(t, path, source)
	e.Ahead(10 * time.Hour)
	e.Go()
	p := port{e, source}
	s := p.until(t, id, patterns.Over)
	if n := nowRecorded(t, p.intact(t, id), patterns.IntentEvent); n != 3 || !s.Ended.Result.OK() {
		t.Errorf("%s, %d calls tell the time; want three", s.Ended.Result.StopReason, n)
	}
}
