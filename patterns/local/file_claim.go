package local

import (
	"cmp"
	"errors"
	"time"

	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// claim takes a run that is ready or due and carries it on, unless another process was quicker or something is missing
// here.
func (f *file) claim(n int64, progress func(patterns.Progress)) (*life, error) {
	r, stored, err := f.read(n)
	if err != nil || r == nil {
		return nil, err
	}
	if r.state != "ready" && (r.state != "parked" || r.wake == 0 || r.wake > f.journal.now().UnixMicro()) {
		return nil, patterns.ErrNotTaken
	}
	l, err := f.load(r, stored)
	switch {
	case errors.Is(err, errBroken):
		f.quarantine(r, err)
		return nil, err
	case errors.Is(err, ErrMismatch):
		return nil, f.mismatch(l, err)
	case isLacking(err):
		return nil, f.lacks(l, err)
	case err != nil:
		return nil, err
	}
	if err := f.answers(l); err != nil {
		return nil, err
	}
	heard := len(l.answered) > 0 && r.waitingKind == string(patterns.ForApproval) // it rested until somebody decided
	if r.state == "ready" && (!heard || l.canceled) {
		l.noteTaken(f.journal.now())
	}
	return f.resume(l, progress)
}

// noteTaken notes that a run was in nobody's hands and is now in this process's; and that it is to be cancelled, where its
// owner died before it could say so.
func (l *loaded) noteTaken(now time.Time) {
	what := noteTakeover
	if l.history.rests && l.waitingKind != "" { // nobody let go of it
		what = noteWake
	}
	l.note(now, journal.NoteBody{What: what, Note: patterns.Note{Channel: "engine"}})
	if l.canceled && !l.history.noted {
		l.note(now, journal.NoteBody{What: noteCancel, Note: patterns.Note{By: l.principal}})
	}
}

func isLacking(err error) bool {
	_, ok := errors.AsType[*patterns.Lacking](err)
	return ok
}

// note adds an event to a loaded run, which is written with the claim.
func (l *loaded) note(at time.Time, body any) {
	l.events = append(l.events, l.run.record.append(patterns.NoteEvent, "", at, body))
}

// resume takes a loaded run over and lets it live, with no call that waits for it.
func (f *file) resume(l *loaded, progress func(patterns.Progress)) (*life, error) {
	if err := f.takeOver(l); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.resumed++
	l.run.resumed = true
	f.mu.Unlock()
	next := newLife(l.run, l.history, progress)
	f.announceTaken(l)
	go next.carry()
	return next, nil
}

// takeOver makes this process the owner of a loaded run, in one transaction with what was added to its record. Its error
// is [patterns.ErrNotTaken] where another one was quicker, or the journal's.
func (f *file) takeOver(l *loaded) error {
	t := l.run.record.file
	events := t.pending
	t.pending = nil
	lost := false // a plan that it held
	err := f.journal.do(&change{run: l.n, events: events, also: t.with(func(s *session) error {
		changed, err := s.exec(updateTaken, f.owner.id, l.n, l.state, l.epoch, l.canceled)
		if err == nil && changed == 0 {
			err = refusal{patterns.ErrNotTaken}
		}
		if err == nil {
			lost, err = f.reclaim(s, l)
		}
		if err == nil {
			err = wakeParent(s, l.parent)
		}
		for _, ap := range l.answered {
			if err == nil {
				changed, err = s.exec(updateHeard, ap, l.n)
			}
			if err == nil && changed == 0 {
				err = refusal{patterns.ErrNotTaken}
			}
		}
		return err
	})})
	if err != nil {
		return err
	}
	t.sure(events)
	if l.parent != 0 {
		f.nudge()
	}
	quotas, phase := l.history.quotas, l.history.phase
	l.history = remembered(l.events)
	l.history.quotas, l.history.phase, l.history.canceled = quotas, phase, l.canceled || lost
	return nil
}

// announceTaken tells that a run goes on here.
func (f *file) announceTaken(l *loaded) {
	f.waiters.announce(l.id())
	f.mu.Lock()
	s, attended := l.run.snapshot(), l.run.isAttended()
	f.mu.Unlock()
	f.tell(s, attended)
}

// quarantine marks a run whose record is broken. Nothing is appended to it, not even by who carries it on, and what it hid
// is dropped as with any end.
func (f *file) quarantine(r *row, cause error) {
	_ = f.journal.do(&change{sync: true, also: func(s *session) error { // by itself: its pages may be damaged too
		changed, err := s.exec(deleteRedacted, r.n)
		if changed > 0 {
			f.journal.stale.Store(true)
		}
		if err != nil {
			err = refusal{err}
		} else if !f.hiding().none() {
			err = f.forgetAll(s, r.n, false)
		}
		return err
	}})
	broken, _ := stopreason.Lookup("record_broken")
	_ = f.journal.do(&change{sync: true, also: func(s *session) error { // what it said before does not hold any more
		_, err := s.exec(updateBroken, broken.Meaning, f.journal.now().UnixMicro(), r.n)
		if err == nil {
			err = f.leavesBehind(s, r.n, r.parent)
		}
		return err
	}})
	f.dropChildren(r.id())
	f.waiters.announce(r.id())
	if f.Fault != nil {
		f.Fault(r.id(), "", &patterns.Fault{RunID: r.id(), Cause: cause})
	}
}

// lacks notes that a run cannot be carried on here.
func (f *file) lacks(l *loaded, cause error) error {
	f.mu.Lock()
	f.lacking[l.n] = l.epoch
	f.mu.Unlock()
	if l.canceled {
		return f.cut(l, "cancelled", nil)
	}
	if l.state == "ready" && l.waitingKind != string(patterns.ForRetry) {
		_ = f.journal.do(&change{also: func(s *session) error {
			_, err := s.exec(updateLacking, l.n, l.epoch)
			return err
		}})
	}
	f.waiters.announce(l.id())
	return cause
}

// mismatch ends a run whose code or record no longer fits. Nothing of it was executed.
func (f *file) mismatch(l *loaded, cause error) error {
	if f.Fault != nil {
		f.Fault(l.id(), "", &patterns.Fault{RunID: l.id(), Cause: l.hidden.told(cause)})
	}
	return f.cut(l, "replay_mismatch", cause)
}

// cut ends a run that is not carried on.
func (f *file) cut(l *loaded, reason string, cause error) error {
	if l.run == nil { // its job cannot be made here
		record := &Record{seq: int(l.last.Seq), at: time.UnixMicro(l.last.At)}
		record.file = &tail{file: f, id: l.id(), n: l.n, parent: l.parent, epoch: l.epoch + 1, head: l.last.Hash, hidden: l.hidden}
		l.run = &run{engine: f.Engine, id: l.id(), record: record, began: l.history.began}
		l.run.job.Principal, l.run.job.Client, l.run.job.Spec.Name = l.principal, l.client, l.pattern
		l.run.job.ClientVersion, l.run.job.Era = l.history.start.ClientVersion, l.history.start.Era
		l.run.job.Parent = l.history.start.Parent
	}
	phase := cmp.Or(l.history.phase, l.phase)
	result := patterns.Result{StopReason: reason, Phase: phase, Ledger: ledgerOf(l.history)}
	rest := patterns.Ended{RunID: l.id(), Result: result, Phase: phase, Began: l.history.began}
	end := journal.EndBody{Status: "stopped", StopReason: reason, Phase: phase}
	summary := ""
	if present := l.run.job.Present; present != nil {
		shown := present(rest, nil)
		end.Envelope, summary = shown.Envelope, l.run.record.public(shown.Summary)
	}
	now := f.journal.now()
	l.noteTaken(now)
	rest.Ended = l.run.record.append(patterns.EndEvent, "", now, end).At
	t := l.run.record.file
	events := t.pending
	last := events[len(events)-1]
	err := f.journal.do(&change{run: l.n, events: events, sync: true, also: func(s *session) error {
		changed, err := s.exec(updateTaken, nil, l.n, l.state, l.epoch, l.canceled)
		if err == nil && changed == 0 {
			return refusal{patterns.ErrNotTaken}
		}
		if err == nil {
			_, err = s.exec(updateEnded, last.Seq, last.Hash, last.At, last.At, end.Status, reason, phase, summary, l.n)
		}
		if err == nil {
			err = f.giveBack(s, l)
		}
		if err == nil {
			err = f.leavesBehind(s, l.n, l.parent)
		}
		if err == nil {
			err = t.forget(s)
		}
		return err
	}})
	if err != nil {
		return err
	}
	f.mu.Lock()
	l.run.state, l.run.rest = patterns.Over, rest
	s := l.run.snapshot()
	f.mu.Unlock()
	f.waiters.announce(l.id())
	f.tell(s, false)
	f.dropChildren(l.id())
	return cause
}
