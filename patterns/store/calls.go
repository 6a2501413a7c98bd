package store

import (
	"slices"
	"time"

	"patterngate/patterns"
)

// TakeKey gives a business key to an act. It holds if the key is free, or is this act's already.
type TakeKey struct {
	Tool, Once string
	Args       []byte // sealed
	Run        int64
	Act        string // key of the first attempt at the act
	Effect     string // key of this attempt
}

// AdoptKey gives a business key to an act that repeats one of an earlier run. It holds while that one has the key and its outcome is not
// known.
type AdoptKey struct {
	Tool, Once string
	Run        int64
	Act        string
	FromRun    int64
	FromAct    string
}

// KeyDone holds if the outcome of the act that has a business key is known, and it is this act.
type KeyDone struct {
	Tool, Once string
	Run        int64
	Act        string
}

// KeepOutcome keeps the outcome of the act that has a business key. It always holds; it does nothing if another act has the key.
type KeepOutcome struct {
	Tool, Once string
	Run        int64
	Act        string
	Body       []byte
}

// FreeKey gives a business key back. It always holds. It does nothing if another act has the key, if the outcome is known, or if an earlier
// attempt took the key, unless Settled.
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
	Body   []byte // its outcome as the record has it; nil: under way, or in doubt
	Over   bool   // its run has ended
}

// SetSettled keeps what was found out about a call whose own outcome was unknown. It always holds.
type SetSettled struct {
	Run     int64
	Once    string
	State   patterns.State
	Attempt string // key of the attempt up to which it was found out
}

// Settled is what was found out about an act. The zero value is nothing.
type Settled struct {
	State   patterns.State
	Attempt string
}

// WindowHolds holds if what the earlier calls show still lets a call through. Judge is a function of what it reads, and of nothing else.
// A store calls it in the transaction, in which no other change adds calls of the tools that it reads.
type WindowHolds struct {
	Judge func(Calls) (bool, error)
}

// Calls are the calls that all runs recorded, as of one moment.
type Calls interface {
	// CallsSince calls to for each intent and outcome of a tool since a time, of all runs but one, in the order of their times. principal
	// "" is everybody's. pruned says that runs which ended since then are gone, so that the calls are not known.
	CallsSince(tool string, since time.Time, but int64, principal string, to func(CallEvent) error) (pruned bool, err error)
	// CallsMark returns text that stays the same as long as the calls of some tools since a time do; "": it cannot be told.
	CallsMark(tools []string, since time.Time) (string, error)
	// SettledCall returns what was found out about an act.
	SettledCall(run int64, once string) (Settled, error)
}

// CallEvent is an intent or outcome of a tool's call.
type CallEvent struct {
	Run, At int64
	Kind    patterns.EventKind
	Key     string
	Body    []byte
}

// Begins is an effect that a kill switch may forbid.
type Begins struct {
	Tool     string   // "": it calls no tool
	LooksUp  bool     // the call only finds out what became of another one
	Starts   string   // the pattern of which the call begins a run; "": none
	Patterns []string // the pattern of the run and those around it
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

// AddReload enters a reload that was asked for, or that a program did by itself. It always holds.
type AddReload struct {
	At          int64
	Path, Hash  string
	Asked       bool
	By, Channel string
	Act         []byte // nil: nobody signed
	Signature   string
	Answer      *ReloadAnswer // of the program that did it by itself; nil: none
	N           *int64        // set to the reload's number; nil: nobody wants it
}

// AddReloadAnswer enters what became of a reload in one program. It always holds.
type AddReloadAnswer struct {
	N int64
	ReloadAnswer
}

// ReloadAnswer is what became of a reload in one program.
type ReloadAnswer struct {
	Owner string
	At    int64
	Body  string
}

// Reload is a reload that was asked for.
type Reload struct {
	N, At       int64
	Path, Hash  string
	By, Channel string
	Act         []byte
	Signature   string
	Again       bool // the same signature was brought before
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
