package memory

import (
	"cmp"
	"slices"

	"patterngate/patterns/store"
)

func (t *tables) setPlan(p store.Plan) {
	p.Body = slices.Clone(p.Body)
	puts(t, t.plans, p.N, new(&p))
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
