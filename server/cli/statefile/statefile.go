package statefile

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/signing"
)

// Questions gives commands access to the approvals of a state file.
type Questions struct {
	patterns.Approvals
	Owner patterns.Owner
	Alive func() bool // reports whether a process continues runs
	// Switches returns the kill switches that are on.
	Switches func() ([]patterns.Switch, error)
	KeyDir   string // directory of the approver key files
	Log      *slog.Logger
}

// Reader finds and reads runs.
type Reader interface {
	Find(beginning string) (string, error)
	Run(id string) (patterns.Snapshot, bool)
	Record(id string) (events []patterns.Event, kept int64, err error)
	Kept(id string) (events []patterns.Event, kept patterns.Kept, err error)
	List(f patterns.Filter) (patterns.Page, error)
}

// Decider changes runs: it cancels, settles, seizes and resumes them.
type Decider interface {
	Cancel(ctx context.Context, id string, by patterns.Note) (patterns.Snapshot, error)
	Settle(id, effect string, s local.Settlement) error
	Seize(id string, by patterns.Note, act gateway.SignedAct) error
	Resume(ctx context.Context, id string) ([]patterns.Snapshot, error)
}

// Keeper checks the whole file and deletes old runs.
type Keeper interface {
	Audit() ([]local.Damage, error)
	Prune(before time.Time, dry bool) ([]local.Tombstone, error)
	Tombstones() ([]local.Tombstone, error)
}

// Runs is the owner's view of recorded runs.
type Runs interface {
	Reader
	Decider
	Keeper
	Configs
	signing.KeyHolder
	Switchboard
}

// Configs returns the configurations with which recorded runs began, by their hash.
type Configs interface {
	Config(hash string) (snapshot []byte, ok bool)
}

// Switchboard turns kill switches, and asks running servers to reload.
type Switchboard interface {
	patterns.Switches
	Reload(ctx context.Context, r local.ReloadRequest) ([]local.ReloadAnswer, error)
}

// stateRuns implements [Runs] with an engine's state.
type stateRuns struct {
	local.Operator
	Configs
	stateKeys
}

// stateKeys holds the approver keys of a state file.
type stateKeys struct {
	approvals patterns.Approvals
	dir       string
}

// Keys returns the approver keys of the state file.
func (k stateKeys) Keys() (gateway.Ring, error) { return k.approvals.Keys() }

// KeyDir returns the directory of the state file. The files of the keys that sign on this machine are there.
func (k stateKeys) KeyDir() string { return k.dir }

// Decided returns the decision of a person that a waiting run has not taken yet. It returns "" if there is none, or if it cannot be
// read.
func (k stateKeys) Decided(run string) gateway.Choice {
	page, err := k.approvals.ListApprovals(patterns.ApprovalFilter{All: true, Run: run, Limit: 1})
	if err != nil || len(page.Rows) == 0 || page.Rows[0].State != patterns.AskedDecided || page.Rows[0].Given == nil || page.Rows[0].Spent {
		return ""
	}
	return page.Rows[0].Given.Choice
}

func RunsOf(engine *local.Engine, path string) Runs {
	return stateRuns{engine.Operator(), engine, stateKeys{engine.Approvals(), filepath.Dir(path)}}
}

// ByUser returns a note that the user of this process decided by a command, with a reason.
func ByUser(reason string) patterns.Note {
	return patterns.Note{By: "local:" + strconv.Itoa(os.Getuid()), Channel: "cli", Reason: reason}
}

// QuestionsOf returns the approvals of a state file. The caller must not close the engine while it uses them.
func QuestionsOf(engine *local.Engine, path string, log *slog.Logger) Questions {
	operator := engine.Operator()
	return Questions{engine.Approvals(), operator, operator.Alive, operator.KillSwitches, filepath.Dir(path), log}
}

// Opener opens the state file of an invocation for one command at a time.
type Opener struct {
	Runs    func() (Runs, func(), error)      // opens a file that exists, and continues no run in it
	Serving func() (Runs, func(), error)      // opens a file that exists as a server does: it continues runs
	Asked   func() (Questions, func(), error) // opens the approvals of a file that exists
	Asking  func() (Questions, func(), error) // like Asked, and makes the file if there is none
	Missed  func(error) error                 // called with the error of a command; it can print what else to try
}

// WithRuns opens the file, calls do, and closes the file. what names the command in errors.
func (f *Opener) WithRuns(what string, do func(Runs) error) error {
	return with(f, f.Runs, what, do)
}

// WithServing is like [Opener.WithRuns], for a command that continues runs.
func (f *Opener) WithServing(what string, do func(Runs) error) error {
	return with(f, f.Serving, what, do)
}

// WithApprovals opens the approvals of the file, calls do, and closes the file. what names the command in errors.
func (f *Opener) WithApprovals(what string, do func(Questions) error) error {
	return with(f, f.Asked, what, do)
}

// WithNewApprovals is like [Opener.WithApprovals], for a command that can be the first one to use the file. It makes
// the file if there is none.
func (f *Opener) WithNewApprovals(what string, do func(Questions) error) error {
	return with(f, f.Asking, what, do)
}

func with[V any](f *Opener, open func() (V, func(), error), what string, do func(V) error) error {
	v, done, err := open()
	if err != nil {
		return console.Wrap(what, err)
	}
	defer done()
	return f.Missed(do(v))
}

// MostListed is how many rows a page of a list can have.
const MostListed = 100

// Refused returns the error of a command whose change a run refused. try is the command's advice.
func Refused(what string, err error, try string) error {
	switch {
	case errors.Is(err, patterns.ErrOver), errors.Is(err, patterns.ErrNotTaken):
		return console.Refused(what, console.PortText(err), try)
	case errors.Is(err, patterns.ErrNoRun):
		return console.Usage(what, errors.New("no such run is recorded here"), "patterngate runs list")
	}
	return signing.Refusal(what, err)
}
