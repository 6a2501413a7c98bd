package local

import (
	"fmt"
	"runtime/debug"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/kinds"
)

// codeOf returns the code of a kind.
func (e *Engine) codeOf(kind gateway.Kind) (patterns.Pattern, bool) {
	if e.code != nil {
		return e.code, true
	}
	return kinds.Of(kind)
}

// Shows implements [patterns.Run]. A run is shown by rehearsing its record, never by the code of a live run.
func (b *branch) Shows(soFar func() patterns.Result) {
	if b.dry != nil {
		b.dry.soFar = soFar
	}
}

// shown returns what a rehearsed run shows so far. It returns false if the run shows nothing or its code panics; then fault is that
// panic.
func (d *rehearsal) shown() (r patterns.Result, ok bool, fault error) {
	if d.soFar == nil {
		return r, false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			r, ok, fault = patterns.Result{}, false, fmt.Errorf("pattern code panicked while it was shown: %v\n%s", p, debug.Stack())
		}
	}()
	return d.soFar(), true, nil
}

// shownOf returns what a run that runs or waits shows now. It rehearses what is recorded so far. It does not see effects in
// progress, or what a body did since its newest outcome was recorded.
//
// It returns false if the principal has no such run, if the run shows nothing, or if its record cannot be replayed here. It is safe
// while the run continues, here or in another process. It waits for the store, so a change or a view of the store must not call it.
// It costs as much as reading the record and running the code over it.
func (e *Engine) shownOf(principal, runID string) (patterns.Result, bool) {
	show := e.rehearsedInMemory
	if e.file != nil {
		show = e.file.rehearsed
	}
	d, err := show(principal, runID)
	if err != nil {
		return patterns.Result{}, false
	}
	result, ok, fault := d.shown()
	if fault != nil && e.Fault != nil {
		e.Fault(runID, "", fault)
	}
	return result, ok
}

func (e *Engine) rehearsedInMemory(principal, runID string) (*rehearsal, error) {
	e.mu.Lock()
	r := inMemory{e}.find(principal, runID)
	e.mu.Unlock()
	if r == nil {
		return nil, patterns.ErrNoRun
	}
	return r.rehearse(remembered(r.record.Events()))
}

// rehearsed rehearses a run of the file. It first writes what a life in this process has not written yet.
func (f *file) rehearsed(principal, runID string) (*rehearsal, error) {
	n, ok := journal.RunNumber(runID)
	if !ok {
		return nil, patterns.ErrNoRun
	}
	here := f.life(runID)
	if here != nil && here.job.Principal != principal {
		return nil, patterns.ErrNoRun
	}
	if here != nil {
		if err := here.flush(); err != nil {
			return nil, err
		}
	}
	r, stored, err := f.read(n)
	if err != nil {
		return nil, err
	}
	if r == nil || r.Principal != principal {
		return nil, patterns.ErrNoRun
	}
	if here == nil {
		l, err := f.load(r, stored)
		if err != nil {
			return nil, err
		}
		return l.dry, nil
	}
	open, _, _, err := f.reveal(n, stored)
	if err != nil {
		return nil, err
	}
	events, err := decodeEvents(open)
	if err != nil {
		return nil, err
	}
	return here.rehearse(remembered(events))
}

// flush writes what the life has recorded so far. It holds the baton, so no branch is between an intent and its own flush: the
// branch itself must get that result.
func (l *life) flush() error {
	told := make(chan error, 1)
	l.baton.Lock()
	l.record.flush(false, func(err error) { told <- err })
	l.baton.Unlock()
	return <-told
}
