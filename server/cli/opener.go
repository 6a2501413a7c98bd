package cli

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

// stateOpener opens the state file that an invocation means.
type stateOpener struct {
	*invocation
	opens  func() (operator, func(), error) // what commands see runs by; nil: the state file
	desks  func() (desk, func(), error)     // what commands see approvals by; nil: the state file
	hook   func(point string)               // is told of every boundary of the journal, for prove; nil: nobody
	engine *local.Engine                    // that the service stands on, once there is one
}

// desk is what commands about approvals stand on.
type desk struct {
	patterns.Approvals
	owner  patterns.Owner
	alive  func() bool // a process carries runs on
	keyDir string      // where approver keys lie
	log    *slog.Logger
}

// withApprovals opens the state for a command about approvals, and closes it after.
func (a *stateOpener) withApprovals(what string, do func(desk) error) error {
	return a.withDesk(a.openDesk, what, do)
}

func (a *stateOpener) withDesk(open func() (desk, func(), error), what string, do func(desk) error) error {
	if a.desks != nil {
		open = a.desks
	}
	d, done, err := open()
	if err != nil {
		return console.Wrap(what, err)
	}
	defer done()
	return a.missed(do(d))
}

// openDesk opens the state file that the configuration names, without carrying on anything in it.
func (a *stateOpener) openDesk() (desk, func(), error) {
	c, err := a.loadState()
	if err != nil {
		return desk{}, nil, err
	}
	return a.deskOver(c)
}

// newDesk is as openDesk, and makes the file where there is none: a key may be older than the first run, and who watches may
// be earlier.
func (a *stateOpener) newDesk() (desk, func(), error) {
	c, err := a.recordConfig("approvals")
	switch {
	case err != nil:
		return desk{}, nil, err
	case c.State == memoryState:
		return a.openDesk() // it says why not
	}
	a.noteOther()
	if err := readyState(c.State, a.Environ); err != nil {
		return desk{}, nil, err
	}
	return a.deskOver(c)
}

func (a *stateOpener) deskOver(c Loaded) (desk, func(), error) {
	engine, err := a.engineOver(c)
	if err != nil {
		return desk{}, nil, err
	}
	operator := engine.Operator()
	return desk{engine.Approvals(), operator, operator.Alive, filepath.Dir(c.State), a.logger(c.Log.quiet(), a.Err)}, engine.Close, nil
}

// recordReader is what commands read runs from.
type recordReader interface {
	Find(beginning string) (string, error)
	Run(id string) (patterns.Snapshot, bool)
	Record(id string) (events []patterns.Event, kept int64, err error)
	Kept(id string) (events []patterns.Event, kept patterns.Kept, err error)
	List(f patterns.Filter) (patterns.Page, error)
}

// runDecider is what commands decide on.
type runDecider interface {
	Cancel(ctx context.Context, id string, by patterns.Note) (patterns.Snapshot, error)
	Settle(id, effect string, s local.Settlement) error
	Seize(id string, by patterns.Note, act gateway.SignedAct) error
	Resume(ctx context.Context, id string) ([]patterns.Snapshot, error)
}

// recordKeeper is what commands check the whole file by, and delete runs from.
type recordKeeper interface {
	Audit() ([]local.Damage, error)
	Prune(before time.Time, dry bool) ([]local.Tombstone, error)
	Tombstones() ([]local.Tombstone, error)
}

// operator is the owner's view of recorded runs.
type operator interface {
	recordReader
	runDecider
	recordKeeper
	configShelf
	signing.KeyHolder
	switchBoard
}

// switchBoard is where kill switches are turned, and programs that serve are asked to reload.
type switchBoard interface {
	patterns.Switches
	Reload(ctx context.Context, r local.ReloadRequest) ([]local.ReloadAnswer, error)
}

// stateRuns is an engine's state for commands.
type stateRuns struct {
	local.Operator
	configShelf
	stateKeys
}

// stateKeys are the approver keys of a state file.
type stateKeys struct {
	approvals patterns.Approvals
	dir       string
}

// Keys are the enrolled ones.
func (k stateKeys) Keys() (gateway.Ring, error) { return k.approvals.Keys() }

// KeyDir is where the files of those are that sign here: beside the state file.
func (k stateKeys) KeyDir() string { return k.dir }

// withRuns opens the state for a command that reads it or decides in it, and closes it after.
func (a *stateOpener) withRuns(what string, do func(operator) error) error {
	return a.withRunsBy(a.openState, what, do)
}

func (a *stateOpener) withRunsBy(open func() (operator, func(), error), what string, do func(operator) error) error {
	if a.opens != nil {
		open = a.opens
	}
	runs, done, err := open()
	if err != nil {
		return console.Wrap(what, err)
	}
	defer done()
	return a.missed(do(runs))
}

// openState opens the state file that the configuration names. One that is not there yet is not made: nothing is in it.
func (a *stateOpener) openState() (operator, func(), error) {
	c, err := a.loadState()
	if err != nil {
		return nil, nil, err
	}
	engine, err := a.engineOver(c)
	if err != nil {
		return nil, nil, err
	}
	return stateOf(c.Config, engine), engine.Close, nil
}

// withState gives the owner's view of the state file that a configuration names, making the file where there is none yet.
func (a *stateOpener) withState(what string, c Loaded, do func(operator) error) error {
	if a.opens != nil {
		return a.withRuns(what, do)
	}
	if c.State == memoryState {
		return console.Usage(what, errors.New("the state is "+memoryState+": it is in the process that serves, and nowhere else"), "--state FILE")
	}
	if err := readyState(c.State, a.Environ); err != nil {
		return console.Wrap(what, err)
	}
	engine, err := a.engineOver(c)
	if err != nil {
		return console.Wrap(what, err)
	}
	defer engine.Close()
	return do(stateOf(c.Config, engine))
}

// openEngine opens the engine over the state file, without having it carry on anything.
func (a *stateOpener) openEngine() (*local.Engine, error) {
	c, err := a.loadState()
	if err != nil {
		return nil, err
	}
	return a.engineOver(c)
}

// engineOver opens the engine over the state file of a configuration. It makes of runs what a server over that file does.
func (a *stateOpener) engineOver(c Loaded) (*local.Engine, error) {
	d, err := declare(c, a.Environ)
	if err != nil {
		return nil, console.Fault("config", err)
	}
	from := &source{environ: a.Environ, pool: c.pool}
	engine, err := local.Open(local.Options{Path: c.State, Source: from, Redact: c.hides()})
	if err != nil {
		return nil, unopened(c.State, err)
	}
	if _, d, err = c.counting(d, engine, a.Environ); err != nil {
		engine.Close()
		return nil, console.Fault("config", err)
	}
	from.serve(d, engine)
	engine.Catalog = d.tools
	return engine, nil
}

// openService opens the state as a server does, for who carries on runs.
func (a *stateOpener) openService() (operator, func(), error) {
	loaded, err := a.load() // whole: what goes on is judged by it
	if err != nil {
		return nil, nil, err
	}
	c, err := a.existingState(loaded)
	if err != nil {
		return nil, nil, err
	}
	s, err := a.service("runs resume", c, a.logger(c.Log.quiet(), a.Err))
	if err != nil {
		return nil, nil, err
	}
	return stateOf(c.Config, s.engine), func() { s.leave(c.Limits.Grace); s.close() }, nil
}

func stateOf(c Config, engine *local.Engine) stateRuns {
	return stateRuns{engine.Operator(), engine, stateKeys{engine.Approvals(), filepath.Dir(c.State)}}
}

// ring are the approver keys of the state file that a configuration names. Without one there is no key, and none is made; in one
// that cannot be read there may be.
func (a *stateOpener) ring(what string, c Loaded) (ring gateway.Ring, err error) {
	if a.opens == nil {
		if _, err := os.Stat(c.State); c.State == memoryState || errors.Is(err, os.ErrNotExist) {
			return gateway.Ring{}, nil
		}
	}
	err = a.withState(what, c, func(runs operator) (err error) { ring, err = runs.Keys(); return err })
	return ring, err
}

// counting is a configuration under those lines of its lock that count, for who only shows it.
func (a *stateOpener) counting(what string, c Loaded) (Loaded, error) {
	if c.lock == nil || len(c.lock.Names()) == 0 {
		return c, nil
	}
	ring, err := a.ring(what, c)
	if err != nil {
		return Loaded{}, err
	}
	if c, err = c.under(countingLines(c.lock, ring, console.Now()), a.Environ); err != nil {
		return Loaded{}, console.Fault(what, err)
	}
	return c, nil
}

// byOwner returns who decides by a command: the user of this process, with a reason.
func byOwner(reason string) patterns.Note {
	return patterns.Note{By: "local:" + strconv.Itoa(os.Getuid()), Channel: "cli", Reason: reason}
}
