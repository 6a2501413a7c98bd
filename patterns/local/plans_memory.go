package local

import (
	"cmp"
	"slices"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// These limits say how many plans of one principal are kept in memory, and their maximum size together. Over a limit the oldest
// plans are removed that no run has claimed. The newest plan is always kept.
const (
	maxPlans     = 1000
	maxPlanBytes = 64 << 20
)

// plansHere is the planTable of an engine in memory. Its user holds the engine's lock.
type plansHere struct {
	*Engine
	principal string
	ends      []int64 // runs to end after the lock is released
}

var _ planTable = (*plansHere)(nil)

func (p *plansHere) row(n int64) (*store.Plan, error) {
	r := p.plans[n]
	if r == nil {
		return nil, nil
	}
	copied := *r
	return &copied, nil
}

func (p *plansHere) insert(r *store.Plan) error {
	if p.plans == nil {
		p.plans = map[int64]*store.Plan{}
	}
	r.Body = slices.Clone(r.Body)
	p.plans[r.N] = r
	p.makeWay(r)
	return nil
}

// makeWay removes plans to make room for a new one.
func (p *plansHere) makeWay(newest *store.Plan) {
	var mine []*store.Plan
	bytes := 0
	for _, r := range p.plans {
		if r.Principal == newest.Principal {
			mine = append(mine, r)
			bytes += len(r.Body)
		}
	}
	if len(mine) <= maxPlans && bytes <= maxPlanBytes {
		return
	}
	slices.SortFunc(mine, func(a, b *store.Plan) int { return cmp.Or(cmp.Compare(a.Changed, b.Changed), cmp.Compare(a.N, b.N)) })
	left := len(mine)
	for _, r := range mine {
		if left <= maxPlans && bytes <= maxPlanBytes {
			return
		}
		seen := *r // a copy: if the holder has ended, holder gives the plan to the run under it
		if how, _ := holder(p, &seen); r != newest && how == runOver {
			delete(p.plans, r.N)
			left, bytes = left-1, bytes-len(r.Body)
		}
	}
}

func (p *plansHere) hold(r *store.Plan) error {
	p.plans[r.N].Run, p.plans[r.N].Under = r.Run, r.Under
	return nil
}

func (p *plansHere) commit(r *store.Plan) error {
	r.Body = slices.Clone(r.Body)
	p.plans[r.N] = r
	p.makeWay(r)
	return nil
}

func (p *plansHere) stands(run int64) (stands, error) {
	r := inMemory{p.Engine}.find(p.principal, journal.RunID(run))
	switch {
	case r == nil || r.state == patterns.Over:
		return runOver, nil
	case r.state == patterns.Parked:
		return runWaits, nil
	}
	return runRunning, nil
}

func (p *plansHere) end(run, _ int64) error {
	p.ends = append(p.ends, run)
	if r := (inMemory{p.Engine}).find(p.principal, journal.RunID(run)); r != nil {
		r.lostPlan = true
	}
	return nil
}

// stepInMemory performs a step.
func (b *branch) stepInMemory(a planAct) patterns.Outcome {
	e := b.engine
	t := &plansHere{Engine: e, principal: a.principal}
	if a.Op == patterns.LoadOp {
		return b.loadInMemory(t, a)
	}
	e.mu.Lock()
	reason, _ := a.change(t)
	e.mu.Unlock()
	if reason == "" {
		e.waiters.announce(a.Plan)
	}
	for _, n := range t.ends {
		note := patterns.Note{Channel: "engine", Reason: "its plan was changed by " + b.id}
		_ = inMemory{e}.recall(a.principal, journal.RunID(n), note) // a run that has ended since needs nothing
	}
	return stepped(reason)
}

func (b *branch) loadInMemory(t *plansHere, a planAct) patterns.Outcome {
	e := b.engine
	for {
		seen, how, _ := e.planAt(a.n)
		out := a.read(seen, how)
		if out.State != patterns.OK || !a.Claim {
			return b.weighed(out)
		}
		e.mu.Lock()
		reason, changed, _ := a.claim(t, seen)
		e.mu.Unlock()
		switch {
		case reason != "":
			return b.weighed(patterns.Outcome{State: patterns.Failed, Reason: reason, Output: shownBy(reason, out.Output)})
		case !changed:
			return b.weighed(out)
		}
	}
}

// weighed adds the size of a load's output to the run's size, because the run's record keeps it.
func (b *branch) weighed(out patterns.Outcome) patterns.Outcome {
	more := weightOf(out.Output)
	b.engine.mu.Lock()
	b.run.size += more
	b.engine.mu.Unlock()
	return out
}

// over reports whether another run has claimed the plan of this run over it, so that this run waits. The caller holds the lock.
func (e inMemory) over(r *run) bool {
	n, _ := journal.RunNumber(r.id)
	t := &plansHere{Engine: e.Engine, principal: r.job.Principal}
	for _, p := range e.plans {
		if p.Under != n || p.Principal != r.job.Principal {
			continue
		}
		if _, waits, _ := keeps(t, p.N, n, false); waits {
			return true
		}
	}
	return false
}

// lost reports whether a run that continues has lost a plan that it held. A canceled run gets its plans back.
func (e inMemory) lost(r *run, h *history, canceled bool) (lost bool) {
	n, _ := journal.RunNumber(r.id)
	e.mu.Lock()
	defer e.mu.Unlock()
	t := &plansHere{Engine: e.Engine, principal: r.job.Principal}
	for _, plan := range h.plans() {
		has, _, _ := keeps(t, plan, n, canceled)
		lost = lost || !has
	}
	return lost
}

// nowMicro returns the time as rows store it, in microseconds since 1970.
func (e *Engine) nowMicro() int64 { return e.now().Truncate(time.Microsecond).UnixMicro() }
