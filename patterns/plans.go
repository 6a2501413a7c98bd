package patterns

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"patterngate/ijson"
)

// Plans is what an engine knows of stored plans. A plan is the matter of one principal and of the pattern that made it; for
// others it does not exist. Runs read and change plans through [Run] alone, see [LoadPlan], [CreatePlan] and [CommitPlan].
// It is safe for concurrent use.
type Plans interface {
	// Plan is a plan as it stands, also while a run works on it. pattern is the name under which it was made (see
	// [Spec.Plans]); "" is any. Its error is [ErrNoPlan], [ErrPlanCorrupt] (with what is known: the id) or the journal's.
	Plan(principal, pattern, id string) (PlanState, error)
	// ListPlans is a page of plans, newest first. A damaged one is there with its id alone: its revision is 0. Its error is
	// [ErrCursor] or the journal's.
	ListPlans(PlanFilter) (PlanPage, error)
}

// PlanState is a plan as it stands.
type PlanState struct {
	Plan      StoredPlan
	Pattern   string // under which it was made
	Principal string
	Holder    string   // the run that has claimed it; "" none
	Verb      PlanVerb // of the holder
	State     RunState // of the holder: Running or Parked; Over where it ended without giving the plan back
	Waiting   *Waiting // of a parked holder
	// Result is the holder's as it stands, with Result.Planned; nil where there is no holder, or it cannot be told.
	Result    *Result
	Arguments map[string]any // of the holder's call
	Spec      Spec           // of the holder's run; zero where this process cannot make it again
}

// PlanFilter says which plans are listed.
type PlanFilter struct {
	Principal, Pattern string // "": all, for the owner of the state
	Limit              int    // of rows; 0: 20
	Cursor             string // of the page before; opaque
}

// PlanPage is some plans of a list.
type PlanPage struct {
	Plans []PlanState
	Next  string // the cursor of the next page; "" on the last
}

// ErrNoPlan is returned for a plan that the principal does not have.
var ErrNoPlan = errors.New("patterns: no such plan")

// ErrPlanCorrupt is returned for a plan whose stored form is damaged, or whose run ended without giving it back.
var ErrPlanCorrupt = errors.New("patterns: the stored plan is damaged")

// The reasons of failed plan effects; stop reasons too.
const (
	PlanNotFound = "plan_not_found"
	PlanCorrupt  = "plan_corrupt"
	PlanConflict = "plan_conflict"
	PlanBusy     = "plan_busy"
)

// PlanStep is an effect on a stored plan. All are repeatable, and are done even of a run that was taken back or whose
// time is over, so that no plan stays claimed:
//
//	load    reads the plan and claims it for the run, if Claim says so and nobody else has it
//	create  stores a new one under an id that the run chose; claimed if Keep
//	commit  stores a changed one, if nobody changed it since it was loaded (Version); released unless Keep
//	release gives the claim back and changes nothing
type PlanStep struct {
	Op      PlanOp
	Plan    string // id
	Pattern string // the name under which it is made and found

	// Expected is the revision that it must have; nil: any. Claim asks for the plan for this run; Over also where the run
	// that has it waits with all that it did stored: for its caller, or for a person who approves the plan whole. That run
	// has the plan again if this one gives it back; with the commit it has lost it for good.
	Expected    *int
	Claim, Over bool

	// Of create and commit.
	Content  json.RawMessage // [StoredPlan.Encode]; not part of the effect's input, whose hash stands for it
	Revision int             // of Content
	Version  int             // of the plan that the change stands on, as load said
	Keep     bool            // the run has the plan after it
}

// PlanOp names what is done to a stored plan.
type PlanOp string

// The operations on a stored plan.
const (
	LoadOp    PlanOp = "load"
	CreateOp  PlanOp = "create"
	CommitOp  PlanOp = "commit"
	ReleaseOp PlanOp = "release"
)

// input is the step in canonical form: what is recorded and compared. The content goes in by its hash.
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
