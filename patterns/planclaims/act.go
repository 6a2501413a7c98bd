package planclaims

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

// errBody is returned if a plan's body is not what was stored.
var errBody = errors.New("local: the plan's body is not what was stored")

// Content returns the decoded body. It accepts only canonical text, so that a replay from the record reads the same.
func Content(r *store.Plan) (any, error) {
	if r.Damage != nil {
		return nil, r.Damage
	}
	if sum := sha256.Sum256(r.Body); !bytes.Equal(sum[:], r.Sum) {
		return nil, errBody
	}
	v, err := journal.DecodeTrusted(r.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBody, err)
	}
	if !bytes.Equal(ijson.Canonical(v), r.Body) {
		return nil, errBody
	}
	plan, _ := v.(map[string]any)
	if plan["id"] != journal.PlanID(r.N) || plan["revision"] != float64(r.Revision) { // the body belongs to another row
		return nil, errBody
	}
	return v, nil
}

// Stands is the state of a run, for another run that wants its plan.
type Stands int

// The states of a run that holds a plan.
const (
	Over    Stands = iota // ended, broken or pruned
	running               // in some process
	ready                 // in no process, and it can continue
	waits                 // all that it did is stored with the plan
	halts                 // it waits in the middle of its work
)

// waitsAs returns the state of a waiting run for another run that wants its plan. A run stores its work before it waits for its
// caller, and before the run itself asks a person. A branch that waits has work that only the record holds.
func waitsAs(kind patterns.WaitingKind, key string) Stands {
	if kind == patterns.ForCaller || kind == patterns.ForApproval && !strings.Contains(key, "/") {
		return waits
	}
	return halts
}

// Act is a step that one run takes on a stored plan.
type Act struct {
	patterns.PlanStep
	N, Run    int64 // the plan and the run, by their numbers
	Principal string
	Now       int64 // microseconds since 1970
}

// holder returns the state of the run that has claimed the plan. If that run has ended without a commit over a waiting run, holder
// changes r: the plan belongs to the waiting run again.
func holder(t *table, r *store.Plan) (Stands, error) {
	if r.Run == 0 {
		return Over, nil
	}
	s, err := t.stands(r.Run)
	if err == nil && s == Over && r.Under != 0 {
		r.Run, r.Under = r.Under, 0
		s, err = t.stands(r.Run)
	}
	return s, err
}

// Refuses returns why a load does not get a plan; "" if it does. whole says whether the plan's body is what was stored.
func (a Act) Refuses(r *store.Plan, s Stands, whole bool) string {
	others := a.Claim && r != nil && r.Run != 0 && r.Run != a.Run
	switch {
	case r == nil, r.Principal != a.Principal, r.Pattern != a.Pattern:
		return patterns.PlanNotFound
	case !whole, others && s == Over:
		return patterns.PlanCorrupt
	case a.Expected != nil && *a.Expected != r.Revision:
		return patterns.PlanConflict
	case others && (!a.Over || s != waits || r.Under != 0):
		return patterns.PlanBusy
	}
	return ""
}

// claim claims a plan that was read before. again is true if the plan has changed since.
func (a Act) claim(t *table, seen *store.Plan) (reason string, again bool, err error) {
	r, err := t.row(a.N)
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
	if reason := a.Refuses(r, s, true); reason != "" || r.Run == a.Run {
		return reason, false, nil
	}
	r.Run, r.Under = a.Run, r.Run // the previous holder, if any, waits under this run
	return "", false, t.hold(r)
}

// change performs a step that is not a load. The reason is "" if it is done.
func (a Act) change(t *table) (reason string, err error) {
	if len(a.Content) > patterns.MaxPlanBytes {
		return patterns.ReasonRefused, nil
	}
	r, err := t.row(a.N)
	if err != nil {
		return "", err
	}
	if r != nil && (r.Principal != a.Principal || r.Pattern != a.Pattern) {
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

func (a Act) create(t *table, r *store.Plan) (string, error) {
	sum := sha256.Sum256(a.Content)
	if r != nil {
		if r.Run == a.Run && r.Version == 1 && bytes.Equal(r.Sum, sum[:]) {
			return "", nil
		}
		return patterns.PlanConflict, nil
	}
	r = &store.Plan{
		N: a.N, Principal: a.Principal, Pattern: a.Pattern, Version: 1, Revision: a.Revision, Created: a.Now, Changed: a.Now,
		Sum: sum[:], Body: a.Content,
	}
	if a.Keep {
		r.Run = a.Run
	}
	return "", t.insert(r)
}

func (a Act) commit(t *table, r *store.Plan) (string, error) {
	if r == nil || r.Run != a.Run || r.Version != a.Version {
		return patterns.PlanConflict, nil
	}
	if r.Under != 0 {
		s, err := t.stands(r.Under)
		switch {
		case err != nil:
			return "", err
		case s == running: // no process takes such a run, so another program changed the row
			return patterns.PlanConflict, nil
		case s != Over:
			if err := t.end(r.Under, a.Run); err != nil {
				return "", err
			}
		}
	}
	sum := sha256.Sum256(a.Content)
	r.Version, r.Revision, r.Changed, r.Under = r.Version+1, a.Revision, max(r.Changed, a.Now), 0
	r.Sum, r.Body = sum[:], a.Content
	if !a.Keep {
		r.Run = 0
	}
	return "", t.commit(r)
}

func (a Act) release(t *table, r *store.Plan) error {
	switch {
	case r == nil, r.Run != a.Run && r.Under != a.Run:
		return nil
	case r.Run == a.Run && r.Under != 0:
		s, err := t.stands(r.Under)
		if err != nil {
			return err
		}
		if r.Run, r.Under = r.Under, 0; s == Over {
			r.Run = 0
		}
	case r.Run == a.Run:
		r.Run = 0
	default:
		r.Under = 0
	}
	return t.hold(r)
}

// keeps reports whether a run that is about to be taken still has a plan that it held. If the plan is lost, has and waits are false.
// While another run has the plan over this one, waits is true. The run has the plan again if that other ended without a commit, or
// if the run itself is canceled.
func keeps(t *table, n, run int64, canceled bool) (has, waits bool, err error) {
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
