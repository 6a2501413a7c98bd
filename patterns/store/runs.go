package store

import (
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Begin enters a new run. It does not hold if the run is there already, if its parent does not run under the given epoch (then the error
// is [ErrFenced]), or if the run must join one that an equal call began: see Equal. Then [Refused.Joined] is that run.
type Begin struct {
	N                   int64
	Pattern, Kind       string
	Principal, Client   string
	Config              string // hash
	Began, Newest       int64  // the start, and the newest event that is added
	Owner               string
	Equal               *Equal // nil: the call equals none
	Parent, ParentEpoch int64  // of a child run; 0: none
	Configs             []Config
}

// Equal says which earlier run a call joins instead of beginning one. Only the newest run with the same Request counts.
//
//   - With ByKey it is joined. If it has other Args, Begin does not hold and [Refused.Joined] is 0.
//   - Without, it is joined while it goes on or waits, and after it ended while its result was not delivered and it ended after Since.
//   - Without ByKey it is not joined if the call names a Plan and the plan is no longer the one that the run works on or left:
//     the run was cancelled and has lost the plan, or it ended with one of Outdated, or the plan changed after its end.
type Equal struct {
	Request, Args []byte
	ByKey         bool
	Since         int64
	Plan          int64    // number; 0: the call names none
	Outdated      []string // stop reasons
}

// Config is a configuration with its hash. Adding one that is there is no error.
type Config struct {
	Hash string
	Body []byte
}

// AddConfigs stores configurations. It always holds.
type AddConfigs []Config

// Head is the end of a run's record: the number of events, the hash of the newest, and its time.
type Head struct {
	Events int64
	Hash   []byte
	Newest int64
}

// SetLength keeps how long a record is, so that missing events at its end are noticed. It always holds. Resting limits it to a run that
// waits or has ended.
type SetLength struct {
	N int64
	Head
	Resting bool
}

// Park lets a run wait. Its state becomes ready instead of parked if it is cancelled, if one of Questions was answered, or if one of
// Children does not stand as it did. It always holds.
type Park struct {
	N int64
	Head
	Wake, Expires  int64
	Kind, Key      string // what it waits for, and the key of the effect
	Turn           int
	Phase, Summary string
	Questions      []int64 // approvals
	Children       []Standing
}

// Standing is how a run stood. State is "" if there was none.
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

// Take makes a process the owner of a run under the next epoch, or nobody if Owner is "". It holds if the run stands as given.
type Take struct {
	N, Epoch int64
	State    string
	Canceled bool
	Owner    string
}

// GiveUp makes a run ready that Owner has under Epoch. It always holds; it does nothing if the run stands otherwise.
type GiveUp struct {
	N, Epoch int64
	Owner    string
}

// Release makes all runs of an owner ready. It always holds.
type Release struct{ Owner string }

// Seize takes a running run from its owner. The run is ready then, or Owner's if that is not "". It holds if the run is running.
type Seize struct {
	N     int64
	Owner string
}

// Recall notes that a running run is to be cancelled. It holds if the run is running.
type Recall struct{ N int64 }

// CancelResting notes that a ready or waiting run is to be cancelled, and makes it ready. It holds if the run rests under Epoch and was
// not cancelled before.
type CancelResting struct{ N, Epoch int64 }

// DropChildren cancels the child runs of a run that go on or wait. It always holds.
type DropChildren struct{ Parent int64 }

// DropChild cancels one child run, if it goes on or waits. It always holds.
type DropChild struct{ N, Parent int64 }

// DropOrphans cancels child runs whose parents are over. It always holds.
type DropOrphans struct{}

// Wake makes a waiting run ready. It always holds; it does nothing if the run does not wait.
type Wake struct{ N int64 }

// Settle makes a waiting run ready whose doubt was settled by the events of the change. It holds if the run waits under Epoch.
type Settle struct {
	N, Epoch int64
	Head
}

// Noted keeps the length of a waiting run's record, to which an event was added, under the next epoch. It holds if the run waits under
// Epoch.
type Noted struct {
	N, Epoch int64
	Head
}

// AddEvent adds one event to the record of a run that no process has. It holds if the record ends right before it.
type AddEvent struct {
	N     int64
	Event patterns.Event
}

// Lack notes that a ready run lacks something. It always holds; it does nothing if the run stands otherwise.
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

// Bury deletes a run and keeps its tombstone. It always holds.
type Bury struct {
	N                              int64
	RunID                          string
	Pattern, Principal, StopReason string
	Began, Ended                   int64
	Head
}

// HiddenValue is a value that the record has only the hash of.
type HiddenValue struct{ Hash, Value []byte }

// AddHidden keeps values that the record of a run hides. It always holds.
type AddHidden struct {
	N      int64
	Values []HiddenValue
}

// DropHidden deletes the values that a run hides, if Itself, and those of the child runs below it that are over. It does nothing while
// the parent of the run goes on or waits. It always holds.
type DropHidden struct {
	N, Parent int64
	Itself    bool
}

// DropHiddenOf deletes the values that a run with a damaged record hides, and if Below those of its child runs that are over. It does not
// hold if the table is damaged too.
type DropHiddenOf struct {
	N     int64
	Below bool
}

// RunIs holds if a run stands as given: its state, the kind of what it waits for, and the key of the effect that waits.
// All are "" if there is no such run.
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

	Damage error // why its record could not be read whole, though the store can be read
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
