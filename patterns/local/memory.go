package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/planclaims"
	"patterngate/patterns/store"
	inprocess "patterngate/patterns/store/memory"
)

// inMemory keeps runs in this process. The engine's lock guards its fields.
type inMemory struct {
	*Engine
	back    execution.InMemory
	shelves map[string]*shelf // by principal
}

var _ keeper = (*inMemory)(nil)

func newInMemory(e *Engine) *inMemory {
	here := inprocess.New(inprocess.Limits{Plans: maxPlans, PlanBytes: maxPlanBytes})
	return &inMemory{Engine: e, back: execution.InMemory{Here: here}, shelves: map[string]*shelf{}}
}

func (e *inMemory) backing() execution.Backing { return &e.back }

func (e *inMemory) begin(r *run) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.shelf(r.Job.Principal)
	before, err := s.begunBy(r.Job, e.joinable(time.Now()))
	if err != nil {
		return "", err
	}
	if before != nil && (r.Job.ByKey != "" || !e.isStale(before)) {
		return before.RunID, nil
	}
	r.Record = execution.NewRecord()
	r.Began = r.Record.Append(patterns.StartEvent, "", time.Now(), r.Start(e.Version)).At
	r.idle.Since = r.Began
	return "", e.enter(r)
}

// isStale reports whether a run must not be joined by an equal call that names a plan. The caller holds the lock.
func (e *inMemory) isStale(before *run) bool {
	stale, _ := e.back.Plans().Stale(before.Job, planclaims.Earlier{ // a store in memory gives no error
		N: before.N, Over: before.state == patterns.Over, StopReason: before.rest.Result.StopReason, Ended: before.rest.Ended.UnixMicro(),
	})
	return stale
}

// enter adds a run to the store and to its principal's runs. The caller holds the lock.
func (e *inMemory) enter(r *run) error {
	if err := e.back.Write(r.beginning(e.back.Here.Owner())); err != nil {
		return fmt.Errorf("%w: %w", patterns.ErrJournal, err)
	}
	e.shelf(r.Job.Principal).add(r)
	return nil
}

func (e *inMemory) entered(*run) error { return nil }

func (e *inMemory) notBegun(refused error, _ patterns.Job) (string, error) { return "", refused }

func (e *inMemory) lives(*run) (closed bool) { return false }
func (e *inMemory) quits(*run) bool          { return false } // no other process can continue the run
func (e *inMemory) parks() bool              { return e.maxParked() > 0 }

func (e *inMemory) unrecorded(string, string) (out patterns.Outcome, known bool) { return out, false }

func (e *inMemory) lifeOf(principal, id string) *execution.Life {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.find(principal, id); r != nil {
		return r.life
	}
	return nil
}

// park makes a run wait. If a principal's waiting runs are too many or too large, the oldest expire.
func (e *inMemory) park(r *run, _ *execution.Life, rest patterns.Ended) error {
	e.mu.Lock()
	s := e.shelves[r.Job.Principal]
	w := rest.Waiting
	if err := e.back.Write(store.Park{N: r.N, Kind: string(w.Kind), Key: w.Key, Turn: w.Turn, Phase: w.Phase}); err != nil {
		e.mu.Unlock()
		return err
	}
	r.state, r.rest, r.life = patterns.Parked, rest, nil
	r.idle.Phase, r.idle.Done = rest.Phase, rest.Calls
	s.parked = append(s.parked, r)
	s.bytes += r.size
	r.clock = time.AfterFunc(time.Until(rest.Waiting.Until), func() { e.expire(r, rest.Waiting) })
	tooMany := s.tooMany(e.maxParked())
	changed, attended := r.snapshot(), r.isAttended()
	e.mu.Unlock()
	e.tell(changed, attended)
	for oldest, expected := range tooMany {
		e.expire(oldest, expected)
	}
	return nil
}

func (e *inMemory) take(c patterns.Continuation) (*run, *execution.History, error) {
	e.mu.Lock()
	r := e.find(c.Principal, c.RunID)
	switch {
	case r == nil:
		e.mu.Unlock()
		return nil, nil, patterns.ErrNoRun
	case r.state != patterns.Parked || r.rest.Waiting.Kind != patterns.ForCaller, c.Turn != 0 && c.Turn != r.rest.Waiting.Turn:
		e.mu.Unlock()
		return nil, nil, patterns.ErrNotTaken
	}
	changed, lost, err := e.unpark(r, true, false)
	if err != nil {
		e.mu.Unlock()
		return nil, nil, err
	}
	r.size += c.Size
	e.mu.Unlock()
	e.waiters.announce(r.RunID)
	e.tell(changed, true)
	h, err := e.given(r, journal.OutcomeBody{State: patterns.OK, Output: c.Given}, lost)
	return r, h, err
}

// given records the outcome of what a run waited for and returns the run's history. lost says that the run has lost a plan meanwhile.
func (e *inMemory) given(r *run, out journal.OutcomeBody, lost bool) (*execution.History, error) {
	r.Record.Append(patterns.OutcomeEvent, r.rest.Waiting.Key, time.Now(), out)
	h := execution.Remember(r.Record.Events())
	h.Canceled = lost
	if _, err := r.Rehearse(h); err != nil {
		return nil, &patterns.Fault{RunID: r.RunID, Cause: err}
	}
	return h, nil
}

// expire ends a run whose wait is over. It does nothing if the caller came in time or the run now waits for something newer.
func (e *inMemory) expire(r *run, w *patterns.Waiting) {
	e.goOn(r, w, journal.OutcomeBody{State: patterns.Failed, Reason: patterns.ReasonExpired})
}

// goOn continues a run with the outcome of what it waits for. No call waits for it then. It returns false if the run no longer
// waits for that.
func (e *inMemory) goOn(r *run, w *patterns.Waiting, out journal.OutcomeBody, notes ...journal.NoteBody) bool {
	e.mu.Lock()
	if r.state != patterns.Parked || r.rest.Waiting != w {
		e.mu.Unlock()
		return false
	}
	changed, lost, err := e.unpark(r, false, out.State == patterns.Canceled)
	if err != nil { // another run has its plan: its time ends when it has the plan again
		r.clock.Stop() // the call may not come from this clock: only one clock may look again
		r.clock = time.AfterFunc(again, func() { e.goOn(r, w, out, notes...) })
		e.mu.Unlock()
		return true
	}
	e.mu.Unlock()
	e.waiters.announce(r.RunID)
	e.tell(changed, false)
	for _, note := range notes {
		r.Record.Append(patterns.NoteEvent, "", time.Now(), note)
	}
	h, err := e.given(r, out, lost)
	if err == nil {
		l := r.live(h, nil)
		l.Carry()
		err = l.Rest().Fault
	}
	if err != nil { // no caller would see it
		e.report(r.RunID, w.Key, err)
	}
	return true
}

// unpark removes a run from those that wait. The error is [patterns.ErrNotTaken] while another run has claimed its plan. lost says that the run
// has lost a plan that it held. A canceled run gets its plans back. The caller holds the lock.
func (e *inMemory) unpark(r *run, attended, canceled bool) (changed patterns.Snapshot, lost bool, err error) {
	if lost, err = e.retake(r, canceled); err != nil {
		return changed, false, err
	}
	s := e.shelves[r.Job.Principal]
	s.parked = without(s.parked, r)
	s.bytes -= r.size
	r.clock.Stop()
	r.state, r.attended = patterns.Running, attended
	return r.snapshot(), lost, nil
}

// retake takes the row of a waiting run, together with the plans that it holds.
func (e *inMemory) retake(r *run, canceled bool) (lost bool, err error) {
	n, plans := r.N, execution.Remember(r.Record.Events()).Plans()
	for range execution.MaxTries {
		var steps []store.Step
		if steps, lost, err = e.back.Plans().Reclaim(n, plans, canceled); err != nil {
			return false, err
		}
		var row *store.Row
		err = e.back.Here.View(func(s store.Reader) error {
			row, err = s.Row(n)
			return err
		})
		if err != nil || row == nil {
			return false, patterns.ErrNotTaken
		}
		take := store.Take{N: n, Epoch: row.Epoch, State: row.State, Canceled: row.Canceled, Owner: e.back.Here.Owner().ID()}
		if err = e.back.Write(append(steps, take)...); !store.IsRefused(err) { // otherwise another run changed a plan in between
			return lost, err
		}
	}
	return false, patterns.ErrNotTaken
}

// finish keeps how a run ended, and removes the oldest of too many.
func (e *inMemory) finish(r *run, _ *execution.Life, rest patterns.Ended) error {
	if e.Recorded != nil {
		e.Recorded(r.RunID, r.Record)
	}
	e.mu.Lock()
	s := e.shelves[r.Job.Principal]
	end := store.End{N: r.N, Ended: rest.Ended.UnixMicro(), StopReason: rest.Result.StopReason, Phase: rest.Result.Phase}
	if err := e.back.Write(end); err != nil {
		e.mu.Unlock()
		return err
	}
	r.state, r.rest, r.life = patterns.Over, rest, nil
	s.ended = append(s.ended, r)
	s.kept += r.size
	changed, attended := r.snapshot(), r.isAttended()
	for len(s.ended) > maxEnded || s.kept > maxEndedBytes && len(s.ended) > 1 {
		oldest := s.ended[0]
		s.ended = slices.Delete(s.ended, 0, 1)
		s.kept -= oldest.size
		e.drop(oldest)
	}
	e.mu.Unlock()
	e.tell(changed, attended)
	e.dropChildren(r)
	return nil
}

// broke ends the run: no other process can carry it out.
func (e *inMemory) broke(r *run, _ *execution.Life, rest patterns.Ended, cause error) execution.AtRest {
	defer e.dropChildren(r)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(r)
	return execution.AtRest{Ended: rest, Fault: cause}
}

func (e *inMemory) find(principal, id string) *run {
	if s := e.shelves[principal]; s != nil {
		return s.runs[id]
	}
	return nil
}

func (e *inMemory) Run(principal, id string) (patterns.Snapshot, bool) {
	e.mu.Lock()
	r := e.find(principal, id)
	if r == nil {
		e.mu.Unlock()
		return patterns.Snapshot{}, false
	}
	s := r.snapshot()
	e.mu.Unlock()
	s.Head = patterns.HeadOf(r.Record.Sealed(id))
	return s, true
}

func (e *inMemory) Wait(ctx context.Context, principal, id string, mark patterns.Mark) (patterns.Snapshot, bool) {
	return e.waiters.until(ctx, id, mark, func() (patterns.Snapshot, bool) { return e.Run(principal, id) })
}

func (e *inMemory) RunIDs(principal string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.shelves[principal]
	if s == nil {
		return nil
	}
	ids := make([]string, 0, len(s.begun))
	for _, r := range slices.Backward(s.begun) {
		ids = append(ids, r.RunID)
	}
	return ids
}

func (e *inMemory) Newest(principal string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.shelves[principal]
	if s == nil {
		return "", false
	}
	running := ""
	for _, r := range slices.Backward(s.begun) {
		if r.Job.Parent != nil {
			continue
		}
		if r.state != patterns.Running {
			return r.RunID, true
		}
		if running == "" {
			running = r.RunID
		}
	}
	return running, running != ""
}

func (e *inMemory) Delivered(principal, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.find(principal, id); r != nil && r.state == patterns.Over {
		r.delivered = true
	}
}

func (e *inMemory) Events(principal, id string) ([]patterns.Event, error) {
	e.mu.Lock()
	r := e.find(principal, id)
	e.mu.Unlock()
	if r == nil {
		return nil, patterns.ErrNoRun
	}
	return r.Record.Sealed(id), nil
}

func (e *inMemory) Cancel(ctx context.Context, principal, id string, by patterns.Note) (patterns.Snapshot, error) {
	return canceled(ctx, e, principal, id, func() error { return e.cancelRun(principal, id, by) })
}

// cancelRun ends a run in any state.
func (e *inMemory) cancelRun(principal, id string, by patterns.Note) error {
	for {
		e.mu.Lock()
		r := e.find(principal, id)
		if r == nil {
			e.mu.Unlock()
			return patterns.ErrNoRun
		}
		state, l, w := r.state, r.life, r.rest.Waiting
		if state == patterns.Running && l == nil {
			r.recall = &by
		}
		e.mu.Unlock()
		switch {
		case state == patterns.Over:
			return patterns.ErrOver
		case state == patterns.Running:
			if l != nil {
				l.End(by)
			}
			return nil
		}
		out := journal.OutcomeBody{State: patterns.Canceled, Reason: patterns.ReasonCanceled}
		if e.goOn(r, w, out, journal.NoteBody{What: execution.NoteCancel, Note: by}) {
			return nil
		}
	}
}

// List implements [patterns.Runs]. It walks all runs of the principal, which are few.
func (e *inMemory) List(f patterns.Filter) (patterns.Page, error) {
	return pageOf(f, func(yield func(patterns.RunRow) bool) {
		e.mu.Lock()
		var all []*run
		for principal, s := range e.shelves {
			if f.Principal == "" || f.Principal == principal {
				all = append(all, s.begun...)
			}
		}
		e.mu.Unlock()
		slices.SortFunc(all, func(a, b *run) int { return newestFirst(a.Began, a.RunID, b.Began, b.RunID) })
		for _, r := range all {
			if !yield(e.row(r)) {
				return
			}
		}
	})
}

// row converts a run to the form that lists show.
func (e *inMemory) row(r *run) patterns.RunRow {
	e.mu.Lock()
	state, rest := r.state, r.rest
	e.mu.Unlock()
	row := patterns.RunRow{RunID: r.RunID, Pattern: r.Job.Spec.Name, Principal: r.Job.Principal, Status: "running", Began: r.Began}
	if p := r.Job.Parent; p != nil {
		row.Parent = p.RunID
	}
	if state == patterns.Running {
		return row
	}
	if r.Job.Present != nil {
		row.Summary = r.Job.Present(rest, nil).Summary
	}
	return rested(row, rest)
}

// planChanged ends the run that lost its plan.
func (e *inMemory) planChanged(other int64, principal string, by patterns.Note) {
	_ = e.cancelRun(principal, journal.RunID(other), by) // a run that has ended since needs nothing
}

func (e *inMemory) rehearsed(principal, id string) (*execution.Rehearsal, error) {
	e.mu.Lock()
	r := e.find(principal, id)
	e.mu.Unlock()
	if r == nil {
		return nil, patterns.ErrNoRun
	}
	return r.Rehearse(execution.Remember(r.Record.Events()))
}

func (e *inMemory) follow(string, func(patterns.Progress)) (stop func()) { return func() {} }

func (e *inMemory) advance(context.Context, string) (Rest, error) {
	return Rest{}, patterns.ErrNoRun
}

// approvals returns none, because no person could answer a question.
func (e *inMemory) approvals() patterns.Approvals { return decisions.Approvals{} }

// signed needs no signature, because no key is enrolled.
func (e *inMemory) signed(_ gateway.SignedAct, _ decisions.Wanted, step store.Step) error {
	return e.back.Write(step)
}

func (e *inMemory) switching()                           {}
func (e *inMemory) configure(Settings, bool)             {}
func (e *inMemory) reloaded(ReloadRequest, ReloadAnswer) {}
func (e *inMemory) going() int                           { return 0 }
func (e *inMemory) leave(context.Context)                {}
func (e *inMemory) close()                               {}
