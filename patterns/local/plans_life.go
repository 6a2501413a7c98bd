package local

import (
	"maps"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// act is a step as this run's; false where its plan's id is none.
func (b *branch) act(s patterns.PlanStep) (planAct, bool) {
	n, ok := journal.PlanNumber(s.Plan)
	run, _ := journal.RunNumber(b.id)
	return planAct{PlanStep: s, n: n, run: run, principal: b.job.Principal, now: b.engine.nowMicro()}, ok
}

// step performs a step on a stored plan. It takes nobody's time but the journal's, so the branch keeps the baton.
func (b *branch) step(s *patterns.PlanStep) patterns.Outcome {
	if s == nil {
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}
	}
	a, ok := b.act(*s)
	switch {
	case !ok:
		return stepped(patterns.PlanNotFound)
	case b.engine.file != nil:
		return b.stepInFile(a)
	}
	return b.stepInMemory(a)
}

func stepped(reason string) patterns.Outcome {
	if reason != "" {
		return patterns.Outcome{State: patterns.Failed, Reason: reason}
	}
	return patterns.Outcome{State: patterns.OK}
}

// read is what a load comes to, as far as its plan's row says.
func (a planAct) read(r *store.Plan, how stands) patterns.Outcome {
	if reason := a.refuses(r, how, true); reason == patterns.PlanNotFound {
		return stepped(reason)
	}
	v, err := contentOf(r)
	reason := a.refuses(r, how, err == nil)
	out := stepped(reason)
	out.Output = shownBy(reason, patterns.Loaded(v, r.Version))
	return out
}

// shownBy is what of a plan goes with a reason.
func shownBy(reason string, output any) any {
	if reason == "" || reason == patterns.PlanConflict || reason == patterns.PlanBusy {
		return output
	}
	return nil
}

// weightOf is how much memory a value holds.
func weightOf(v any) int {
	if v == nil {
		return 0
	}
	return ijson.Weight(v)
}

// along has steps taken in the transaction of what is pending, or behind it, and waits for both. The pattern's code does not go on
// meanwhile.
func (r *Record) along(steps ...store.Step) error {
	told := make(chan error, 1)
	r.mu.Lock()
	help := r.file.flush(false, func(err error) { told <- err }, steps...)
	r.mu.Unlock()
	help()
	return <-told
}

// settled waits until what was appended so far is stored.
func (r *Record) settled() error { return r.along(store.AddConfigs(nil)) }

// holding learns from an outcome whether the run has a plan.
func (h *history) holding(m *memory) {
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

// plans are the numbers of the plans that a run has, as far as its record says.
func (h *history) plans() []int64 { return slices.Sorted(maps.Keys(h.held)) }
