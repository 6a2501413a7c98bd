package execution

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Rehearsal is a dry replay. Pattern code runs over the record, and no effect is performed. Each branch ends at its first effect
// without an outcome.
type Rehearsal struct {
	id       string
	finished bool
	result   patterns.Result
	open     []pending              // where its branches ended, in their order
	soFar    func() patterns.Result // what the code shows before its end; nil: nothing
}

// pending is an effect without a recorded outcome.
type pending struct {
	key    string
	effect patterns.Effect
	m      *memory // nil: the effect was not begun
}

// Rehearse replays a record dry. It returns [ErrMismatch] if code and record do not fit each other; then no effect of the run may
// be performed. It sets the history's quotas and phase.
func (r *Run) Rehearse(h *History) (*Rehearsal, error) {
	for _, m := range h.past {
		m.visited = false
	}
	d := &Rehearsal{id: r.RunID}
	l := &Life{Run: r, Record: NewRecord(), past: h.past, dry: d, budget: budget{quotas: map[string]int{}}, done: make(chan struct{})}
	l.prepare()
	now := patterns.Current{Since: h.Began, Done: h.Answered}
	l.now.Store(&now)
	go l.play()
	<-l.done
	for _, key := range slices.Sorted(maps.Keys(h.past)) {
		if !h.past[key].visited && l.ending.cause == nil {
			l.ending.cause = fmt.Errorf(recordedUnused, ErrMismatch, key)
		}
	}
	h.quotas, h.Phase = l.budget.quotas, l.phase
	if _, panicked := errors.AsType[*patterns.Fault](l.ending.cause); panicked { // the code did not panic over this record when the record was written
		return d, fmt.Errorf("%w: %w", ErrMismatch, l.ending.cause)
	}
	return d, l.ending.cause
}

// play runs pattern code in the goroutine of a rehearsal.
func (l *Life) play() {
	defer close(l.done)
	defer l.cancel()
	l.baton.Lock()
	defer l.baton.Unlock()
	defer l.contain()
	if l.Code == nil {
		l.unwind(fmt.Errorf(noPatternFor, ErrMismatch, l.Job.Spec.Kind))
	}
	l.dry.result = l.Code(&branch{Life: l, keys: newKeys(""), at: l.Began, newest: l.Began}, l.Job.Spec, l.Job.Asked())
	l.dry.finished = true
}

// rehearse gives an effect its recorded outcome, or ends the branch.
func (b *branch) rehearse(m *memory, key string, e patterns.Effect) patterns.Outcome {
	if m != nil {
		if fault := m.fits(key, e); fault != nil {
			b.unwind(fault)
		}
		if m.intent != nil {
			for _, q := range e.Quotas {
				b.budget.quotas[q.Name]++
			}
		}
	}
	if m == nil || m.outcome.State == "" {
		b.dry.open = append(b.dry.open, pending{key, e, m})
		runtime.Goexit()
	}
	return b.recorded(m, e)
}

// WaitsFor returns what the resting run waits for; nil: nothing. It chooses the first by key of the run's own questions and
// of what the child runs of its calls wait for. child returns what a child run waits for, and its pattern; nil: it does not
// wait.
func (d *Rehearsal) WaitsFor(child func(id string) (w *patterns.Waiting, pattern string)) *patterns.Waiting {
	var first *patterns.Waiting
	for _, p := range d.open {
		w := p.waits(d.id, child)
		if w != nil && (first == nil || compareKeys(w.Key, first.Key) < 0) {
			first = w
		}
	}
	return first
}

// waits returns what a run waits for at one effect; nil: nothing.
func (p pending) waits(run string, child func(id string) (*patterns.Waiting, string)) *patterns.Waiting {
	switch {
	case p.m == nil:
		return nil
	case p.effect.Waiting() != nil:
		w := *p.effect.Waiting()
		w.Key, w.Since = p.key, p.m.began
		return &w
	case !beginsRun(p.effect):
		return nil
	}
	id := patterns.ChildID(run, p.key)
	below, pattern := child(id)
	if below == nil {
		return nil
	}
	w := childWaiting(p.key, id, pattern, below)
	showSoFar(p.effect, &w)
	return &w
}

// Next returns the first effect that the record does not have the outcome of; false: there is none.
func (d *Rehearsal) Next() (patterns.Effect, bool) {
	if len(d.open) == 0 {
		return patterns.Effect{}, false
	}
	return d.open[0].effect, true
}

// Result returns how the run ended; false: it has not ended.
func (d *Rehearsal) Result() (patterns.Result, bool) { return d.result, d.finished }

// Shows implements [patterns.Run]. A run is shown by rehearsing its record, never by the code of a live run.
func (b *branch) Shows(soFar func() patterns.Result) {
	if b.dry != nil {
		b.dry.soFar = soFar
	}
}

// Shown returns what a rehearsed run shows so far. It returns false if the run shows nothing or its code panics; then fault is that
// panic.
func (d *Rehearsal) Shown() (r patterns.Result, ok bool, fault error) {
	if d.soFar == nil {
		return r, false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			r, ok, fault = patterns.Result{}, false, fmt.Errorf(panickedShown, p, debug.Stack())
		}
	}()
	return d.soFar(), true, nil
}

// Questions are the questions of a run to people whose answers are not in its record yet, by approval.
type Questions map[string]Question

// Question is a question of a run, with the key of its effect.
type Question struct {
	Key     string
	Waiting *patterns.Waiting
}

// Has reports whether the run has asked for an approval.
func (q Questions) Has(id string) bool { _, asked := q[id]; return asked }

// Questions returns the run's questions to people.
func (d *Rehearsal) Questions() Questions {
	list := Questions{}
	for _, p := range d.open {
		if p.m != nil && journal.IsQuestion(p.effect) {
			w := p.effect.Waiting()
			list[w.Approval] = Question{p.key, w}
		}
	}
	return list
}
