package execution

import (
	"maps"
	"slices"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/planclaims"
	"patterngate/patterns/store"
)

// act converts a step to an act of this run. It returns false if the plan's id is not valid.
func (b *branch) act(s patterns.PlanStep) (planclaims.Act, bool) {
	n, ok := journal.PlanNumber(s.Plan)
	now := b.Backing.Now().Truncate(time.Microsecond).UnixMicro()
	return planclaims.Act{PlanStep: s, N: n, Run: b.N, Principal: b.Job.Principal, Now: now}, ok
}

// changePlan performs a step that is not a load.
func (b *branch) changePlan(a planclaims.Act) patterns.Outcome {
	for {
		steps, reason, err := b.Backing.Plans().Change(a)
		if err != nil {
			b.unwind(err)
		}
		if !b.Backing.changesPlan(b, a.Plan, reason, steps) {
			return stepped(reason)
		}
	}
}

// loadPlan reads the plan without blocking the writer, and then claims what it read.
func (b *branch) loadPlan(a planclaims.Act) patterns.Outcome {
	for {
		seen, how, err := b.Backing.Plans().At(a.N)
		if err != nil {
			b.unwind(err)
		}
		out := read(a, seen, how)
		if out.State != patterns.OK || !a.Claim {
			return b.loaded(out)
		}
		steps, reason, changed, err := b.Backing.Plans().Claim(a, seen)
		again := false
		if err == nil && !changed {
			again, err = b.Backing.claimsPlan(b, steps)
		}
		switch {
		case err != nil: // over a store also if another run changed the plan in between
			b.unwind(err)
		case again:
		case reason != "":
			return b.loaded(patterns.Outcome{State: patterns.Failed, Reason: reason, Output: shownBy(reason, out.Output)})
		case !changed:
			return b.loaded(out)
		}
	}
}

// loaded returns the outcome of a load, whose output the run's record keeps.
func (b *branch) loaded(out patterns.Outcome) patterns.Outcome {
	b.Backing.loaded(b, out)
	return out
}

// stored returns the steps of a plan's change, which are stored with the record of its outcome; nil: none. If another run has
// changed the plan since the decision, the run is replayed.
func (b *branch) stored(s *patterns.PlanStep, out patterns.Outcome) func(journal.Event) []store.Step {
	steps := b.planned
	b.planned = nil
	if s.Op == patterns.LoadOp || out.State != patterns.OK {
		return nil
	}
	return func(journal.Event) []store.Step { return steps }
}

// planChangedBy is the note in the record of a waiting run whose plan another run changed.
func planChangedBy(run string) patterns.Note {
	return patterns.Note{Channel: "engine", Reason: planChanged(run)}
}

// step performs a step on a stored plan. It waits for nothing but the store, so the branch keeps the baton.
func (b *branch) step(s *patterns.PlanStep) patterns.Outcome {
	if s == nil {
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}
	}
	a, ok := b.act(*s)
	switch {
	case !ok:
		return stepped(patterns.PlanNotFound)
	case a.Op == patterns.LoadOp:
		return b.loadPlan(a)
	}
	return b.changePlan(a)
}

func stepped(reason string) patterns.Outcome {
	if reason != "" {
		return patterns.Outcome{State: patterns.Failed, Reason: reason}
	}
	return patterns.Outcome{State: patterns.OK}
}

// read returns the outcome of a load, as far as the plan's row decides it.
func read(a planclaims.Act, r *store.Plan, how planclaims.Stands) patterns.Outcome {
	if reason := a.Refuses(r, how, true); reason == patterns.PlanNotFound {
		return stepped(reason)
	}
	v, err := planclaims.Content(r)
	reason := a.Refuses(r, how, err == nil)
	out := stepped(reason)
	out.Output = shownBy(reason, patterns.Loaded(v, r.Version))
	return out
}

// shownBy returns the output that is shown with a reason: the plan, if there is no reason or if it is about the plan's state.
func shownBy(reason string, output any) any {
	if reason == "" || reason == patterns.PlanConflict || reason == patterns.PlanBusy {
		return output
	}
	return nil
}

// weightOf returns how much memory a value holds, in bytes; 0 for nil.
func weightOf(v any) int {
	if v == nil {
		return 0
	}
	return ijson.Weight(v)
}

// along stores steps in the transaction of the pending events, or after it, and waits for both. The pattern's code does not
// continue during that time.
func (r *Record) along(steps ...store.Step) error {
	return r.sink.write(false, func(store.Head) []store.Step { return steps })
}

// settled waits until everything that was appended so far is stored.
func (r *Record) settled() error { return r.along(store.AddConfigs(nil)) }

// holding updates, from an outcome, which plans the run has claimed.
func (h *History) holding(m *memory) {
	if m.intent == nil || m.intent.Kind != patterns.PlanEffect || m.outcome.State != patterns.OK {
		return
	}
	v, _ := journal.DecodeTrusted(m.intent.Input)
	input, _ := v.(map[string]any)
	id, _ := input["plan_id"].(string)
	n, ok := journal.PlanNumber(id)
	if !ok {
		return
	}
	claim, _ := input["claim"].(bool)
	keep, _ := input["keep"].(bool)
	switch patterns.PlanOp(m.intent.Name) {
	case patterns.LoadOp:
		if claim {
			h.held[n] = true
		}
	case patterns.CreateOp, patterns.CommitOp:
		if delete(h.held, n); keep {
			h.held[n] = true
		}
	case patterns.ReleaseOp:
		delete(h.held, n)
	}
}

// Plans returns the numbers of the plans that the run has claimed, according to its record.
func (h *History) Plans() []int64 { return slices.Sorted(maps.Keys(h.held)) }
