package local

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

var _ patterns.Plans = (*Engine)(nil)

// Plan implements [patterns.Plans].
func (e *Engine) Plan(principal, pattern, id string) (patterns.PlanState, error) {
	return e.planOf(id, func(r *planRow) bool { return r.principal == principal && (pattern == "" || r.pattern == pattern) })
}

// maxLooks is how often a plan is looked at whose run comes to its end meanwhile.
const maxLooks = 3

// planOf is a plan as it stands, for who it is meant for.
func (e *Engine) planOf(id string, meant func(*planRow) bool) (state patterns.PlanState, err error) {
	n, ok := planNumber(id)
	if !ok {
		return state, patterns.ErrNoPlan
	}
	for range maxLooks {
		r, how, err := e.planAt(n)
		if err != nil {
			return state, err
		}
		if r == nil || !meant(r) {
			return state, patterns.ErrNoPlan
		}
		var settled bool
		if state, settled, err = e.stateOf(r, how); err != nil || settled {
			return state, err
		}
	}
	return state, nil
}

// planAt is a plan's row with its body, and how far its holder is; nil: there is none.
func (e *Engine) planAt(n int64) (r *planRow, how stands, err error) {
	if e.file != nil {
		return e.file.planAt(n)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t := &plansHere{Engine: e}
	if r, err = t.row(n); err == nil && r != nil {
		t.principal = r.principal
		how, err = holder(t, r)
	}
	return r, how, err
}

// stateOf is a row as it is shown. settled is false where its holder came to its end in between: the row is another by now.
func (e *Engine) stateOf(r *planRow, how stands) (state patterns.PlanState, settled bool, err error) {
	state = patterns.PlanState{Plan: patterns.StoredPlan{ID: r.id()}, Pattern: r.pattern, Principal: r.principal}
	v, err := r.content()
	if err != nil {
		return state, true, patterns.ErrPlanCorrupt
	}
	plan, err := patterns.ReadPlan(v)
	if err != nil {
		return state, true, patterns.ErrPlanCorrupt
	}
	state.Plan = plan
	if r.run == 0 {
		return state, true, nil
	}
	state.Holder, state.State = journal.RunID(r.run), patterns.Over
	s, known := e.Run(r.principal, state.Holder)
	if known {
		state.Verb, state.Arguments, state.Spec = verbOf(s.Pattern, r.pattern), s.Arguments, s.Spec
	}
	if how == runOver {
		return state, true, nil
	}
	if !known || s.State == patterns.Over {
		return state, false, nil
	}
	state.State, state.Waiting = s.State, s.Ended.Waiting
	if result, ok := e.shownOf(r.principal, state.Holder); ok {
		state.Result = &result
	}
	return state, true, nil
}

// verbOf is which of a pattern's tools one is; "" for none.
func verbOf(tool, pattern string) patterns.PlanVerb {
	name, _ := strings.CutPrefix(tool, pattern+"_")
	for _, verb := range []patterns.PlanVerb{patterns.DecomposeVerb, patterns.ExecuteVerb, patterns.ReplanVerb} {
		if name == string(verb) {
			return verb
		}
	}
	return ""
}

// maxPlanRows is how many plans a page has at most, and maxPageBytes about how long they are together.
const (
	maxPlanRows  = 100
	maxPageBytes = 16 << 20
)

// planPlace is where a list of plans goes on: behind this one.
type planPlace struct{ created, n int64 }

// ListPlans implements [patterns.Plans].
func (e *Engine) ListPlans(filter patterns.PlanFilter) (page patterns.PlanPage, err error) {
	from, err := placeOfPlan(filter)
	if err != nil {
		return page, err
	}
	limit := defaultRows
	if filter.Limit > 0 {
		limit = min(filter.Limit, maxPlanRows)
	}
	list, err := e.planNumbers(filter, from, limit+1)
	if err != nil {
		return page, err
	}
	bytes := 0
	var last planPlace
	for _, n := range list {
		if len(page.Plans) == limit || bytes > maxPageBytes {
			page.Next = last.cursor(filter)
			break
		}
		var row planRow
		state, err := e.planOf(planID(n), func(r *planRow) bool { row = *r; return true })
		switch {
		case errors.Is(err, patterns.ErrNoPlan): // it made way
			continue
		case err != nil && !errors.Is(err, patterns.ErrPlanCorrupt):
			return patterns.PlanPage{}, err
		}
		page.Plans = append(page.Plans, state)
		bytes, last = bytes+len(row.body), planPlace{row.created, row.n}
	}
	return page, nil
}

// planNumbers are the plans of a list behind a place, newest first.
func (e *Engine) planNumbers(f patterns.PlanFilter, from planPlace, most int) (list []int64, err error) {
	if e.file == nil {
		return e.planNumbersHere(f, from, most), nil
	}
	query, args := selectAllPlans, []any{from.created, from.created, from.n, f.Principal, f.Principal, f.Pattern, f.Pattern, most}
	if f.Principal != "" && f.Pattern != "" {
		query, args = selectMyPlans, []any{f.Principal, f.Pattern, from.created, from.created, from.n, most}
	}
	err = e.file.journal.view(func(s *session) error {
		return s.each(func(row func(...any) error) error {
			var n int64
			err := row(&n)
			list = append(list, n)
			return err
		}, query, args...)
	})
	return list, err
}

func (e *Engine) planNumbersHere(f patterns.PlanFilter, from planPlace, most int) (list []int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var rows []*planRow
	for _, r := range e.plans {
		behind := r.created < from.created || r.created == from.created && r.n < from.n
		if behind && (f.Principal == "" || f.Principal == r.principal) && (f.Pattern == "" || f.Pattern == r.pattern) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *planRow) int { return cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(b.n, a.n)) })
	for _, r := range rows[:min(most, len(rows))] {
		list = append(list, r.n)
	}
	return list
}

// cursor names the place in the list that it was made for, as that of runs does.
func (p planPlace) cursor(f patterns.PlanFilter) string {
	text := fmt.Sprintf("%d.%016x", p.created, uint64(p.n))
	sum := sha256.Sum256(fmt.Appendf(nil, "plans %s %q %q", text, f.Principal, f.Pattern))
	return base64.RawURLEncoding.EncodeToString([]byte(text + "." + hex.EncodeToString(sum[:6])))
}

func placeOfPlan(f patterns.PlanFilter) (planPlace, error) {
	if f.Cursor == "" {
		return planPlace{math.MaxInt64, math.MaxInt64}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	parts := strings.Split(string(text), ".")
	if err != nil || len(parts) != 3 {
		return planPlace{}, patterns.ErrCursor
	}
	created, err := strconv.ParseInt(parts[0], 10, 64)
	n, ok := planNumber("plan_" + parts[1])
	p := planPlace{created, n}
	if err != nil || !ok || p.cursor(f) != f.Cursor {
		return planPlace{}, patterns.ErrCursor
	}
	return p, nil
}
