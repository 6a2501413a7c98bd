package store

// Plan is the row of a stored plan. Run is the run that has claimed the plan; 0: none. Under is the run that waits
// until Run releases the plan; 0: none.
type Plan struct {
	N                  int64
	Principal, Pattern string
	Version, Revision  int
	Created, Changed   int64
	Run, Under         int64
	Sum, Body          []byte // Body is read only on request
	Damage             error  // the reason why the body could not be read, although the store can be read
}

// PlanIs holds if a plan's row has these values: its version, holders and the hash of its body. If Missing is set, it
// holds if the plan does not exist.
type PlanIs struct {
	N          int64
	Version    int
	Run, Under int64
	Sum        []byte
	Missing    bool
}

// AddPlan stores a new plan. It does not hold if the plan exists.
type AddPlan struct{ Plan Plan }

// HoldPlan stores which run has claimed a plan. It always holds.
type HoldPlan struct{ N, Run, Under int64 }

// SetPlan stores a new version of a plan. It always holds.
type SetPlan struct{ Plan Plan }

func (PlanIs) step()   {}
func (AddPlan) step()  {}
func (HoldPlan) step() {}
func (SetPlan) step()  {}
