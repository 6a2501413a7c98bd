package memory

import (
	"cmp"
	"slices"

	"patterngate/patterns/store"
)

func (t *tables) setPlan(p store.Plan) {
	p.Body = slices.Clone(p.Body)
	puts(t, t.plans, p.N, new(&p))
	t.makeWay(&p)
}

// makeWay removes plans to make room for a new one.
func (t *tables) makeWay(newest *store.Plan) {
	var mine []*store.Plan
	bytes := 0
	for _, p := range t.plans {
		if p.Principal == newest.Principal {
			mine = append(mine, p)
			bytes += len(p.Body)
		}
	}
	left := len(mine)
	crowded := func() bool {
		return t.limits.Plans > 0 && left > t.limits.Plans || t.limits.PlanBytes > 0 && bytes > t.limits.PlanBytes
	}
	if !crowded() {
		return
	}
	slices.SortFunc(mine, func(a, b *store.Plan) int { return cmp.Or(cmp.Compare(a.Changed, b.Changed), cmp.Compare(a.N, b.N)) })
	for _, p := range mine {
		if p == newest || t.isHeld(p.Run) || t.isHeld(p.Under) {
			continue
		}
		puts(t, t.plans, p.N, nil)
		if left, bytes = left-1, bytes-len(p.Body); !crowded() {
			return
		}
	}
}

// isHeld reports whether the holder of a plan is an unfinished run.
func (t *tables) isHeld(run int64) bool {
	r := t.runs[run]
	return r != nil && isUnfinished(r.State)
}

// Plan implements [store.Reader].
func (t *tables) Plan(n int64) (*store.Plan, error) {
	p, err := t.PlanBody(n)
	if p != nil {
		p.Body = nil
	}
	return p, err
}

// PlanBody implements [store.Reader].
func (t *tables) PlanBody(n int64) (*store.Plan, error) {
	p := t.plans[n]
	if p == nil {
		return nil, nil
	}
	seen := *p
	return &seen, nil
}

// Plans implements [store.Reader].
func (t *tables) Plans(q store.PlanPage) (list []int64, err error) {
	var rows []*store.Plan
	for _, p := range t.plans {
		behind := p.Created < q.Created || p.Created == q.Created && p.N < q.N
		if behind && (q.Principal == "" || q.Principal == p.Principal) && (q.Pattern == "" || q.Pattern == p.Pattern) {
			rows = append(rows, p)
		}
	}
	slices.SortFunc(rows, func(a, b *store.Plan) int { return cmp.Or(cmp.Compare(b.Created, a.Created), cmp.Compare(b.N, a.N)) })
	for _, p := range rows[:min(q.Most, len(rows))] {
		list = append(list, p.N)
	}
	return list, nil
}
