package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

func decodeResult(text []byte) (any, error) {
	v, err := ijson.Decode(text)
	if err != nil {
		return nil, fmt.Errorf(notOneDocument, err)
	}
	return v, nil
}

// Run shows the present state of a run. A run that has no life in this process is shown by a dry replay of its record.
func (f *file) Run(principal, id string) (patterns.Snapshot, bool) {
	n, ok := journal.RunNumber(id)
	if !ok {
		return patterns.Snapshot{}, false
	}
	if l := f.life(id); l != nil {
		if l.Job.Principal != principal {
			return patterns.Snapshot{}, false
		}
		return f.shownHere(l), true
	}
	r, events, err := f.read(n)
	if err != nil || r == nil || r.Principal != principal {
		return patterns.Snapshot{}, false
	}
	return f.show(r, events), true
}

// shownHere shows a run that has a life in this process.
func (f *file) shownHere(l *lived) patterns.Snapshot {
	f.mu.Lock()
	s := l.snapshot()
	f.mu.Unlock()
	s.Head = l.tail.Head()
	return s
}

// show makes a run's state again from its row and record.
func (f *file) show(r *store.Row, events []patterns.Event) patterns.Snapshot {
	s := patterns.Snapshot{
		RunID: r.ID(), Pattern: r.Pattern, Caller: patterns.Caller{Principal: r.Principal, Client: r.Client}, State: patterns.Running,
		Began: time.UnixMicro(r.Began), Head: patterns.HeadOf(events),
	}
	s.Ended = patterns.Ended{RunID: r.ID(), Began: s.Began}
	l, err := f.load(r, events)
	if l != nil {
		s.Arguments, s.ClientVersion, s.Era = l.history.Start.Arguments, l.history.Start.ClientVersion, l.history.Start.Era
		s.Ended.Calls, s.Ended.Requests, s.Ended.Waited = l.history.Calls, l.history.Asked, l.history.Rested()
		s.Ended.Phase, s.Parent = l.history.Phase, l.history.Start.Parent
		s.Current = patterns.Current{Since: s.Began, Done: l.history.Answered}
	}
	if l != nil && l.run != nil {
		s.Spec = l.run.Job.Spec
		if l.run.Job.Model != nil {
			s.Model = l.run.Job.Model.Name()
		}
	}
	switch {
	case errors.Is(err, journal.ErrBroken):
		s.State = patterns.Over
		s.Ended.Result = patterns.Result{StopReason: "record_broken", Phase: r.Phase}
		s.Ended.Ended = time.UnixMicro(max(r.Ended, r.Began))
	case r.State == "ended":
		f.showEnded(&s, r, l, err)
	case r.State == "parked":
		s.State = patterns.Parked
		f.showParked(&s, r, l, err)
	case r.State == "ready" && isLacking(err):
		lacking, _ := errors.AsType[*patterns.Lacking](err)
		s.State = patterns.Parked
		s.Ended.Waiting = retry(lacking, time.UnixMicro(events[len(events)-1].At))
		s.Ended.Waiting.Phase = r.Phase
	case r.State == "running" && f.delayed(r.N, r.State, r.Epoch):
		f.mu.Lock()
		s.Ended.Waiting = f.stuck[s.RunID]
		f.mu.Unlock()
		if s.Ended.Waiting != nil {
			s.State = patterns.Parked
		}
	case err == nil:
		next, open := l.dry.Next()
		if !open {
			break
		}
		s.Current.Phase, s.Current.Doing, s.Current.Total = next.Phase, doneBy(next, l.run), next.Total
		if next.Total > 0 { // as a branch of the run sees it
			s.Current.Done = min(s.Current.Done, next.Total)
		}
		if f.isAnswered(l) {
			s.Current.Doing = decided
		}
	}
	return s
}

// decided describes a run whose approval was decided and that no process has continued since.
const decided = decidedContinues

// isAnswered reports whether a person has answered a question of the run and the run does not have that answer yet.
func (f *file) isAnswered(l *loaded) (yes bool) {
	waits := l.dry.Questions()
	if len(waits) == 0 {
		return false
	}
	_ = f.journal.View(func(s store.Reader) error { // an error changes only the text that is shown
		rows, err := decisions.AnsweredOf(s, l.N, waits.Has)
		yes = len(rows) > 0
		return err
	})
	return yes
}

// showEnded shows how a run ended. It shows the replay's result if that agrees with the record, otherwise the recorded result.
func (f *file) showEnded(s *patterns.Snapshot, r *store.Row, l *loaded, err error) {
	s.State = patterns.Over
	s.Ended.Ended, s.Ended.Phase = time.UnixMicro(r.Ended), cmp.Or(s.Ended.Phase, r.Phase)
	s.Ended.Result = patterns.Result{StopReason: r.StopReason, Phase: r.Phase}
	if l == nil || l.history.End == nil {
		return
	}
	end := l.history.End
	if err == nil {
		if result, ended := l.dry.Result(); ended && result.StopReason == end.StopReason && result.Phase == end.Phase {
			s.Ended.Result = result
			return
		}
	}
	s.Kept = end.Envelope
	s.Ended.Result.Ledger = l.history.Ledger()
}

// showParked shows what a run waits for.
func (f *file) showParked(s *patterns.Snapshot, r *store.Row, l *loaded, err error) {
	var w *patterns.Waiting
	if err == nil {
		w = f.demands(l.dry.WaitsFor(f.childWaitsFor))
	}
	if w == nil { // it cannot be replayed here: show what the row says
		w = &patterns.Waiting{Kind: patterns.WaitingKind(r.WaitingKind), Key: r.WaitsKey, Turn: r.Turn, Phase: r.Phase}
		if lacking, ok := errors.AsType[*patterns.Lacking](err); ok {
			w = retry(lacking, s.Began)
			w.Phase = r.Phase
		}
	}
	if w.Until.IsZero() && r.Expires > 0 {
		w.Until = time.UnixMicro(r.Expires)
	}
	s.Ended.Waiting, s.Ended.Ended, s.Ended.Phase = w, w.Since, w.Phase
}

// Wait implements [patterns.Runs]. Between changes it reads only the row.
func (f *file) Wait(ctx context.Context, principal, id string, mark patterns.Mark) (patterns.Snapshot, bool) {
	n, ok := journal.RunNumber(id)
	for ok && ctx.Err() == nil {
		changed, off := f.waiters.on(id)
		if now, there := f.mark(principal, n); !there || now != mark {
			s, known := f.Run(principal, id)
			if !known || s.Mark() != mark { // otherwise the shown state differs from the row: this process lacks something
				off()
				return s, known
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
		off()
	}
	return f.Run(principal, id)
}

// mark returns a run's mark, from its life in this process or from its row.
func (f *file) mark(principal string, n int64) (m patterns.Mark, ok bool) {
	if l := f.life(journal.RunID(n)); l != nil {
		return patterns.Mark{State: patterns.Running}, l.Job.Principal == principal
	}
	_ = f.journal.View(func(s store.Reader) error {
		is, found, err := s.Mark(n)
		if !found {
			return err
		}
		ok = is.Principal == principal
		switch {
		case is.State == "parked":
			m = patterns.Mark{State: patterns.Parked, Turn: is.Turn, Key: is.Key}
		case f.delayed(n, is.State, is.Epoch):
			m.State = patterns.Parked
		case is.State == "running", is.State == "ready":
			m.State = patterns.Running
		default:
			m.State = patterns.Over
		}
		return err
	})
	return m, ok
}

// delayed reports whether a running or ready run waits because this process lacks something.
func (f *file) delayed(n int64, state string, epoch int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	lacks, known := f.lacking[n]
	return state == "ready" && known && lacks == epoch || state == "running" && f.stuck[journal.RunID(n)] != nil
}

// RunIDs implements [patterns.Runs].
func (f *file) RunIDs(principal string) (ids []string) {
	_ = f.journal.View(func(s store.Reader) error {
		list, err := s.IDs(principal)
		for _, n := range list {
			ids = append(ids, journal.RunID(n))
		}
		return err
	})
	return ids
}

// Newest implements [patterns.Runs].
func (f *file) Newest(principal string) (id string, found bool) {
	rests := false
	_ = f.journal.View(func(s store.Reader) error {
		list, err := s.Newest(principal)
		for _, r := range list {
			resting := r.State != "running" && r.State != "ready"
			if !found || resting && !rests {
				id, found, rests = journal.RunID(r.N), true, resting
			}
		}
		return err
	})
	return id, found
}

// Events implements [patterns.Runs].
func (f *file) Events(principal, id string) ([]patterns.Event, error) {
	n, ok := journal.RunNumber(id)
	if !ok {
		return nil, patterns.ErrNoRun
	}
	r, events, err := f.read(n)
	switch {
	case err != nil:
		return nil, err
	case r == nil || r.Principal != principal:
		return nil, patterns.ErrNoRun
	}
	return events, r.Damage
}

// Cancel implements [patterns.Runs].
func (f *file) Cancel(ctx context.Context, principal, id string, by patterns.Note) (patterns.Snapshot, error) {
	n, _ := journal.RunNumber(id)
	if _, ok := f.mark(principal, n); !ok {
		return patterns.Snapshot{}, patterns.ErrNoRun
	}
	return canceled(ctx, f, principal, id, func() error { return f.cancel(ctx, n, by) })
}

// List implements [patterns.Runs].
func (f *file) List(filter patterns.Filter) (patterns.Page, error) {
	var fault error
	page, err := pageOf(filter, func(yield func(patterns.RunRow) bool) {
		if filter.Principal != "" {
			fault = f.rowsOf(filter, filter.Principal, yield)
			return
		}
		fault = f.rowsOfAll(filter, yield)
	})
	if fault != nil {
		return patterns.Page{}, fault
	}
	return page, err
}

// someRows is how many rows of a long list are read at once. A long list therefore does not make other callers wait.
const someRows = 500

// rowsOf yields the rows of a principal, newest first, beginning after the filter's cursor.
func (f *file) rowsOf(filter patterns.Filter, principal string, yield func(patterns.RunRow) bool) error {
	began, n := int64(math.MaxInt64), int64(math.MaxInt64)
	if from, later, err := placeOf(filter); err == nil && later {
		began = from.began.UnixMicro()
		n, _ = journal.RunNumber(from.id)
	}
	for most := cmp.Or(filter.Limit, defaultRows) + 1; ; most = someRows { // the first read is enough for one page
		var some []patterns.RunRow
		err := f.journal.View(func(s store.Reader) error {
			page, err := s.Page(principal, began, n, most)
			for _, r := range page {
				some = append(some, f.listed(r))
				began, n = r.Began, r.N
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, row := range some {
			if !yield(row) {
				return nil
			}
		}
		if len(some) < most {
			return nil
		}
	}
}

// rowsOfAll yields the rows of all principals, newest first. For each principal it reads as many as one page may need.
func (f *file) rowsOfAll(filter patterns.Filter, yield func(patterns.RunRow) bool) error {
	var principals []string
	err := f.journal.View(func(s store.Reader) (err error) {
		principals, err = s.Principals()
		return err
	})
	if err != nil {
		return err
	}
	var all []patterns.RunRow
	for _, principal := range principals {
		n := 0
		err := f.rowsOf(filter, principal, func(row patterns.RunRow) bool {
			if fits(filter, row) {
				all = append(all, row)
				n++
			}
			return n <= cmp.Or(filter.Limit, defaultRows)
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(all, func(a, b patterns.RunRow) int { return newestFirst(a.Began, a.RunID, b.Began, b.RunID) })
	for _, row := range all {
		if !yield(row) {
			break
		}
	}
	return nil
}

// listed converts a row to the form that lists show.
func (f *file) listed(r *store.Row) patterns.RunRow {
	row := patterns.RunRow{
		RunID: r.ID(), Pattern: r.Pattern, Principal: r.Principal, Status: "running", Began: time.UnixMicro(r.Began), Owner: r.Owner,
	}
	if r.Parent != 0 {
		row.Parent = journal.RunID(r.Parent)
	}
	switch r.State {
	case "ended", "broken":
		row.Status, row.StopReason, row.Phase, row.Summary, row.Ended = r.Status, r.StopReason, r.Phase, r.Summary, time.UnixMicro(r.Ended)
	case "parked", "ready":
		if r.State == "ready" && r.WaitingKind == "" {
			break
		}
		row.Status, row.Phase, row.Summary, row.WaitingKind = "waiting", r.Phase, r.Summary, r.WaitingKind
		if r.Expires > 0 {
			row.Expires = time.UnixMicro(r.Expires)
		}
	}
	return row
}

// doneBy describes, for people, what an effect does. run may be nil.
func doneBy(e patterns.Effect, run *run) string {
	if run == nil {
		return e.Doing
	}
	return e.DoneBy(run.Job.Model)
}
