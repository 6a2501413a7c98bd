package local_test

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A run that waits with its child runs continues when the answer is there, whichever process resumes it.
func TestResumeAParent(t *testing.T) {
	t.Parallel()
	h := desk(t, nil)
	h.asks()
	path := newState(t)
	first := port{opened(t, path, h), &begun{}}
	s, q := first.waiting(t, h, "hall")
	first.Close()
	e := port{opened(t, path, h), &begun{}} // it serves nothing
	if _, err := e.Operator().Resume(t.Context(), s.RunID); err == nil {
		t.Error("it was resumed while a person is asked")
	}
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	list, err := e.Operator().Resume(t.Context(), s.RunID)
	if err != nil || len(list) != 1 || list[0].State != patterns.Over || !list[0].Ended.Result.OK() || len(h.done) != 1 {
		t.Errorf("%+v, %v, %d acts", list, err, len(h.done))
	}
	for _, id := range e.RunIDs(mine) {
		if s, _ := e.Run(mine, id); s.State != patterns.Over {
			t.Errorf("%s of %s is %s", id, s.Pattern, s.State)
		}
	}
}

// Who resumes all that is ready carries the parents on too.
func TestResumeAllWithParents(t *testing.T) {
	t.Parallel()
	h := desk(t, nil)
	h.asks()
	path := newState(t)
	first := port{opened(t, path, h), &begun{}}
	s, q := first.waiting(t, h, "hall")
	first.Close()
	e := port{opened(t, path, h), &begun{}}
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Operator().Resume(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if s, _ := e.Run(mine, s.RunID); s.State != patterns.Over || !s.Ended.Result.OK() {
		t.Errorf("the hall is %s, %+v", s.State, s.Ended)
	}
}

// Another process that serves the same state carries on what one left while a person was asked, and what a person takes is nobody's
// running time.
func TestParentsGoOnElsewhere(t *testing.T) {
	t.Parallel()
	h := desk(t, nil)
	h.asks()
	path := newState(t)
	first := port{opened(t, path, h), &begun{}}
	first.Go()
	s, q := first.waiting(t, h, "hall")
	first.Close()
	e := port{opened(t, path, h), &begun{}}
	e.Go()
	shown := e.until(t, s.RunID, patterns.Parked)
	if w := shown.Ended.Waiting; w.Approval != q.ID || w.Child == "" || w.Pattern != "pay" || w.Key != s.Ended.Waiting.Key {
		t.Errorf("later it waits for %+v, before for %+v", w, s.Ended.Waiting)
	}
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	over := e.until(t, s.RunID, patterns.Over)
	if !over.Ended.Result.OK() || len(h.done) != 1 {
		t.Fatalf("%s after %d acts", over.Ended.Result.StopReason, len(h.done))
	}
	events := e.intact(t, s.RunID)
	job, _ := h.Job(patterns.Begun{Pattern: "hall", Caller: patterns.Caller{Principal: mine}, Arguments: s.Arguments})
	again, err := local.ReplayStored(events, job)
	if err != nil || again.Waited != over.Ended.Waited || again.Waited <= 0 {
		t.Errorf("it waited %v, replayed %v, %v", over.Ended.Waited, again.Waited, err)
	}
	notes := map[string]int{}
	for _, e := range events {
		if body, err := patterns.DecodeBody(e); err == nil && e.Kind == patterns.NoteEvent {
			notes[body.(*patterns.NoteBody).What]++
		}
	}
	if len(notes) != 2 || notes["rest"] == 0 || notes["rest"] != notes["wake"] {
		t.Errorf("its notes are %v, want that it rested and went on, and nothing else", notes)
	}
	used := over.Ended.Result.Budget["max_seconds"].Used
	if running := over.Ended.Ended.Sub(over.Ended.Began) - over.Ended.Waited; used > running.Seconds()+0.002 {
		t.Errorf("it ran %v, of its time %v s are used", running, used)
	}
}

// Silence is no for a child run as for any other, and its parent goes on with that.
func TestSilenceOfWhoAChildAsks(t *testing.T) {
	t.Parallel()
	h := desk(t, nil)
	h.asks()
	pay := h.specs["pay"]
	pay.Approver.Expires = time.Hour
	h.specs["pay"] = pay
	path := newState(t)
	first := opened(t, path, h)
	ended, err := h.start(first, "hall")
	if err != nil {
		t.Fatal(err)
	}
	if ended.Waiting == nil {
		t.Fatalf("it waits for nobody: %s", asJSON(t, ended.Result))
	}
	first.Close()
	p := port{opened(t, path, h), &begun{}}
	p.Ahead(2 * time.Hour)
	p.Go()
	s := p.until(t, ended.RunID, patterns.Over)
	leaf := childOf(t, p.Engine, childOf(t, p.Engine, ended.RunID).RunID)
	if s.Ended.Result.StopReason != "route_error:desk" || leaf.Ended.Result.StopReason != "approval_expired" || len(h.done) != 0 {
		t.Errorf("the hall ended with %s, the leaf with %s", s.Ended.Result.StopReason, leaf.Ended.Result.StopReason)
	}
}

// What a run that goes on may not know the end of yet stays, however long ago it ended: the run would begin it once more. When that is
// over too, all go.
func TestPruningLeavesWhatARunLiesIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.over(gateway.Routing, "desk", toPay, "pay")
	h.add(patterns.Spec{Name: "ask", Kind: gateway.Call, Tool: "own", Tools: []string{"own"}, Approver: patterns.Approver{Kind: patterns.InboxApprover, Expires: 9 * time.Hour},
		Reviewer: gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict {
			return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
		})})
	h.over(gateway.Orchestrator, "report", `{"kind":"plan","tasks":[
		{"id":"a","worker":"left","args":{"goal":"a"},"critical":false},{"id":"b","worker":"right","args":{"n":2},"critical":false}]}`, "left=desk", "right=ask")
	p := port{opened(t, newState(t), h), &begun{}}
	p.Go()
	s, q := p.waiting(t, h, "report")
	later := time.Now().Add(time.Hour)
	if list, err := p.Operator().Prune(later, false); err != nil || len(list) != 0 {
		t.Fatalf("pruned was %+v, %v; want nothing", list, err)
	}
	if _, err := p.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	if r := p.until(t, s.RunID, patterns.Over).Ended.Result; !r.OK() || len(h.done) != 2 {
		t.Errorf("%s after %d acts", asJSON(t, r), len(h.done))
	}
	if list, err := p.Operator().Prune(later, false); err != nil || len(list) != 4 {
		t.Errorf("pruned was %+v, %v; want all four", list, err)
	}
}

// Side by side two child runs ask people. Each answer carries its own on, and the run goes on to the next question, then to its end.
func TestTwoChildrenAskSideBySide(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.asks()
	h.over(gateway.Orchestrator, "report", `{"kind":"plan","tasks":[
		{"id":"a","worker":"left","args":{"n":1},"critical":false},{"id":"b","worker":"right","args":{"n":2},"critical":false}]}`, "left=pay", "right=pay")
	p := port{opened(t, newState(t), h), &begun{}}
	p.Go()
	s, q := p.waiting(t, h, "report")
	seen := map[string]bool{}
	for range 2 {
		seen[q.ID] = true
		if _, err := p.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		for s, _ = p.Run(mine, s.RunID); s.State != patterns.Over && ctx.Err() == nil; s, _ = p.Wait(ctx, mine, s.RunID, s.Mark()) {
			if w := s.Ended.Waiting; s.State == patterns.Parked && w != nil && w.Approval != "" && !seen[w.Approval] {
				break
			}
		}
		cancel()
		if s.State == patterns.Over {
			break
		}
		var err error
		if q, err = p.Approvals().Approval(s.Ended.Waiting.Approval); err != nil {
			t.Fatal(err)
		}
	}
	s = p.until(t, s.RunID, patterns.Over)
	if !s.Ended.Result.OK() || len(h.done) != 2 || len(seen) != 2 {
		t.Errorf("%s after %d acts and %d questions", asJSON(t, s.Ended.Result), len(h.done), len(seen))
	}
	p.intact(t, s.RunID)
}

// A process that leaves takes its runs' child runs with it, and the next one carries all on: a call that changes nothing is made again,
// and no child run twice.
func TestChildrenGoOnElsewhere(t *testing.T) {
	for name, effect := range map[string]catalog.Effect{"reads": catalog.Read, "writes": catalog.Write} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, entered, open := held(t, effect)
			path := newState(t)
			former := port{opened(t, path, h), &begun{}}
			former.Go()
			job := h.job("hall")
			job.Wait = -1
			began, err := former.Engine.Start(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			<-entered
			left := make(chan struct{})
			go func() { former.Leave(t.Context()); close(left) }()
			close(open)
			<-left
			former.Close()
			next := port{opened(t, path, h), &begun{}}
			next.Go()
			s := next.until(t, began.RunID, patterns.Over)
			if !s.Ended.Result.OK() || len(next.RunIDs(mine)) != 3 {
				t.Errorf("%s in %d runs", asJSON(t, s.Ended.Result), len(next.RunIDs(mine)))
			}
			for _, id := range next.RunIDs(mine) {
				next.until(t, id, patterns.Over)
				next.intact(t, id)
			}
		})
	}
}

// Who takes a run from an owner that lives waits for the child run that this one carries on: the old life of the parent does not end
// it, and no other is begun.
func TestSeizedParentKeepsItsChild(t *testing.T) {
	t.Parallel()
	h, entered, open := held(t, catalog.Write)
	path := newState(t)
	old := port{opened(t, path, h), &begun{}}
	old.Go()
	job := h.job("hall")
	job.Wait = -1
	began, err := old.Engine.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	<-entered
	next := port{opened(t, path, h), &begun{}}
	next.Go()
	if err := next.Operator().Seize(began.RunID, patterns.Note{By: mine, Channel: "cli"}, gateway.SignedAct{}); err != nil {
		t.Fatal(err)
	}
	below := childOf(t, next.Engine, began.RunID)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for took := false; !took && ctx.Err() == nil; {
		events, err := next.Events(mine, began.RunID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if body, err := patterns.DecodeBody(e); err == nil && e.Kind == patterns.NoteEvent {
				took = took || body.(*patterns.NoteBody).What == "takeover"
			}
		}
	}
	close(open)
	if s := next.until(t, began.RunID, patterns.Over); !s.Ended.Result.OK() {
		t.Errorf("%s", asJSON(t, s.Ended.Result))
	}
	if s := next.until(t, below.RunID, patterns.Over); !s.Ended.Result.OK() || len(next.RunIDs(mine)) != 3 {
		t.Errorf("the desk ended with %s, of %d runs", s.Ended.Result.StopReason, len(next.RunIDs(mine)))
	}
	next.intact(t, began.RunID)
}

// A run that breaks down by a fault of ours ends what it began.
func TestBrokenParentEndsItsChildren(t *testing.T) {
	for _, kind := range []string{"memory", "file"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			entered := make(chan struct{}, 2)
			own, _ := h.tools.Tool("own")
			own.Do = func(ctx context.Context, _ catalog.Call) (any, error) {
				entered <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			view, err := h.tools.With(own)
			if err != nil {
				t.Fatal(err)
			}
			pay := h.specs["pay"]
			pay.Catalog = view
			h.specs["pay"] = pay
			h.over(gateway.Orchestrator, "report", `{"kind":"plan","tasks":[
				{"id":"a","worker":"pay","args":{"n":1},"critical":false},{"id":"b","worker":"breaks","args":{},"critical":false}]}`, "pay")
			report := h.specs["report"]
			none, err := catalog.CompileSchema([]byte(`{"type":"object","additionalProperties":false}`))
			if err != nil {
				t.Fatal(err)
			}
			report.Catalog, err = report.Catalog.With(catalog.Tool{Name: "breaks", Effect: catalog.Read, Input: none, Server: "orders",
				Do: func(context.Context, catalog.Call) (any, error) { <-entered; return object{"id": "1"}, nil }})
			if err != nil {
				t.Fatal(err)
			}
			report.Policy = append(report.Policy, "breaks")
			report.Execution = report.Policy
			report.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict { return gateway.Verdict{Decision: gateway.Approve, Reason: "ok"} })
			h.specs["report"] = report
			e := &local.Engine{Source: h}
			if kind == "file" {
				e = opened(t, newState(t), h)
				e.Go()
			}
			job := h.job("report")
			job.Progress = func(l patterns.Progress) {
				if len(l.Line) > 0 && l.Line == "dispatch: breaks" {
					panic("broken")
				}
			}
			if _, err := e.Start(t.Context(), job); err == nil {
				t.Fatal("it did not break")
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for _, id := range e.RunIDs(mine) {
				s, ok := e.Run(mine, id)
				for ; ok && s.State != patterns.Over && ctx.Err() == nil; s, ok = e.Wait(ctx, mine, id, s.Mark()) {
				}
				if ok && (s.State != patterns.Over || s.Pattern == "pay" && s.Ended.Result.StopReason != "cancelled") {
					t.Errorf("%s is %s with %s", s.Pattern, s.State, s.Ended.Result.StopReason)
				}
			}
		})
	}
}
