package store

import (
	"slices"
	"time"

	"patterngate/patterns"
)

// TakeKey assigns a business key to an act, which is a call with all its attempts. It holds if the key is free, or if
// this act has it already.
type TakeKey struct {
	Tool, Once string
	Args       []byte // sealed
	Run        int64
	Act        string // key of the first attempt
	Effect     string // key of this attempt
}

// AdoptKey assigns a business key to an act that repeats an act of an earlier run. It holds if the earlier act has the
// key and its outcome is unknown.
type AdoptKey struct {
	Tool, Once string
	Run        int64
	Act        string
	FromRun    int64
	FromAct    string
}

// KeyDone holds if this act has the business key and its outcome is known.
type KeyDone struct {
	Tool, Once string
	Run        int64
	Act        string
}

// KeepOutcome stores the outcome of the act that has a business key. It always holds. It does nothing if another act
// has the key.
type KeepOutcome struct {
	Tool, Once string
	Run        int64
	Act        string
	Body       []byte
}

// FreeKey releases a business key. It always holds. It does nothing if another act has the key, or if the outcome is
// known. If an earlier attempt took the key, it does nothing unless Settled is set.
type FreeKey struct {
	Tool, Once string
	Run        int64
	Act        string
	Settled    bool
	Effect     string
}

// Act is the act that has a business key.
type Act struct {
	Args   []byte // sealed
	Run    int64
	Act    string // key of the first attempt in its run
	Effect string // key of the attempt that took the key
	Body   []byte // its outcome in the form of the record; nil: in progress, or outcome unknown
	Over   bool   // its run has ended
}

// SetSettled stores the resolved outcome of a call that ended in doubt. It always holds.
type SetSettled struct {
	Run     int64
	Once    string
	State   patterns.State
	Attempt string // key of the last attempt that the outcome covers
}

// Settled is the resolved outcome of an act. The zero value means that none is stored.
type Settled struct {
	State   patterns.State
	Attempt string
}

// WindowHolds holds if a call is still allowed after the earlier calls. Judge must depend only on the values that it
// reads. A store calls Judge in the transaction. During the transaction, no other change adds calls of the tools that
// Judge reads.
type WindowHolds struct {
	Judge func(Calls) (bool, error)
}

// Calls reads the recorded calls of all runs, as of one moment.
type Calls interface {
	// CallsSince calls to for each intent and outcome of a tool since a time, in the order of time. It omits the run
	// but. If principal is "", it reads the calls of all principals. pruned reports that runs which ended since then
	// were deleted, so that their calls are not known.
	CallsSince(tool string, since time.Time, but int64, principal string, to func(CallEvent) error) (pruned bool, err error)
	// CallsMark returns a text that changes if the calls of these tools since a time change. "" means that the store
	// cannot tell.
	CallsMark(tools []string, since time.Time) (string, error)
	// SettledCall returns the resolved outcome of an act.
	SettledCall(run int64, once string) (Settled, error)
}

// CallEvent is an intent or an outcome of a tool call.
type CallEvent struct {
	Run, At int64
	Kind    patterns.EventKind
	Key     string
	Body    []byte
}

// Begins describes an effect that a kill switch can forbid.
type Begins struct {
	Tool     string   // "": the effect calls no tool
	LooksUp  bool     // the call only looks up the outcome of another call
	Starts   string   // the pattern of the run that the call begins; "": none
	Patterns []string // the patterns of the run and of its parents
}

// StoppedBy reports whether one of the switches forbids the effect.
func (b Begins) StoppedBy(list []patterns.Switch) bool {
	return slices.ContainsFunc(list, func(s patterns.Switch) bool {
		switch {
		case s.Pattern != "" && s.Pattern == b.Starts:
			return true
		case s.Tool != "":
			return s.Tool == b.Tool
		case b.LooksUp:
			return false
		}
		return s.Pattern == "" || slices.Contains(b.Patterns, s.Pattern)
	})
}

// SetSwitch turns a kill switch on. It always holds.
type SetSwitch struct{ Switch patterns.Switch }

// ClearSwitch turns a kill switch off. It holds if the switch is on.
type ClearSwitch struct{ Tool, Pattern string }

// AddReload stores a reload that was requested, or that a program did without a request. It always holds.
type AddReload struct {
	At          int64
	Path, Hash  string
	Asked       bool
	By, Channel string
	Act         []byte // nil: not signed
	Signature   string
	Answer      *ReloadAnswer // of the program that reloaded without a request; nil: none
	N           *int64        // receives the reload's number; can be nil
}

// AddReloadAnswer stores the result of a reload in one program. It always holds.
type AddReloadAnswer struct {
	N int64
	ReloadAnswer
}

// ReloadAnswer is the result of a reload in one program.
type ReloadAnswer struct {
	Owner string
	At    int64
	Body  string
}

// Reload is a requested reload.
type Reload struct {
	N, At       int64
	Path, Hash  string
	By, Channel string
	Act         []byte
	Signature   string
	Again       bool // an earlier request has the same signature
}

func (TakeKey) step()         {}
func (AdoptKey) step()        {}
func (KeyDone) step()         {}
func (KeepOutcome) step()     {}
func (FreeKey) step()         {}
func (SetSettled) step()      {}
func (WindowHolds) step()     {}
func (SetSwitch) step()       {}
func (ClearSwitch) step()     {}
func (AddReload) step()       {}
func (AddReloadAnswer) step() {}
