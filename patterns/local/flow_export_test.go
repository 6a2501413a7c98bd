package local

import (
	"math"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// What tests of pattern code that is no pattern do to an engine.

// Runs has the engine carry out this code, whatever the kind of a job.
func (e *Engine) Runs(code patterns.Pattern) { e.code = code }

// Shown is how a run shows itself now.
func (e *Engine) Shown(principal, runID string) (patterns.Result, bool) {
	return e.shownOf(principal, runID)
}

// ReplayCode is Replay of code that is no pattern.
func ReplayCode(r *Record, code patterns.Pattern, job patterns.Job) (patterns.Result, error) {
	return replayCode(r, code, job, First)
}

// Resume carries a run on in memory whose process ended when so much was recorded.
func (e *Engine) Resume(events []journal.Event, job patterns.Job) (patterns.Ended, error) {
	last := events[len(events)-1]
	record := &Record{events: events, seq: last.Seq, at: last.At}
	record.append(patterns.NoteEvent, "", time.Now(), journal.NoteBody{What: noteTakeover})
	h := remembered(record.Events())
	r := &run{engine: e, id: h.start.RunID, job: job, record: record, began: h.began, state: patterns.Running}
	if _, err := r.rehearse(h); err != nil {
		return patterns.Ended{}, err
	}
	h = func(quotas map[string]int, phase string) *history {
		next := remembered(record.Events())
		next.quotas, next.phase = quotas, phase
		return next
	}(h.quotas, h.phase)
	e.mu.Lock()
	check := e.write(store.Bury{N: r.number()}) // where the engine began it
	if check == nil {
		check = inMemory{e}.enter(r)
	}
	e.mu.Unlock()
	if check != nil {
		return patterns.Ended{}, check
	}
	l := newLife(r, h, nil)
	l.carry()
	return l.rest, l.fault
}

// ReplayCodeStored is ReplayStored of code that is no pattern.
func ReplayCodeStored(events []patterns.Event, code patterns.Pattern, job patterns.Job) (patterns.Result, error) {
	decoded, err := decodeEvents(events)
	if err != nil {
		return patterns.Result{}, err
	}
	return replayCode(&Record{events: decoded}, code, job, First)
}

// PlansNow are the stored plans as they stand, for [Engine.PlansAgain].
func (e *Engine) PlansNow() map[int64]store.Plan {
	now := map[int64]store.Plan{}
	_ = e.state().View(func(s store.Reader) error {
		list, err := s.Plans(store.PlanPage{Created: math.MaxInt64, N: math.MaxInt64, Most: maxPlans})
		for _, n := range list {
			if p, _ := s.PlanBody(n); p != nil {
				now[n] = *p
			}
		}
		return err
	})
	return now
}

// PlansAgain has the stored plans be what they were, in the hands of one run.
func (e *Engine) PlansAgain(then map[int64]store.Plan, runID string) {
	run, _ := journal.RunNumber(runID)
	for _, r := range then {
		r.Run, r.Under = run, 0
		if store.IsRefused(e.write(store.AddPlan{Plan: r})) {
			_ = e.write(store.SetPlan{Plan: r})
		}
	}
}

// Expire ends a run that waits in memory as if its time were over; the result is what then looks at it again.
func (e *Engine) Expire(runID string) *time.Timer {
	e.mu.Lock()
	r := e.shelves["local:1"].runs[runID]
	e.mu.Unlock()
	inMemory{e}.expire(r, r.rest.Waiting)
	return r.clock
}
