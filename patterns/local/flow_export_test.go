package local

import (
	"math"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
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
func ReplayCode(r *execution.Record, code patterns.Pattern, job patterns.Job) (patterns.Result, error) {
	return execution.Replay(r.Events(), code, job, execution.First)
}

// Resume carries a run on in memory whose process ended when so much was recorded.
func (e *Engine) Resume(events []journal.Event, job patterns.Job) (patterns.Ended, error) {
	record := execution.NewRecord()
	for _, at := range events {
		record.Append(at.Kind, at.Key, at.At, at.Body)
	}
	record.Append(patterns.NoteEvent, "", time.Now(), journal.NoteBody{What: execution.NoteTakeover})
	h := execution.Remember(record.Events())
	r := e.newRun(h.Start.RunID, job)
	r.Record, r.Began = record, h.Began
	if _, err := r.Rehearse(h); err != nil {
		return patterns.Ended{}, err
	}
	h = h.With(record.Events(), false)
	m := e.keeper().(*inMemory)
	e.mu.Lock()
	check := m.back.Write(store.Bury{N: r.N}) // where the engine began it
	if check == nil {
		check = m.enter(r)
	}
	e.mu.Unlock()
	if check != nil {
		return patterns.Ended{}, check
	}
	l := r.live(h, nil)
	l.Carry()
	return l.Rest().Ended, l.Rest().Fault
}

// ReplayCodeStored is ReplayStored of code that is no pattern.
func ReplayCodeStored(events []patterns.Event, code patterns.Pattern, job patterns.Job) (patterns.Result, error) {
	decoded, err := execution.Decode(events)
	if err != nil {
		return patterns.Result{}, err
	}
	return execution.Replay(decoded, code, job, execution.First)
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
		if store.IsRefused(e.state().Do(&store.Change{Steps: []store.Step{store.AddPlan{Plan: r}}})) {
			_ = e.state().Do(&store.Change{Steps: []store.Step{store.SetPlan{Plan: r}}})
		}
	}
}

// Expire ends a run that waits in memory as if its time were over; the result is what then looks at it again.
func (e *Engine) Expire(runID string) *time.Timer {
	m := e.keeper().(*inMemory)
	e.mu.Lock()
	r := m.shelves["local:1"].runs[runID]
	e.mu.Unlock()
	m.expire(r, r.rest.Waiting)
	return r.clock
}

// Replay replays the record of a run in memory, see [execution.Replay].
func Replay(r *execution.Record, spec patterns.Spec, task patterns.Task, pick execution.Pick) (patterns.Result, error) {
	return replayOf(r.Events(), patterns.Job{Spec: spec, Task: task}, pick)
}
