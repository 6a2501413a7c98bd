package local

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/planclaims"
	"patterngate/patterns/store"
)

var _ patterns.Plans = (*Engine)(nil)

// Plan implements [patterns.Plans].
func (e *Engine) Plan(principal, pattern, id string) (patterns.PlanState, error) {
	return e.planOf(id, func(r *store.Plan) bool { return r.Principal == principal && (pattern == "" || r.Pattern == pattern) })
}

// maxLooks is how often a plan is read again if its run ends during the read.
const maxLooks = 3

// planOf returns a plan's present state. The error is [patterns.ErrNoPlan] if meant rejects the plan.
func (e *Engine) planOf(id string, meant func(*store.Plan) bool) (state patterns.PlanState, err error) {
	n, ok := journal.PlanNumber(id)
	if !ok {
		return state, patterns.ErrNoPlan
	}
	for range maxLooks {
		r, how, err := e.keeper().backing().Plans().At(n)
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

// stateOf converts a row to the state that is shown. settled is false if the holder ended in the meantime: the row has changed
// then.
func (e *Engine) stateOf(r *store.Plan, how planclaims.Stands) (state patterns.PlanState, settled bool, err error) {
	state = patterns.PlanState{Plan: patterns.StoredPlan{ID: journal.PlanID(r.N)}, Pattern: r.Pattern, Principal: r.Principal}
	v, err := planclaims.Content(r)
	if err != nil {
		return state, true, patterns.ErrPlanCorrupt
	}
	plan, err := patterns.ReadPlan(v)
	if err != nil {
		return state, true, patterns.ErrPlanCorrupt
	}
	state.Plan = plan
	if r.Run == 0 {
		return state, true, nil
	}
	state.Holder, state.State = journal.RunID(r.Run), patterns.Over
	s, known := e.Run(r.Principal, state.Holder)
	if known {
		state.Verb, state.Arguments, state.Spec = verbOf(s.Pattern, r.Pattern), s.Arguments, s.Spec
	}
	if how == planclaims.Over {
		return state, true, nil
	}
	if !known || s.State == patterns.Over {
		return state, false, nil
	}
	state.State, state.Waiting = s.State, s.Ended.Waiting
	if result, ok := e.shownOf(r.Principal, state.Holder); ok {
		state.Result = &result
	}
	return state, true, nil
}

// verbOf returns which of a pattern's tools a name is; "" for none.
func verbOf(tool, pattern string) patterns.PlanVerb {
	name, _ := strings.CutPrefix(tool, pattern+"_")
	for _, verb := range []patterns.PlanVerb{patterns.DecomposeVerb, patterns.ExecuteVerb, patterns.ReplanVerb} {
		if name == string(verb) {
			return verb
		}
	}
	return ""
}

// maxPlanRows is the maximum number of plans on a page, and maxPageBytes about their maximum size together.
const (
	maxPlanRows  = 100
	maxPageBytes = 16 << 20
)

// planPlace is a place in a list of plans: the page begins after this plan.
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
		var row store.Plan
		state, err := e.planOf(journal.PlanID(n), func(r *store.Plan) bool { row = *r; return true })
		switch {
		case errors.Is(err, patterns.ErrNoPlan): // it was removed in the meantime
			continue
		case err != nil && !errors.Is(err, patterns.ErrPlanCorrupt):
			return patterns.PlanPage{}, err
		}
		page.Plans = append(page.Plans, state)
		bytes, last = bytes+len(row.Body), planPlace{row.Created, row.N}
	}
	return page, nil
}

// planNumbers returns the plans of a list after a place, newest first.
func (e *Engine) planNumbers(f patterns.PlanFilter, from planPlace, most int) (list []int64, err error) {
	err = e.state().View(func(s store.Reader) error {
		list, err = s.Plans(store.PlanPage{Principal: f.Principal, Pattern: f.Pattern, Created: from.created, N: from.n, Most: most})
		return err
	})
	return list, err
}

// cursor encodes a place as text, like the cursor of a list of runs.
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
	n, ok := journal.PlanNumber("plan_" + parts[1])
	p := planPlace{created, n}
	if err != nil || !ok || p.cursor(f) != f.Cursor {
		return planPlace{}, patterns.ErrCursor
	}
	return p, nil
}

// shownOf returns what a run that runs or waits shows now. It rehearses what is recorded so far. It does not see effects in
// progress, or what a body did since its newest outcome was recorded.
//
// It returns false if the principal has no such run, if the run shows nothing, or if its record cannot be replayed here. It is safe
// while the run continues, here or in another process. It waits for the store, so a change or a view of the store must not call it.
// It costs as much as reading the record and running the code over it.
func (e *Engine) shownOf(principal, runID string) (patterns.Result, bool) {
	d, err := e.keeper().rehearsed(principal, runID)
	if err != nil {
		return patterns.Result{}, false
	}
	result, ok, fault := d.Shown()
	if fault != nil {
		e.report(runID, "", fault)
	}
	return result, ok
}

// rehearsed rehearses a run of the file. It first writes what a life in this process has not written yet.
func (f *file) rehearsed(principal, runID string) (*execution.Rehearsal, error) {
	n, ok := journal.RunNumber(runID)
	if !ok {
		return nil, patterns.ErrNoRun
	}
	here := f.life(runID)
	if here != nil && here.Job.Principal != principal {
		return nil, patterns.ErrNoRun
	}
	if here != nil {
		if err := here.life.Flush(); err != nil {
			return nil, err
		}
	}
	r, stored, err := f.read(n)
	if err != nil {
		return nil, err
	}
	if r == nil || r.Principal != principal {
		return nil, patterns.ErrNoRun
	}
	if here == nil {
		l, err := f.load(r, stored)
		if err != nil {
			return nil, err
		}
		return l.dry, nil
	}
	open, _, _, err := f.reveal(n, stored)
	if err != nil {
		return nil, err
	}
	events, err := execution.Decode(open)
	if err != nil {
		return nil, err
	}
	return here.Rehearse(execution.Remember(events))
}
