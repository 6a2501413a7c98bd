package store

// Plan is a stored plan's row. Run has claimed the plan, and Under waits beneath Run until Run gives the plan back; 0: none.
type Plan struct {
	N                  int64
	Principal, Pattern string
	Version, Revision  int
	Created, Changed   int64
	Run, Under         int64
	Sum, Body          []byte // the body only if it was asked for
	Damage             error  // why the body could not be read, though the store can be read
}

// PlanIs holds if a plan's row stands as given: its version, holders and the hash of its body. Missing: there is none.
type PlanIs struct {
	N          int64
	Version    int
	Run, Under int64
	Sum        []byte
	Missing    bool
}

// AddPlan stores a new plan. It does not hold if the plan is there.
type AddPlan struct{ Plan Plan }

// HoldPlan stores who has claimed a plan. It always holds.
type HoldPlan struct{ N, Run, Under int64 }

// SetPlan stores a new version of a plan. It always holds.
type SetPlan struct{ Plan Plan }

func (PlanIs) step()   {}
func (AddPlan) step()  {}
func (HoldPlan) step() {}
func (SetPlan) step()  {}
