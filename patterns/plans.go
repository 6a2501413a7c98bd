package patterns

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"patterngate/ijson"
)

// Plans gives access to an engine's stored plans. A plan belongs to one principal and to the pattern that made it; for others it does
// not exist. Runs read and change plans only through [Run], see [LoadOp], [CreateOp] and [CommitOp]. It is safe for concurrent use.
type Plans interface {
	// Plan returns a plan in its current state, also while a run works on it. The plan must have been made under the name pattern (see
	// [Spec.Plans]); "" matches any. The error is [ErrNoPlan], [ErrPlanCorrupt] (the state then holds the id) or the journal's.
	Plan(principal, pattern, id string) (PlanState, error)
	// ListPlans returns a page of plans, newest first. A damaged plan is listed with its id alone and revision 0. The error is
	// [ErrCursor] or the journal's.
	ListPlans(PlanFilter) (PlanPage, error)
}

// PlanState is the current state of a plan.
type PlanState struct {
	Plan      StoredPlan
	Pattern   string // the name under which it was made
	Principal string
	Holder    string   // the run that has claimed it; "" for none
	Verb      PlanVerb // of the holder
	State     RunState // of the holder: Running or Parked; Over if it ended without releasing the plan
	Waiting   *Waiting // of a waiting holder
	// Result is the holder's result so far, with Result.Planned; nil if there is no holder or the result is not available.
	Result    *Result
	Arguments map[string]any // of the holder's call
	Spec      Spec           // of the holder's run; zero if this process cannot make it again
}

// PlanFilter says which plans are listed.
type PlanFilter struct {
	Principal, Pattern string // "": all, for the owner of the state file
	Limit              int    // of rows; 0: 20
	Cursor             string // of the page before; opaque
}

// PlanPage is one page of a list of plans.
type PlanPage struct {
	Plans []PlanState
	Next  string // the cursor of the next page; "" on the last
}

// ErrNoPlan is returned for a plan that the principal does not have.
var ErrNoPlan = errors.New("patterns: no such plan")

// ErrPlanCorrupt is returned for a plan whose stored form is damaged, or whose run ended without releasing it.
var ErrPlanCorrupt = errors.New("patterns: the stored plan is damaged")

// These are the reasons of failed plan effects; they are stop reasons too.
const (
	PlanNotFound = "plan_not_found"
	PlanCorrupt  = "plan_corrupt"
	PlanConflict = "plan_conflict"
	PlanBusy     = "plan_busy"
)

// PlanStep is an effect on a stored plan. All operations are repeatable. They are performed even for a run that was cancelled or is
// past its deadline, so that no plan stays claimed:
//
//	load    reads the plan; if Claim is set and no other run has the plan, claims it for the run
//	create  stores a new plan under an id that the run chose; claims it if Keep is set
//	commit  stores a changed plan, if it was not changed since the load (Version); releases it unless Keep is set
//	release releases the plan and changes nothing
type PlanStep struct {
	Op      PlanOp
	Plan    string // id
	Pattern string // the name under which it is made and found

	// Expected is the revision that the plan must have; nil: any. Claim claims the plan for this run. Over also claims it from a run
	// that waits and has stored everything that it did. Such a run waits for its caller, or for the approval of the whole plan.
	// If this run releases the plan, the waiting run has it again; if this run commits, the waiting run loses it for good.
	Expected    *int
	Claim, Over bool

	// For create and commit:
	Content  json.RawMessage // [StoredPlan.Encode]; the effect's input has only its hash
	Revision int             // of Content
	Version  int             // the version that the change is based on, from load
	Keep     bool            // the run keeps the plan after it
}

// PlanOp names an operation on a stored plan.
type PlanOp string

// The operations on a stored plan.
const (
	LoadOp    PlanOp = "load"
	CreateOp  PlanOp = "create"
	CommitOp  PlanOp = "commit"
	ReleaseOp PlanOp = "release"
)

// input returns the step in canonical form, for recording and comparison. It holds the hash of the content.
func (s PlanStep) input() json.RawMessage {
	v := map[string]any{"plan_id": s.Plan, "pattern": s.Pattern}
	switch s.Op {
	case LoadOp:
		v["claim"], v["over"] = s.Claim, s.Over
		if s.Expected != nil {
			v["expected_revision"] = float64(*s.Expected)
		}
	case CreateOp, CommitOp:
		sum := sha256.Sum256(s.Content)
		v["sha256"], v["revision"], v["keep"] = hex.EncodeToString(sum[:]), float64(s.Revision), s.Keep
		if s.Op == CommitOp {
			v["version"] = float64(s.Version)
		}
	}
	return ijson.Canonical(v)
}
