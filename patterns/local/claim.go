package local

import (
	"cmp"
	"errors"
	"time"

	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// claim takes a run that is ready or due and carries it out. It fails if another process took the run first, or if
// something that the run needs is missing here. It returns nil without an error if the run does not exist.
func (f *file) claim(n int64, progress func(patterns.Progress)) (*lived, error) {
	r, stored, err := f.read(n)
	if err != nil || r == nil {
		return nil, err
	}
	if r.State != "ready" && (r.State != "parked" || r.Wake == 0 || r.Wake > f.journal.Now().UnixMicro()) {
		return nil, patterns.ErrNotTaken
	}
	l, err := f.load(r, stored)
	switch {
	case errors.Is(err, journal.ErrBroken):
		f.quarantine(r, err)
		return nil, err
	case errors.Is(err, execution.ErrMismatch):
		return nil, f.mismatch(l, err)
	case isLacking(err):
		return nil, f.lacks(l, err)
	case err != nil:
		return nil, err
	}
	if err := f.answers(l); err != nil {
		return nil, err
	}
	heard := len(l.answered) > 0 && r.WaitingKind == string(patterns.ForApproval) // it waited until a person decided
	if r.State == "ready" && (!heard || l.Canceled) {
		l.noteTaken(f.journal.Now())
	}
	return f.resume(l, progress)
}

// noteTaken notes that no process had the run and that this one has it now. It also notes a cancellation that the run's
// owner could not record before it died.
func (l *loaded) noteTaken(now time.Time) {
	what := execution.NoteTakeover
	if l.history.Rests && l.WaitingKind != "" { // it waited; no owner gave it up
		what = execution.NoteWake
	}
	l.note(now, journal.NoteBody{What: what, Note: patterns.Note{Channel: "engine"}})
	if l.Canceled && !l.history.Noted {
		l.note(now, journal.NoteBody{What: execution.NoteCancel, Note: patterns.Note{By: l.Principal}})
	}
}

func isLacking(err error) bool {
	_, ok := errors.AsType[*patterns.Lacking](err)
	return ok
}

// note adds an event to a loaded run. The event is written with the claim.
func (l *loaded) note(at time.Time, body any) {
	l.events = append(l.events, l.run.Record.Append(patterns.NoteEvent, "", at, body))
}

// resume takes over a loaded run and starts its next life. No call waits for it.
func (f *file) resume(l *loaded, progress func(patterns.Progress)) (*lived, error) {
	if err := f.takeOver(l); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.resumed++
	l.run.resumed = true
	f.mu.Unlock()
	next := l.run.live(l.history, progress)
	f.announceTaken(l)
	go next.Carry()
	return &lived{l.run, next}, nil
}

// takeOver makes this process the owner of a loaded run, in one transaction with the events that were added to its
// record. Its error is [patterns.ErrNotTaken] if another process was faster, or an error of the store.
func (f *file) takeOver(l *loaded) error {
	t := l.run.tail
	events := t.Take()
	kept, lost, err := f.back.Plans().Reclaim(l.N, l.history.Plans(), l.Canceled)
	if err != nil {
		return err
	}
	steps := append(kept, store.Take{Owner: f.owner.ID(), N: l.N, State: l.State, Epoch: l.Epoch, Canceled: l.Canceled})
	if l.Parent != 0 {
		steps = append(steps, store.Wake{N: l.Parent})
	}
	for _, ap := range l.answered {
		steps = append(steps, store.HearAnswer{Approval: ap, Run: l.N})
	}
	err = f.journal.Do(&store.Change{Run: l.N, Events: events, Steps: append(steps, t.KeepHidden()...)})
	if store.IsRefused(err) {
		return patterns.ErrNotTaken
	}
	if err != nil {
		return err
	}
	t.Sure(events)
	if l.Parent != 0 {
		f.scheduler.nudge()
	}
	l.history = l.history.With(l.events, l.Canceled || lost)
	return nil
}

// announceTaken reports that a run continues here.
func (f *file) announceTaken(l *loaded) {
	f.waiters.announce(l.ID())
	f.mu.Lock()
	s, attended := l.run.snapshot(), l.run.isAttended()
	f.mu.Unlock()
	f.tell(s, attended)
}

// quarantine marks a run whose record is broken. No process appends to the record any more, not even the run's owner.
// What the run hid is deleted, as at any end.
func (f *file) quarantine(r *store.Row, cause error) {
	drop := store.DropHiddenOf{N: r.N, Below: !f.hiding().None()}
	_ = f.journal.Do(&store.Change{Durable: true, Steps: []store.Step{drop}}) // in its own transaction: its pages may be damaged too
	broken, _ := stopreason.Lookup("record_broken")
	end := store.Break{N: r.N, Ended: f.journal.Now().UnixMicro(), Summary: broken.Meaning} // it replaces the older summary
	_ = f.journal.Do(&store.Change{Durable: true, Steps: append([]store.Step{end}, leavesBehind(r.N, r.Parent)...)})
	f.dropChildren(r.ID())
	f.waiters.announce(r.ID())
	f.report(r.ID(), "", &patterns.Fault{RunID: r.ID(), Cause: cause})
}

// lacks notes that this process cannot carry out a run. It ends the run if the run was cancelled.
func (f *file) lacks(l *loaded, cause error) error {
	f.mu.Lock()
	f.lacking[l.N] = l.Epoch
	f.mu.Unlock()
	if l.Canceled {
		return f.cut(l, "cancelled", nil)
	}
	if l.State == "ready" && l.WaitingKind != string(patterns.ForRetry) {
		_ = f.journal.Do(&store.Change{Steps: []store.Step{store.Lack{N: l.N, Epoch: l.Epoch}}})
	}
	f.waiters.announce(l.ID())
	return cause
}

// mismatch ends a run whose code and record do not fit any more. No effect of this life was performed.
func (f *file) mismatch(l *loaded, cause error) error {
	f.report(l.ID(), "", &patterns.Fault{RunID: l.ID(), Cause: execution.Told(l.hidden, cause)})
	return f.cut(l, "replay_mismatch", cause)
}

// cut ends a run without executing its code. The run stops with the given reason.
func (f *file) cut(l *loaded, reason string, cause error) error {
	if l.run == nil { // this process cannot make its job
		job := patterns.Job{Caller: patterns.Caller{Principal: l.Principal, Client: l.Client}, Spec: patterns.Spec{Name: l.Pattern}}
		job.ClientVersion, job.Era, job.Parent = l.history.Start.ClientVersion, l.history.Start.Era, l.history.Start.Parent
		l.run = f.newRun(l.ID(), job)
		l.run.continues(f.back.Continue(l.Row, l.Epoch+1, l.last, l.hidden), l.history.Began)
	}
	phase := cmp.Or(l.history.Phase, l.Phase)
	result := patterns.Result{StopReason: reason, Phase: phase, Ledger: l.history.Ledger()}
	rest := patterns.Ended{RunID: l.ID(), Result: result, Phase: phase, Began: l.history.Began}
	end := journal.EndBody{Status: "stopped", StopReason: reason, Phase: phase}
	summary := ""
	if present := l.run.Job.Present; present != nil {
		shown := present(rest, nil)
		end.Envelope, summary = shown.Envelope, l.run.tail.Public(shown.Summary)
	}
	now := f.journal.Now()
	l.noteTaken(now)
	rest.Ended = l.run.Record.Append(patterns.EndEvent, "", now, end).At
	t := l.run.tail
	events := t.Take()
	last := events[len(events)-1]
	plans, err := f.back.Plans().GiveBack(l.N, l.history.Plans(), patterns.WaitingKind(l.WaitingKind), l.WaitsKey)
	if err != nil {
		return err
	}
	steps := append(plans, store.Take{N: l.N, State: l.State, Epoch: l.Epoch, Canceled: l.Canceled}, store.End{
		N: l.N, Head: store.Head{Events: last.Seq, Hash: last.Hash, Newest: last.At}, Ended: last.At,
		Status: end.Status, StopReason: reason, Phase: phase, Summary: summary,
	})
	steps = append(append(steps, leavesBehind(l.N, l.Parent)...), t.Forget()...)
	err = f.journal.Do(&store.Change{Run: l.N, Events: events, Durable: true, Steps: steps})
	if store.IsRefused(err) {
		return patterns.ErrNotTaken
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	l.run.state, l.run.rest = patterns.Over, rest
	s := l.run.snapshot()
	f.mu.Unlock()
	f.waiters.announce(l.ID())
	f.tell(s, false)
	f.dropChildren(l.ID())
	return cause
}

// take implements keeper. A late result of the run's last life may be recorded while this life is prepared. take then
// prepares it again.
func (f *file) take(c patterns.Continuation) (r *run, h *execution.History, err error) {
	for range 3 {
		r, h, err = f.takeNow(c)
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return r, h, err
}

func (f *file) takeNow(c patterns.Continuation) (*run, *execution.History, error) {
	n, ok := journal.RunNumber(c.RunID)
	if !ok {
		return nil, nil, patterns.ErrNoRun
	}
	r, stored, err := f.read(n)
	switch {
	case err != nil:
		return nil, nil, err
	case r == nil || r.Principal != c.Principal:
		return nil, nil, patterns.ErrNoRun
	case r.State != "parked" || r.WaitingKind != string(patterns.ForCaller), c.Turn != 0 && c.Turn != r.Turn:
		return nil, nil, patterns.ErrNotTaken
	}
	l, err := f.load(r, stored)
	switch {
	case errors.Is(err, journal.ErrBroken):
		f.quarantine(r, err)
		return nil, nil, patterns.ErrNotTaken
	case errors.Is(err, execution.ErrMismatch):
		_ = f.mismatch(l, err)
		return nil, nil, patterns.ErrNotTaken
	case err != nil:
		return nil, nil, err
	}
	out := journal.OutcomeBody{State: patterns.OK, Output: c.Given}
	if f.journal.Now().UnixMicro() >= r.Expires {
		return nil, nil, patterns.ErrNotTaken
	}
	l.events = append(l.events, l.run.Record.Append(patterns.OutcomeEvent, r.WaitsKey, f.journal.Now(), out))
	l.run.attended = true
	if err := f.takeOver(l); errors.Is(err, patterns.ErrNotTaken) {
		return nil, nil, patterns.ErrNotTaken
	} else if err != nil {
		return nil, nil, err
	}
	f.announceTaken(l)
	return l.run, l.history, nil
}
