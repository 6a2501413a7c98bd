package local_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A run that was seized from a process which lives on is shown there as it really stands, and can be cancelled from there.
func TestSeizedRunIsShownAsItStands(t *testing.T) {
	t.Parallel()
	c := &cashier{sent: make(chan string, 1)}
	path, job := newState(t), c.job(t, false)
	source := jobs{job.Spec.Name: job}
	former, next := opened(t, path, source), opened(t, path, source)
	former.Go()
	job.Wait = -1
	ended, err := former.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	<-c.sent
	if err := next.Operator().Seize(ended.RunID, patterns.Note{By: "local:1"}, gateway.SignedAct{}); err != nil {
		t.Fatal(err)
	}
	next.Go()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for name, e := range map[string]*local.Engine{"the next": next, "the former": former} {
		s, ok := e.Wait(ctx, "local:1", ended.RunID, patterns.Mark{State: patterns.Running})
		if !ok || s.State != patterns.Parked || s.Ended.Waiting.Kind != patterns.ForSettlement {
			t.Fatalf("%s owner shows the run (%t) as %s %+v; want it waiting for a settlement", name, ok, s.State, s.Ended.Waiting)
		}
	}
	s, err := former.Cancel(ctx, "local:1", ended.RunID, patterns.Note{By: "local:1"})
	if err != nil || s.State != patterns.Over {
		t.Errorf("cancelled by its former owner: %v, %s; want it ended", err, s.State)
	}
}

// Whenever a run is cancelled, it is: also in the moment in which it is about to wait, and in the one in which it was just
// taken from the file. Who wanted it stands in the record.
func TestCancelIsNeverLost(t *testing.T) {
	t.Parallel()
	for i := range 40 {
		path, job := newState(t), refundJob(t)
		e := opened(t, path, jobs{job.Spec.Name: job})
		e.Go()
		job.Wait = -1
		ended, err := e.Start(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 25 * time.Microsecond) // it parks meanwhile, or has, or not yet
		ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
		s, err := e.Cancel(ctx, "local:1", ended.RunID, patterns.Note{By: "local:1", Channel: "mcp", Reason: "enough"})
		done()
		if err != nil || s.State != patterns.Over || s.Ended.Result.StopReason != "cancelled" {
			t.Fatalf("%d: %v, %s %+v; want it cancelled", i, err, s.State, s.Ended.Waiting)
		}
		events, err := e.Events("local:1", ended.RunID)
		noted := 0
		for _, event := range events {
			if event.Kind == patterns.NoteEvent && string(event.Body) == `{"by":"local:1","channel":"mcp","reason":"enough","what":"cancel"}` {
				noted++
			}
		}
		if err != nil || noted != 1 {
			t.Fatalf("%d: %v, %d notes of the cancellation in %s; want 1", i, err, noted, asJSON(t, events))
		}
		e.Close()
	}
}

// The cancellation of a run survives the process that received it, also while a call is under way.
func TestCancelOutlivesItsProcess(t *testing.T) {
	c := &cashier{sent: make(chan string, 1)}
	path, job := newState(t), c.job(t, false)
	source := jobs{job.Spec.Name: job}
	e := opened(t, path, source)
	other := opened(t, path, source)
	job.Wait = -1
	ended, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	<-c.sent
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = e.Cancel(gone, "local:1", ended.RunID, patterns.Note{By: "local:1"})
	if rows, err := other.List(patterns.Filter{Principal: "local:1"}); err != nil || len(rows.Rows) != 1 {
		t.Fatalf("%v, %+v", err, rows)
	}
	_ = other.Operator().Seize(ended.RunID, patterns.Note{By: "local:1"}, gateway.SignedAct{}) // as if the process had died in this moment
	other.Go()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	s, ok := other.Wait(ctx, "local:1", ended.RunID, patterns.Mark{State: patterns.Running})
	if !ok || s.State != patterns.Over || s.Ended.Result.StopReason != "cancelled" {
		t.Errorf("%t, %s %+v %+v; want it cancelled", ok, s.State, s.Ended.Result, s.Ended.Waiting)
	}
}

// Runs that begin in one moment, as where the clock stands still after it was set back, are paged once each.
func TestRunsOfOneMomentArePaged(t *testing.T) {
	path, job := newState(t), refundJob(t)
	e := opened(t, path, jobs{job.Spec.Name: job})
	for i := range 12 {
		job.Equal = fmt.Sprint(i)
		begin(t, e, job)
	}
	e.Close()
	edit(t, path, "UPDATE runs SET began = (SELECT max(began) FROM runs)")
	e = opened(t, path, nil)
	seen, f := map[string]bool{}, patterns.Filter{Principal: "local:1", Limit: 5}
	for _, f := range []patterns.Filter{{Principal: "local:1"}, {}} { // two readings, the second empty
		f.StopReason = "no such"
		if page, err := e.List(f); err != nil || len(page.Rows) != 0 || page.Next != "" {
			t.Errorf("%+v: %v, %+v; want no rows", f, err, page)
		}
	}
	for range 10 {
		page, err := e.List(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Rows {
			if seen[row.RunID] {
				t.Errorf("%s is listed twice", row.RunID)
			}
			seen[row.RunID] = true
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d runs are listed, want 12", len(seen))
	}
}

// Who waits for a run that cannot be carried on here is kept waiting instead of asking again and again.
func TestWaitingForALackingRunRests(t *testing.T) {
	t.Parallel()
	path, job := newState(t), refundJob(t)
	e := opened(t, path, jobs{job.Spec.Name: job})
	ended := begin(t, e, job)
	e.Close()
	for name, statement := range map[string]string{
		"it waits for its caller": "UPDATE runs SET delivered = 0",
		"it is ready":             "UPDATE runs SET state = 'ready'",
		"it was found to lack":    "UPDATE runs SET state = 'ready', waiting_kind = 'retry'",
	} {
		edit(t, path, statement)
		e = opened(t, path, jobs{})
		s, _ := e.Run("local:1", ended.RunID)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		again, ok := e.Wait(ctx, "local:1", ended.RunID, s.Mark())
		if !ok || again.State != patterns.Parked || again.Ended.Waiting.Cause != "tool_missing" || ctx.Err() == nil {
			t.Errorf("%s: %t, %s %+v, waited %t; want it waiting for a tool, all the time", name, ok, again.State, again.Ended.Waiting, ctx.Err() != nil)
		}
		cancel()
		e.Close()
	}
}

// A row that was edited to say otherwise than the chained record does not give the run to somebody else.
func TestRowsThatContradictTheirRecord(t *testing.T) {
	for name, statement := range map[string]string{
		"another's":             "UPDATE runs SET principal = 'local:2'",
		"another configuration": "UPDATE runs SET config = 'sha256:other'",
		"another pattern":       "UPDATE runs SET pattern = 'other'",
	} {
		path, job := newState(t), refundJob(t)
		job.Config = "sha256:test"
		e := opened(t, path, jobs{job.Spec.Name: job})
		id := begin(t, e, job).RunID
		e.Close()
		edit(t, path, statement)
		e = opened(t, path, jobs{job.Spec.Name: job})
		s, ok := e.Run("local:1", id)
		if !ok {
			s, ok = e.Run("local:2", id)
		}
		if !ok || s.Ended.Result.StopReason != "record_broken" || s.Arguments != nil {
			t.Errorf("%s: %t, %s %+v; want record_broken", name, ok, s.State, s.Ended.Result)
		}
		if _, err := e.Cancel(t.Context(), s.Principal, id, patterns.Note{}); !errors.Is(err, patterns.ErrOver) {
			t.Errorf("%s: cancelled: %v, want ErrOver", name, err)
		}
		e.Close()
	}
}

// Where the clock stands still, because it was set back by a day before a restart, calls still end in their time.
func TestCallsEndWhileTheClockStands(t *testing.T) {
	t.Parallel()
	path, job := newState(t), refundJob(t)
	e := opened(t, path, jobs{job.Spec.Name: job})
	begin(t, e, job)
	e.Close()
	edit(t, path, fmt.Sprintf("UPDATE runs SET newest = %d", time.Now().Add(24*time.Hour).UnixMicro()))
	s := deafSpec(t, deaf(t, "slow", catalog.Read, 200*time.Millisecond))
	s.Budget.TaskTimeout = 20 * time.Millisecond
	e = opened(t, path, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ended, err := e.Start(ctx, patterns.Job{Spec: s, Model: &script{replies: []string{tasksOf(false, "slow")}}, Caller: patterns.Caller{Principal: "local:1"}, Task: patterns.Task{Goal: "x"}})
	if got := rows(t, ended.Result); err != nil || len(got) != 1 || got[0] != "t1 failed 2 task_timeout" {
		t.Errorf("%v, tasks %q; want t1 given up twice", err, got)
	}
}

// A run over whose record the code breaks down ends as one that does not fit, instead of being tried for ever.
func TestCodeThatBreaksDownOverARecord(t *testing.T) {
	path, job := newState(t), refundJob(t)
	e := opened(t, path, jobs{job.Spec.Name: job})
	id := begin(t, e, job).RunID
	e.Close()
	edit(t, path, "UPDATE runs SET state = 'ready'")
	broken := job
	broken.Task.Caller = patterns.Proposals("actions", 1)
	e = opened(t, path, jobs{job.Spec.Name: broken})
	e.Go()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if s, ok := e.Wait(ctx, "local:1", id, patterns.Mark{State: patterns.Running}); !ok || s.Ended.Result.StopReason != "replay_mismatch" {
		t.Errorf("%t, %s %+v; want replay_mismatch", ok, s.State, s.Ended.Result)
	}
}

// However often the processes of a run leave it in order, as short commands do, what it does is not held to end them.
func TestOrderlyLeavingIsNoTry(t *testing.T) {
	t.Parallel()
	path := newState(t)
	model := &patient{began: make(chan struct{}, 20)}
	job := patterns.Job{Spec: spec(t, runs["route"].kind, 0.01), Task: runs["route"].task, Model: model, Caller: patterns.Caller{Principal: "local:1"}, Wait: -1}
	source := jobs{job.Spec.Name: job}
	e := opened(t, path, source)
	ended, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	asked := func(n int) {
		t.Helper()
		select {
		case <-model.began:
		case <-time.After(5 * time.Second):
			t.Fatalf("after %d orderly ends the model is asked no more", n)
		}
	}
	for n := range 12 {
		asked(n)
		e.Close()
		e = opened(t, path, source)
		e.Go()
	}
	asked(12)
	if s, ok := e.Run("local:1", ended.RunID); !ok || s.State != patterns.Running {
		t.Errorf("after 12 orderly ends: %t, %s %s; want it running", ok, s.State, s.Ended.Result.StopReason)
	}
}

// patient is a model that answers nobody, and says when it is asked.
type patient struct{ began chan struct{} }

func (*patient) Name() string { return "patient" }

func (p *patient) Ask(ctx context.Context, _ patterns.Question) (patterns.Answer, error) {
	p.began <- struct{}{}
	<-ctx.Done()
	return patterns.Answer{Usage: patterns.Usage{Requests: 1}}, ctx.Err()
}

// A record that turns out to be broken while another process carries its run on: that process appends no more, the run
// stays as it was found, and what it hid is gone.
func TestBrokenRecordStopsWhoeverHasTheRun(t *testing.T) {
	path, g := newState(t), newGate(t, catalog.Read)
	job := g.job(t, 3)
	job.Arguments, job.Wait = object{"goal": "Zanzibar"}, -1
	owner := redacting(t, path, jobs{job.Spec.Name: job}, places)
	other := opened(t, path, nil)
	ended, err := owner.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	id := ended.RunID
	<-g.entered
	other.Alter(t, "UPDATE events SET at = at + 1 WHERE n = ? AND seq = 2", local.Number(id))
	if _, err := other.Cancel(t.Context(), mine, id, patterns.Note{By: mine}); !errors.Is(err, patterns.ErrOver) {
		t.Errorf("Cancel: %v, want ErrOver", err)
	}
	before, _, _ := other.Operator().Record(id)
	close(g.open)
	owner.Close() // it has come to know
	if after, _, _ := other.Operator().Record(id); len(after) != len(before) {
		t.Errorf("%d events were appended", len(after)-len(before))
	}
	page, err := other.List(patterns.Filter{Principal: mine})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].StopReason != "record_broken" {
		t.Errorf("listed: %+v, %v", page, err)
	}
	other.Close()
	notInFiles(t, filepath.Dir(path), "Zanzibar")
}

// A run that was to be cancelled when its process died says in its record who wanted it.
func TestCancelOfADeadProcessesRunIsNoted(t *testing.T) {
	path, source, g := newState(t), &begun{}, newGate(t, catalog.Read)
	first := port{opened(t, path, source), source} // it looks for nothing
	id := first.beginning(t, g.job(t, 2))
	<-g.entered
	second := opened(t, path, source)
	ctx, done := context.WithCancel(t.Context())
	done()
	if _, err := second.Cancel(ctx, mine, id, patterns.Note{By: mine, Channel: "cli"}); err != nil {
		t.Fatal(err)
	}
	first.Close()
	p := port{second, source}
	p.Go()
	s := p.until(t, id, patterns.Over)
	noted := 0
	for _, e := range p.intact(t, id) {
		if e.Kind == patterns.NoteEvent && string(e.Body) == `{"by":"local:1","what":"cancel"}` {
			noted++
		}
	}
	if s.Ended.Result.StopReason != "cancelled" || noted != 1 {
		t.Errorf("it ended with %s, %d notes of who wanted it; want cancelled and 1", s.Ended.Result.StopReason, noted)
	}
}

// A run that is cancelled from another process in the moment in which it is about to wait does not wait.
func TestCancelMeetsARunThatParks(t *testing.T) {
	path, job := newState(t), refundJob(t, lookUp)
	source := jobs{job.Spec.Name: job}
	e, other := opened(t, path, source), opened(t, path, source)
	e.Go()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	job.Wait = -1
	job.Present = func(at patterns.Ended, _ error) patterns.Presented { // its row is about to say that it waits
		if at.Waiting != nil {
			if _, err := other.Cancel(gone, mine, at.RunID, patterns.Note{By: mine}); err != nil {
				t.Error(err)
			}
		}
		return patterns.Presented{}
	}
	ended, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if s := (port{e, nil}).until(t, ended.RunID, patterns.Over); s.Ended.Result.StopReason != "cancelled" {
		t.Errorf("it ended with %s, want cancelled", s.Ended.Result.StopReason)
	}
}
