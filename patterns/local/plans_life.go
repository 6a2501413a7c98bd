package local

import (
	"maps"
	"slices"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// act converts a step to a planAct of this run. It returns false if the plan's id is not valid.
func (b *branch) act(s patterns.PlanStep) (planAct, bool) {
	n, ok := journal.PlanNumber(s.Plan)
	run, _ := journal.RunNumber(b.id)
	return planAct{PlanStep: s, n: n, run: run, principal: b.job.Principal, now: b.engine.nowMicro()}, ok
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

// nowMicro returns the time as rows store it, in microseconds since 1970.
func (e *Engine) nowMicro() int64 { return e.now().Truncate(time.Microsecond).UnixMicro() }

func stepped(reason string) patterns.Outcome {
	if reason != "" {
		return patterns.Outcome{State: patterns.Failed, Reason: reason}
	}
	return patterns.Outcome{State: patterns.OK}
}

// read returns the outcome of a load, as far as the plan's row decides it.
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
	told := make(chan error, 1)
	r.mu.Lock()
	help := r.file.flush(false, func(err error) { told <- err }, steps...)
	r.mu.Unlock()
	help()
	return <-told
}

// settled waits until everything that was appended so far is stored.
func (r *Record) settled() error { return r.along(store.AddConfigs(nil)) }

// holding updates, from an outcome, which plans the run has claimed.
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

// plans returns the numbers of the plans that the run has claimed, according to its record.
func (h *history) plans() []int64 { return slices.Sorted(maps.Keys(h.held)) }
