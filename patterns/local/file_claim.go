package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// watch carries on what is ready: at start, when nudged, when something is due, and when another process has written to
// the file or died.
func (f *file) watch() {
	defer f.watching.Done()
	ticks := time.NewTicker(cmp.Or(f.options.Poll, defaultPoll))
	defer ticks.Stop()
	f.bury()
	for {
		next := f.claimReady()
		var due <-chan time.Time
		if !next.IsZero() {
			due = time.After(max(next.Sub(f.journal.now()), time.Millisecond))
		}
		if !f.idle(due, ticks.C) {
			return
		}
	}
}

// idle returns when there may be something to carry on; false: the engine closes.
func (f *file) idle(due, ticks <-chan time.Time) bool {
	for {
		select {
		case <-f.closing:
			return false
		case <-f.nudged:
			return true
		case <-due:
			return true
		case <-ticks:
			f.deliver()
			f.journal.tidy()
			buried := f.bury()
			wanted := f.recall.Swap(false)
			if changed := f.journal.changed(); changed || wanted {
				f.yield()
				f.obey()
				f.waiters.announceAll()
				return true
			}
			if buried {
				return true
			}
		}
	}
}

// bury frees the runs of owners that have died.
func (f *file) bury() (found bool) {
	var owners []string
	_ = f.journal.view(func(s *session) error { // the next tick looks again
		return s.each(func(row func(...any) error) error {
			var id string
			err := row(&id)
			owners = append(owners, id)
			return err
		}, selectOwners, f.owner.id)
	})
	for _, id := range owners {
		bury, dead := f.owner.dead(id)
		if !dead {
			continue
		}
		err := f.journal.do(&change{also: func(s *session) error {
			_, err := s.exec(updateReleased, id)
			return err
		}})
		if err == nil {
			bury()
			found = true
		}
	}
	return found
}

// yield gives up the lives of runs that were taken from this process: whoever asks here for one of them is shown how it
// really stands.
func (f *file) yield() {
	f.mu.Lock()
	lives := slices.Collect(maps.Values(f.lives)) // before the rows are read, so that each has its own
	f.mu.Unlock()
	if len(lives) == 0 {
		return
	}
	mine := map[int64]int64{}
	err := f.journal.view(func(s *session) error {
		return s.each(func(row func(...any) error) error {
			var n, epoch int64
			err := row(&n, &epoch)
			mine[n] = epoch
			return err
		}, selectMine, f.owner.id)
	})
	if err != nil {
		return // its next change finds out
	}
	for _, l := range lives {
		if t := l.record.file; mine[t.n] != t.epoch {
			l.giveUp(errFenced)
		}
	}
}

// obey cancels the runs of this process that somebody wants cancelled who could not tell their lives.
func (f *file) obey() {
	var list []int64
	_ = f.journal.view(func(s *session) error {
		return s.each(func(row func(...any) error) error {
			var n int64
			err := row(&n)
			list = append(list, n)
			return err
		}, selectCanceled, f.owner.id)
	})
	for _, n := range list {
		if l := f.life(idOf(n)); l != nil {
			l.end(patterns.Note{By: l.job.Principal})
		} else { // it is about to live
			f.recall.Store(true)
		}
	}
}

func (f *file) life(id string) *life {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lives[id]
}

// claimReady carries on what is ready or due and can be carried on here, and returns when the next one is due.
func (f *file) claimReady() (next time.Time) {
	ready, next, err := f.candidates()
	if err != nil {
		return f.journal.now().Add(again)
	}
	failed := false
	for _, r := range ready {
		select {
		case <-f.closing:
			return time.Time{}
		default:
		}
		_, err := f.claim(r.n, nil)
		failed = failed || unrecorded(err) // others may be readable
	}
	if failed {
		return f.journal.now().Add(again)
	}
	return next
}

// candidates are the runs that are ready or due, but for those that were found to lack something here.
func (f *file) candidates() (list []*row, next time.Time, err error) {
	now, room := f.journal.now().UnixMicro(), f.room()
	if room == 0 {
		return nil, time.Time{}, nil
	}
	err = f.journal.view(func(s *session) error {
		keep := func(r *row) bool {
			if f.claimable(r) {
				list = append(list, r)
			}
			return len(list) < room
		}
		if err := readRows(s, keep, selectReady); err != nil {
			return err
		}
		configs, err := readTexts(s, selectConfigs)
		if err != nil {
			return err
		}
		for _, config := range append(configs, "") {
			if err := readRows(s, keep, selectDue, config, now); err != nil {
				return err
			}
			var wake int64
			err := s.each(func(row func(...any) error) error { return row(&wake) }, selectNextWake, config, now)
			if err != nil {
				return err
			}
			if at := time.UnixMicro(wake); wake > 0 && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		return nil
	})
	if len(list) == room { // there may be more
		next = f.journal.now()
	}
	return list, next, err
}

// maxResumed is how many runs are carried on at once before more are taken from the file.
const maxResumed = 256

// room is how many runs may be taken from the file now; when there is none, the end of a run has it looked again.
func (f *file) room() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := max(0, maxResumed-f.resumed)
	f.crowded = n == 0
	return n
}

// claimable says that a run which is ready or due does not live here and is not known to lack something here.
func (f *file) claimable(r *row) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	epoch, lacks := f.lacking[r.n]
	return f.lives[r.id()] == nil && !(lacks && epoch == r.epoch)
}

func readTexts(s *session, query string) (list []string, err error) {
	err = s.each(func(row func(...any) error) error {
		var text string
		err := row(&text)
		list = append(list, text)
		return err
	}, query)
	return list, err
}

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
	if r.state == "ready" {
		l.note(f.journal.now(), tookOver)
	}
	return f.resume(l, progress)
}

// tookOver notes that a run was in nobody's hands and is now in this process's.
var tookOver = NoteBody{What: noteTakeover, Note: patterns.Note{Channel: "engine"}}

func isLacking(err error) bool {
	_, ok := errors.AsType[*patterns.Lacking](err)
	return ok
}

// note adds an event to a loaded run, which is written with the claim.
func (l *loaded) note(at time.Time, body any) {
	l.events = append(l.events, l.run.record.append(patterns.NoteEvent, "", at, body))
}

// resume takes a loaded run over, in one transaction with what was added to it, and lets it live.
func (f *file) resume(l *loaded, progress func(patterns.Progress)) (*life, error) {
	t := l.run.record.file
	events := t.pending
	t.pending = nil
	err := f.journal.do(&change{run: l.n, events: events, also: t.with(func(s *session) error {
		changed, err := s.exec(updateTaken, f.owner.id, l.n, l.state, l.epoch, l.canceled)
		if err == nil && changed == 0 {
			err = refusal{patterns.ErrNotTaken}
		}
		return err
	})})
	if err != nil {
		return nil, err
	}
	quotas, phase := l.history.quotas, l.history.phase
	l.history = remembered(l.events)
	l.history.quotas, l.history.phase, l.history.canceled = quotas, phase, l.canceled
	f.mu.Lock()
	f.resumed++
	l.run.resumed = true
	f.mu.Unlock()
	next := newLife(l.run, l.history, progress)
	if f.Resumed != nil && l.state == "ready" {
		f.Resumed(l.id(), "takeover")
	}
	f.waiters.announce(l.id())
	f.mu.Lock()
	changed := l.run.snapshot()
	f.mu.Unlock()
	f.tell(changed, false)
	go next.carry()
	return next, nil
}

// quarantine marks a run whose record is broken. Nothing is appended to it.
func (f *file) quarantine(r *row, cause error) {
	_ = f.journal.do(&change{sync: true, also: func(s *session) error {
		_, err := s.exec(updateBroken, f.journal.now().UnixMicro(), r.n)
		return err
	}})
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
		f.waiters.announce(l.id())
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
		record.file = &tail{file: f, id: l.id(), n: l.n, epoch: l.epoch + 1, head: l.last.Hash, hidden: l.hidden}
		l.run = &run{engine: f.Engine, id: l.id(), record: record, began: l.history.began}
		l.run.job.Principal, l.run.job.Client, l.run.job.Spec.Name = l.principal, l.client, l.pattern
	}
	phase := cmp.Or(l.history.phase, l.phase)
	result := patterns.Result{StopReason: reason, Phase: phase, Ledger: ledgerOf(l.history)}
	rest := patterns.Ended{RunID: l.id(), Result: result, Phase: phase, Began: l.history.began}
	end := EndBody{Status: "stopped", StopReason: reason, Phase: phase}
	summary := ""
	if present := l.run.job.Present; present != nil {
		shown := present(rest, nil)
		end.Envelope, summary = shown.Envelope, l.run.record.public(shown.Summary)
	}
	now := f.journal.now()
	l.note(now, tookOver)
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
	return cause
}

// take implements keeper.
func (f *file) take(c patterns.Continuation) (*run, *history, error) {
	n, ok := numberOf(c.RunID)
	if !ok {
		return nil, nil, patterns.ErrNoRun
	}
	r, stored, err := f.read(n)
	switch {
	case err != nil:
		return nil, nil, err
	case r == nil || r.principal != c.Principal:
		return nil, nil, patterns.ErrNoRun
	case r.state != "parked" || r.waitingKind != string(patterns.ForCaller), c.Turn != 0 && c.Turn != r.turn:
		return nil, nil, patterns.ErrNotTaken
	}
	l, err := f.load(r, stored)
	switch {
	case errors.Is(err, errBroken):
		f.quarantine(r, err)
		return nil, nil, patterns.ErrNotTaken
	case errors.Is(err, ErrMismatch):
		_ = f.mismatch(l, err)
		return nil, nil, patterns.ErrNotTaken
	case err != nil:
		return nil, nil, err
	}
	out := OutcomeBody{State: patterns.OK, Output: c.Given}
	if f.journal.now().UnixMicro() >= r.expires {
		return nil, nil, patterns.ErrNotTaken
	}
	l.events = append(l.events, l.run.record.append(patterns.OutcomeEvent, r.waitsKey, f.journal.now(), out))
	l.run.attended = true
	return f.taken(l)
}

// taken takes a loaded run over for a call that carries it on.
func (f *file) taken(l *loaded) (*run, *history, error) {
	t := l.run.record.file
	events := t.pending
	t.pending = nil
	err := f.journal.do(&change{run: l.n, events: events, also: t.with(func(s *session) error {
		changed, err := s.exec(updateTaken, f.owner.id, l.n, l.state, l.epoch, l.canceled)
		if err == nil && changed == 0 {
			err = refusal{patterns.ErrNotTaken}
		}
		return err
	})})
	if errors.Is(err, patterns.ErrNotTaken) {
		return nil, nil, patterns.ErrNotTaken
	}
	if err != nil {
		return nil, nil, err
	}
	quotas, phase := l.history.quotas, l.history.phase
	h := remembered(l.events)
	h.quotas, h.phase = quotas, phase
	t.sure(events)
	f.waiters.announce(l.id())
	f.mu.Lock()
	s := l.run.snapshot()
	f.mu.Unlock()
	f.tell(s, true)
	return l.run, h, nil
}

func sortLedger(list []gateway.Entry) {
	slices.SortFunc(list, func(a, b gateway.Entry) int { return cmp.Compare(a.Order, b.Order) })
}

// settle implements [Operator.Settle].
func (f *file) settle(id, effect string, s Settlement) error {
	n, _ := numberOf(id)
	r, stored, err := f.read(n)
	if err != nil {
		return err
	}
	if r == nil {
		return patterns.ErrNoRun
	}
	if r.state != "parked" {
		return patterns.ErrNotTaken
	}
	l, err := f.load(r, stored)
	if err != nil && !isLacking(err) {
		return err
	}
	key := l.doubt(effect)
	if key == "" {
		return patterns.ErrNotTaken
	}
	out := map[string]any{"happened": s.Happened, "by": s.By.By, "channel": s.By.Channel}
	if s.Comment != "" {
		out["comment"] = s.Comment
	}
	if s.Result != nil {
		if out["result"], err = decodeResult(s.Result); err != nil {
			return err
		}
	}
	record := &Record{seq: int(l.last.Seq), at: time.UnixMicro(l.last.At)}
	record.file = &tail{file: f, id: id, n: n, head: l.last.Hash, hidden: l.hidden}
	now := f.journal.now()
	record.append(patterns.NoteEvent, "", now, NoteBody{What: noteSettle, Note: s.By})
	last := record.append(patterns.OutcomeEvent, key, now, OutcomeBody{State: patterns.OK, Output: out, Human: true})
	events := record.file.pending
	head := events[len(events)-1].Hash
	return f.journal.do(&change{run: n, events: events, sync: true, also: record.file.with(func(s *session) error {
		changed, err := s.exec(updateSettled, last.Seq, head, last.At.UnixMicro(), n, r.epoch)
		if err == nil && changed == 0 {
			err = refusal{patterns.ErrNotTaken}
		}
		return err
	})})
}

// noteIn appends a note to the record of a run that was just taken out of all hands.
func (f *file) noteIn(s *session, n int64, body NoteBody) error {
	var last patterns.Event
	err := s.each(func(row func(...any) error) error { return row(&last.Seq, &last.At, &last.Hash) }, selectLast, n)
	if err != nil {
		return err
	}
	note := patterns.Event{Seq: last.Seq + 1, At: max(last.At, f.journal.now().UnixMicro()), Kind: patterns.NoteEvent, Body: encodeBody(body)}
	note.Seal(idOf(n), last.Hash)
	_, err = s.exec(insert1, n, note.Seq, note.At, string(note.Kind), note.Key, []byte(note.Body), note.Hash)
	return err
}

// doubt is the key of the question about a call in doubt that is not answered; "" where there is none.
func (l *loaded) doubt(effect string) string {
	for key, m := range l.history.past {
		if m.intent == nil || m.intent.Kind != patterns.HumanEffect || m.intent.Name != "settle" || m.outcome.State != "" {
			continue
		}
		v, err := decodeResult(m.intent.Input)
		if about, ok := v.(map[string]any); err == nil && ok && about["effect"] == effect {
			return key
		}
	}
	return ""
}

// cancel implements keeper's Cancel for a run whose principal was checked. That it is wanted is on the disk before anybody
// is told: neither a run that is about to wait nor the end of a process undoes it.
func (f *file) cancel(ctx context.Context, n int64, by patterns.Note) error {
	for tries := range 3 { // it may change hands meanwhile
		r, events, err := f.read(n)
		switch {
		case err != nil:
			return err
		case r == nil:
			return patterns.ErrNoRun
		case r.state != "ended" && r.state != "broken":
		case tries > 0: // by what was wanted
			return nil
		default:
			return patterns.ErrOver
		}
		l := f.life(r.id())
		if l != nil {
			l.end(by)
		} else if err := r.whole(events); err != nil {
			f.quarantine(r, err)
			return patterns.ErrOver
		}
		owned, err := f.recalled(n, by)
		switch {
		case err != nil:
			return err
		case l != nil:
			select {
			case <-l.done: // it may wait instead of having ended
				continue
			case <-ctx.Done():
				return nil
			}
		case owned: // its owner will see it
			f.recall.Store(true)
			return nil
		}
		f.mu.Lock()
		delete(f.lacking, n)
		f.mu.Unlock()
		if _, err := f.claim(n, nil); !errors.Is(err, patterns.ErrNotTaken) {
			switch {
			case isLacking(err), errors.Is(err, ErrMismatch):
				return nil
			case errors.Is(err, errBroken):
				return patterns.ErrOver
			}
			return err
		}
	}
	return fmt.Errorf("%w: the run changes hands too fast", patterns.ErrJournal)
}

// recalled notes on the disk that a run is to be cancelled; owned says that it is in some process's hands.
func (f *file) recalled(n int64, by patterns.Note) (owned bool, err error) {
	var held int64
	err = f.journal.do(&change{sync: true, also: func(s *session) (err error) {
		if held, err = s.exec(updateRecalled, n); err != nil || held > 0 {
			return err
		}
		rested, err := s.exec(updateCanceled, n)
		if err == nil && rested > 0 {
			err = f.noteIn(s, n, NoteBody{What: noteCancel, Note: by})
		}
		return err
	}})
	return held > 0, err
}
