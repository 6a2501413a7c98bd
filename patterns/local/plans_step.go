package local

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
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
// While a run is under another it is not taken up, whatever it waits for comes. Only who cancels it has it end at once: it
// then has the plan again, and the other's commit is a conflict.

// planRow is a stored plan's row. Times are microseconds since 1970; numbers of runs are 0 where there is none.
type planRow struct {
	n                  int64
	principal, pattern string
	version, revision  int
	created, changed   int64
	run, under         int64
	sum, body          []byte // the body only where it was asked for
	damage             error  // why the body could not be read, though the file can be
}

func (r *planRow) id() string { return planID(r.n) }

func planID(n int64) string { return fmt.Sprintf("plan_%016x", uint64(n)) }

// planNumber is a plan's number; false for what is no id.
func planNumber(id string) (int64, bool) {
	digits, ok := strings.CutPrefix(id, "plan_")
	if !ok || len(digits) != 16 || strings.ToLower(digits) != digits {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return int64(n), err == nil
}

// errPlanBody says that a plan's body is not what was stored.
var errPlanBody = errors.New("local: the plan's body is not what was stored")

// content is the decoded body. Only canonical text is one, so that a replay from the record reads the same.
func (r *planRow) content() (any, error) {
	if r.damage != nil {
		return nil, r.damage
	}
	if sum := sha256.Sum256(r.body); !bytes.Equal(sum[:], r.sum) {
		return nil, errPlanBody
	}
	v, err := journal.DecodeTrusted(r.body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPlanBody, err)
	}
	if !bytes.Equal(ijson.Canonical(v), r.body) {
		return nil, errPlanBody
	}
	plan, _ := v.(map[string]any)
	if plan["id"] != r.id() || plan["revision"] != float64(r.revision) { // of another row
		return nil, errPlanBody
	}
	return v, nil
}

// stands is how far a run is, for who wants its plan.
type stands int

const (
	runOver    stands = iota // ended, broken or pruned
	runRunning               // in some process's hands
	runReady                 // in nobody's, and it goes on
	runWaits                 // with all that it did stored with the plan
	runHalts                 // it waits in the middle of its work
)

// waitsAs is how a run that waits stands for who wants its plan. What it did is stored before it waits for its caller, and
// before a person is asked by the run itself; a branch that waits for somebody has done work that only its record has.
func waitsAs(kind patterns.WaitingKind, key string) stands {
	if kind == patterns.ForCaller || kind == patterns.ForApproval && !strings.Contains(key, "/") {
		return runWaits
	}
	return runHalts
}

// planTable is where plans are kept, seen at one time.
type planTable interface {
	// row is a plan's row without its body; nil: there is none.
	row(n int64) (*planRow, error)
	insert(r *planRow) error
	// hold stores who has claimed the plan, commit all of it that changes.
	hold(r *planRow) error
	commit(r *planRow) error
	stands(run int64) (stands, error)
	// end has a waiting run end, whose plan was changed by another.
	end(run, by int64) error
}

// planAct is a step that a run does.
type planAct struct {
	patterns.PlanStep
	n, run    int64
	principal string
	now       int64
}

// holder is the run that has claimed the plan, and how far it is. Of a second one that ended without a commit the plan is
// given back to the one beneath.
func holder(t planTable, r *planRow) (stands, error) {
	if r.run == 0 {
		return runOver, nil
	}
	s, err := t.stands(r.run)
	if err == nil && s == runOver && r.under != 0 {
		r.run, r.under = r.under, 0
		s, err = t.stands(r.run)
	}
	return s, err
}

// refuses is why a load gets no plan; "" where it does. whole says whether its body is what was stored.
func (a planAct) refuses(r *planRow, s stands, whole bool) string {
	others := a.Claim && r != nil && r.run != 0 && r.run != a.run
	switch {
	case r == nil, r.principal != a.principal, r.pattern != a.Pattern:
		return patterns.PlanNotFound
	case !whole, others && s == runOver:
		return patterns.PlanCorrupt
	case a.Expected != nil && *a.Expected != r.revision:
		return patterns.PlanConflict
	case others && (!a.Over || s != runWaits || r.under != 0):
		return patterns.PlanBusy
	}
	return ""
}

// claim claims a plan that was seen before; again says that it has changed since.
func (a planAct) claim(t planTable, seen *planRow) (reason string, again bool, err error) {
	r, err := t.row(a.n)
	if err != nil {
		return "", false, err
	}
	if r == nil || r.version != seen.version || !bytes.Equal(r.sum, seen.sum) {
		return "", true, nil
	}
	s, err := holder(t, r)
	if err != nil {
		return "", false, err
	}
	if reason := a.refuses(r, s, true); reason != "" || r.run == a.run {
		return reason, false, nil
	}
	r.run, r.under = a.run, r.run // nobody, or the one that waits
	return "", false, t.hold(r)
}

// change does what is no load. The reason is "" where it is done.
func (a planAct) change(t planTable) (reason string, err error) {
	if len(a.Content) > patterns.MaxPlanBytes {
		return patterns.ReasonRefused, nil
	}
	r, err := t.row(a.n)
	if err != nil {
		return "", err
	}
	if r != nil && (r.principal != a.principal || r.pattern != a.Pattern) {
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

func (a planAct) create(t planTable, r *planRow) (string, error) {
	sum := sha256.Sum256(a.Content)
	if r != nil {
		if r.run == a.run && r.version == 1 && bytes.Equal(r.sum, sum[:]) {
			return "", nil
		}
		return patterns.PlanConflict, nil
	}
	r = &planRow{
		n: a.n, principal: a.principal, pattern: a.Pattern, version: 1, revision: a.Revision, created: a.now, changed: a.now,
		sum: sum[:], body: a.Content,
	}
	if a.Keep {
		r.run = a.run
	}
	return "", t.insert(r)
}

func (a planAct) commit(t planTable, r *planRow) (string, error) {
	if r == nil || r.run != a.run || r.version != a.Version {
		return patterns.PlanConflict, nil
	}
	if r.under != 0 {
		s, err := t.stands(r.under)
		switch {
		case err != nil:
			return "", err
		case s == runRunning: // nothing takes it up, so somebody wrote the row
			return patterns.PlanConflict, nil
		case s != runOver:
			if err := t.end(r.under, a.run); err != nil {
				return "", err
			}
		}
	}
	sum := sha256.Sum256(a.Content)
	r.version, r.revision, r.changed, r.under = r.version+1, a.Revision, max(r.changed, a.now), 0
	r.sum, r.body = sum[:], a.Content
	if !a.Keep {
		r.run = 0
	}
	return "", t.commit(r)
}

func (a planAct) release(t planTable, r *planRow) error {
	switch {
	case r == nil, r.run != a.run && r.under != a.run:
		return nil
	case r.run == a.run && r.under != 0:
		s, err := t.stands(r.under)
		if err != nil {
			return err
		}
		if r.run, r.under = r.under, 0; s == runOver {
			r.run = 0
		}
	case r.run == a.run:
		r.run = 0
	default:
		r.under = 0
	}
	return t.hold(r)
}

// keeps says whether a run that is taken up still has a plan that it held: yes, not as long as another is over it, or never
// again. A plan that such another has left without a commit is its own again, and that of a canceled run is too.
func keeps(t planTable, n, run int64, canceled bool) (has, waits bool, err error) {
	r, err := t.row(n)
	if err != nil || r == nil {
		return false, false, err
	}
	over := r.under == run
	if _, err := holder(t, r); err != nil {
		return false, false, err
	}
	if r.under == run && canceled {
		r.run, r.under = run, 0
	}
	if over && r.run == run {
		err = t.hold(r)
	}
	return r.run == run, r.under == run, err
}
