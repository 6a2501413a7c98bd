package local

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// A stored plan belongs to at most one run at a time:
//
//	free ──load with claim──▶ run ──commit, release──▶ free
//	                           │ it waits, and another loads it over it
//	                           ▼
//	              run: the other, under: the waiting one ──release, or the other ends without a commit──▶ run: the waiting one
//	                           │ commit
//	                           └──▶ the waiting one has lost it and is cancelled in the same transaction
//
// While a run is under another, no process takes it, whatever happens to what it waits for. Only a cancellation ends it at once. It
// then has the plan again, and the other's commit is a conflict.

// errPlanBody is returned if a plan's body is not what was stored.
var errPlanBody = errors.New("local: the plan's body is not what was stored")

// contentOf returns the decoded body. It accepts only canonical text, so that a replay from the record reads the same.
func contentOf(r *store.Plan) (any, error) {
	if r.Damage != nil {
		return nil, r.Damage
	}
	if sum := sha256.Sum256(r.Body); !bytes.Equal(sum[:], r.Sum) {
		return nil, errPlanBody
	}
	v, err := journal.DecodeTrusted(r.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPlanBody, err)
	}
	if !bytes.Equal(ijson.Canonical(v), r.Body) {
		return nil, errPlanBody
	}
	plan, _ := v.(map[string]any)
	if plan["id"] != journal.PlanID(r.N) || plan["revision"] != float64(r.Revision) { // the body belongs to another row
		return nil, errPlanBody
	}
	return v, nil
}

// stands is the state of a run, for another run that wants its plan.
type stands int

const (
	runOver    stands = iota // ended, broken or pruned
	runRunning               // in some process
	runReady                 // in no process, and it can continue
	runWaits                 // all that it did is stored with the plan
	runHalts                 // it waits in the middle of its work
)

// waitsAs returns the state of a waiting run for another run that wants its plan. A run stores its work before it waits for its
// caller, and before the run itself asks a person. A branch that waits has work that only the record holds.
func waitsAs(kind patterns.WaitingKind, key string) stands {
	if kind == patterns.ForCaller || kind == patterns.ForApproval && !strings.Contains(key, "/") {
		return runWaits
	}
	return runHalts
}

// planTable is where plans are stored, seen at one time.
type planTable interface {
	// row returns a plan's row without its body; nil: there is no such plan.
	row(n int64) (*store.Plan, error)
	insert(r *store.Plan) error
	// hold stores who has claimed the plan, commit stores all that can change in it.
	hold(r *store.Plan) error
	commit(r *store.Plan) error
	stands(run int64) (stands, error)
	// end cancels a waiting run whose plan another run changed.
	end(run, by int64) error
}

// planAct is a plan step of one run.
type planAct struct {
	patterns.PlanStep
	n, run    int64
	principal string
	now       int64
}

// holder returns the state of the run that has claimed the plan. If that run has ended without a commit over a waiting run, holder
// changes r: the plan belongs to the waiting run again.
func holder(t planTable, r *store.Plan) (stands, error) {
	if r.Run == 0 {
		return runOver, nil
	}
	s, err := t.stands(r.Run)
	if err == nil && s == runOver && r.Under != 0 {
		r.Run, r.Under = r.Under, 0
		s, err = t.stands(r.Run)
	}
	return s, err
}

// refuses returns why a load does not get a plan; "" if it does. whole says whether the plan's body is what was stored.
func (a planAct) refuses(r *store.Plan, s stands, whole bool) string {
	others := a.Claim && r != nil && r.Run != 0 && r.Run != a.run
	switch {
	case r == nil, r.Principal != a.principal, r.Pattern != a.Pattern:
		return patterns.PlanNotFound
	case !whole, others && s == runOver:
		return patterns.PlanCorrupt
	case a.Expected != nil && *a.Expected != r.Revision:
		return patterns.PlanConflict
	case others && (!a.Over || s != runWaits || r.Under != 0):
		return patterns.PlanBusy
	}
	return ""
}

// claim claims a plan that was read before. again is true if the plan has changed since.
func (a planAct) claim(t planTable, seen *store.Plan) (reason string, again bool, err error) {
	r, err := t.row(a.n)
	if err != nil {
		return "", false, err
	}
	if r == nil || r.Version != seen.Version || !bytes.Equal(r.Sum, seen.Sum) {
		return "", true, nil
	}
	s, err := holder(t, r)
	if err != nil {
		return "", false, err
	}
	if reason := a.refuses(r, s, true); reason != "" || r.Run == a.run {
		return reason, false, nil
	}
	r.Run, r.Under = a.run, r.Run // the previous holder, if any, waits under this run
	return "", false, t.hold(r)
}

// change performs a step that is not a load. The reason is "" if it is done.
func (a planAct) change(t planTable) (reason string, err error) {
	if len(a.Content) > patterns.MaxPlanBytes {
		return patterns.ReasonRefused, nil
	}
	r, err := t.row(a.n)
	if err != nil {
		return "", err
	}
	if r != nil && (r.Principal != a.principal || r.Pattern != a.Pattern) {
		r = nil
		if a.Op == patterns.CreateOp {
			return patterns.PlanConflict, nil
		}
	}
	switch a.Op {
	case patterns.CreateOp:
		return a.create(t, r)
	case patterns.CommitOp:
		return a.commit(t, r)
	case patterns.ReleaseOp:
		return "", a.release(t, r)
	}
	return patterns.ReasonRefused, nil
}

func (a planAct) create(t planTable, r *store.Plan) (string, error) {
	sum := sha256.Sum256(a.Content)
	if r != nil {
		if r.Run == a.run && r.Version == 1 && bytes.Equal(r.Sum, sum[:]) {
			return "", nil
		}
		return patterns.PlanConflict, nil
	}
	r = &store.Plan{
		N: a.n, Principal: a.principal, Pattern: a.Pattern, Version: 1, Revision: a.Revision, Created: a.now, Changed: a.now,
		Sum: sum[:], Body: a.Content,
	}
	if a.Keep {
		r.Run = a.run
	}
	return "", t.insert(r)
}

func (a planAct) commit(t planTable, r *store.Plan) (string, error) {
	if r == nil || r.Run != a.run || r.Version != a.Version {
		return patterns.PlanConflict, nil
	}
	if r.Under != 0 {
		s, err := t.stands(r.Under)
		switch {
		case err != nil:
			return "", err
		case s == runRunning: // no process takes such a run, so another program changed the row
			return patterns.PlanConflict, nil
		case s != runOver:
			if err := t.end(r.Under, a.run); err != nil {
				return "", err
			}
		}
	}
	sum := sha256.Sum256(a.Content)
	r.Version, r.Revision, r.Changed, r.Under = r.Version+1, a.Revision, max(r.Changed, a.now), 0
	r.Sum, r.Body = sum[:], a.Content
	if !a.Keep {
		r.Run = 0
	}
	return "", t.commit(r)
}

func (a planAct) release(t planTable, r *store.Plan) error {
	switch {
	case r == nil, r.Run != a.run && r.Under != a.run:
		return nil
	case r.Run == a.run && r.Under != 0:
		s, err := t.stands(r.Under)
		if err != nil {
			return err
		}
		if r.Run, r.Under = r.Under, 0; s == runOver {
			r.Run = 0
		}
	case r.Run == a.run:
		r.Run = 0
	default:
		r.Under = 0
	}
	return t.hold(r)
}

// keeps reports whether a run that is about to be taken still has a plan that it held. If the plan is lost, has and waits are false.
// While another run has the plan over this one, waits is true. The run has the plan again if that other ended without a commit, or
// if the run itself is canceled.
func keeps(t planTable, n, run int64, canceled bool) (has, waits bool, err error) {
	r, err := t.row(n)
	if err != nil || r == nil {
		return false, false, err
	}
	over := r.Under == run
	if _, err := holder(t, r); err != nil {
		return false, false, err
	}
	if r.Under == run && canceled {
		r.Run, r.Under = run, 0
	}
	if over && r.Run == run {
		err = t.hold(r)
	}
	return r.Run == run, r.Under == run, err
}
