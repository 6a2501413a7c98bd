package store

import (
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Begin stores a new run. It does not hold in these cases:
//
//   - The run exists.
//   - Its parent does not run under the given epoch. Then the error is [ErrFenced].
//   - The run must join a run that an equal call began, see [Equal]. Then [Refused.Joined] is that run.
type Begin struct {
	N                   int64
	Pattern, Kind       string
	Principal, Client   string
	Config              string // hash
	Began, Newest       int64  // the start, and the time of the newest added event
	Owner               string
	Equal               *Equal // nil: never joins a run
	Parent, ParentEpoch int64  // the parent of a child run; 0: none
	Configs             []Config
}

// Equal says which earlier run a call joins instead of beginning one. Only the newest run with the same Request counts.
//
//   - With ByKey, the call joins it. If that run has other Args, Begin does not hold and [Refused.Joined] is 0.
//   - Without ByKey, the call joins an unfinished run. It joins an ended run if the result was not delivered and
//     the run ended after Since.
//   - Without ByKey, a call that names a Plan does not join if the plan is no longer in the state that the run uses
//     or left. There are three cases: the run was cancelled and has lost the plan, the run ended with one of
//     Outdated, or the plan changed after the run's end.
type Equal struct {
	Request, Args []byte
	ByKey         bool
	Since         int64
	Plan          int64    // number; 0: the call names none
	Outdated      []string // stop reasons
}

// Config is a configuration with its hash. Adding one that exists is no error.
type Config struct {
	Hash string
	Body []byte
}

// AddConfigs stores configurations. It always holds.
type AddConfigs []Config

// Head is the end of a run's record: the number of events, and the hash and time of the newest one.
type Head struct {
	Events int64
	Hash   []byte
	Newest int64
}

// SetLength stores the length of a record, so that missing events at its end are noticed. It always holds. If Resting
// is set, it changes only a run that waits or has ended.
type SetLength struct {
	N int64
	Head
	Resting bool
}

// Park makes a run wait. It always holds. The new state is ready instead of parked in three cases: the run was
// cancelled, one of Questions was answered, or one of Children has changed.
type Park struct {
	N int64
	Head
	Wake, Expires  int64
	Kind, Key      string // why it waits, and the key of the effect
	Turn           int
	Phase, Summary string
	Questions      []int64 // approvals
	Children       []Standing
}

// Standing is the state of a run at one moment. State is "" if the run does not exist.
type Standing struct {
	N, Epoch int64
	State    string
}

// End ends a run. It always holds.
type End struct {
	N int64
	Head
	Ended                              int64
	Status, StopReason, Phase, Summary string
}

// Take makes a process the owner of a run under the next epoch. If Owner is "", the run has no owner then. It holds if
// the run has the given epoch, state and Canceled.
type Take struct {
	N, Epoch int64
	State    string
	Canceled bool
	Owner    string
}

// GiveUp makes a run ready that Owner has under Epoch. It always holds. It does nothing if the run has another owner or
// epoch.
type GiveUp struct {
	N, Epoch int64
	Owner    string
}

// Release makes all runs of an owner ready. It always holds.
type Release struct{ Owner string }

// Seize takes a running run from its owner. If Owner is "", the run becomes ready. Otherwise Owner becomes its owner.
// It holds if the run is running.
type Seize struct {
	N     int64
	Owner string
}

// Recall notes that a running run must be cancelled. It holds if the run is running.
type Recall struct{ N int64 }

// CancelResting notes that a ready or waiting run must be cancelled, and makes it ready. It holds if the run is in such
// a state under Epoch and was not cancelled before.
type CancelResting struct{ N, Epoch int64 }

// DropChildren cancels the unfinished child runs of a run. It always holds.
type DropChildren struct{ Parent int64 }

// DropChild cancels one child run, if it is unfinished. It always holds.
type DropChild struct{ N, Parent int64 }

// DropOrphans cancels child runs whose parents have ended. It always holds.
type DropOrphans struct{}

// Wake makes a waiting run ready. It always holds. It does nothing if the run does not wait.
type Wake struct{ N int64 }

// Settle makes a waiting run ready, after the events of the change have settled its unknown outcome. It holds if the
// run waits under Epoch.
type Settle struct {
	N, Epoch int64
	Head
}

// Noted stores the length of a waiting run's record under the next epoch, after an event was added. It holds if the run
// waits under Epoch.
type Noted struct {
	N, Epoch int64
	Head
}

// AddEvent adds one event to the record of a run that no process owns. It holds if the record ends directly before the
// event.
type AddEvent struct {
	N     int64
	Event patterns.Event
}

// Lack notes that a ready run lacks something. It always holds. It does nothing if the run is not ready under Epoch.
type Lack struct{ N, Epoch int64 }

// Break ends a run whose record is damaged. It always holds.
type Break struct {
	N, Ended int64
	Summary  string
}

// Deliver notes that the result of a run was delivered to its principal. It always holds.
type Deliver struct {
	N         int64
	Principal string
}

// Bury deletes a run and keeps its tombstone. It keeps none if RunID is "". It always holds.
type Bury struct {
	N                              int64
	RunID                          string
	Pattern, Principal, StopReason string
	Began, Ended                   int64
	Head
}

// HiddenValue is a value for which the record has only a hash.
type HiddenValue struct{ Hash, Value []byte }

// AddHidden stores values that the record of a run hides. It always holds.
type AddHidden struct {
	N      int64
	Values []HiddenValue
}

// DropHidden deletes the hidden values of the ended child runs below a run. If Itself is set, it also deletes those of
// the run. It does nothing while the parent of the run is unfinished. It always holds.
type DropHidden struct {
	N, Parent int64
	Itself    bool
}

// DropHiddenOf deletes the hidden values of a run with a damaged record. If Below is set, it also deletes those of its
// ended child runs. It does not hold if the table is damaged too.
type DropHiddenOf struct {
	N     int64
	Below bool
}

// RunIs holds if a run has this state, kind of wait, and key of the waiting effect. If the run does not exist, all
// three are "".
type RunIs struct {
	N                int64
	State, Kind, Key string
}

// Row is a run's row.
type Row struct {
	N                                  int64
	Pattern, Principal, Client, Config string
	Began                              int64
	State, Owner                       string
	Epoch, Wake                        int64
	Canceled                           bool
	Length                             int64
	Head                               []byte
	WaitingKind                        string
	Turn                               int
	WaitsKey                           string
	Expires, Ended                     int64
	Status, StopReason, Phase, Summary string
	Parent                             int64 // 0: no call of another run began it

	Damage error // the reason why its whole record could not be read, although the store can be read
}

func (Begin) step()         {}
func (AddConfigs) step()    {}
func (SetLength) step()     {}
func (Park) step()          {}
func (End) step()           {}
func (Take) step()          {}
func (GiveUp) step()        {}
func (Release) step()       {}
func (Seize) step()         {}
func (Recall) step()        {}
func (CancelResting) step() {}
func (DropChildren) step()  {}
func (DropChild) step()     {}
func (DropOrphans) step()   {}
func (Wake) step()          {}
func (Settle) step()        {}
func (Noted) step()         {}
func (AddEvent) step()      {}
func (Lack) step()          {}
func (Break) step()         {}
func (Deliver) step()       {}
func (Bury) step()          {}
func (AddHidden) step()     {}
func (DropHidden) step()    {}
func (DropHiddenOf) step()  {}
func (RunIs) step()         {}

// ID returns the run's id.
func (r *Row) ID() string { return journal.RunID(r.N) }
