package cli

import (
	"errors"
	"os"

	"patterngate/gateway"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
)

// stateOpener opens the state file that an invocation means.
type stateOpener struct {
	*invocation
	statefile.Opener
	opens  func() (statefile.Runs, func(), error) // what commands see runs by; nil: the state file
	hook   func(point string)                     // is told of every boundary of the journal, for prove; nil: nobody
	engine *local.Engine                          // that the service stands on, once there is one
}

// newStateOpener returns the opener of an invocation. opens and desks take the place of the state file; nil for the file.
func newStateOpener(from *invocation, opens func() (statefile.Runs, func(), error), desks func() (statefile.Questions, func(), error), hook func(string)) *stateOpener {
	a := &stateOpener{invocation: from, opens: opens, hook: hook}
	a.Opener = statefile.Opener{Runs: a.openState, Serving: a.openService, Asked: a.openDesk, Asking: a.newDesk, Missed: from.missed}
	if opens != nil {
		a.Runs, a.Serving = opens, opens
	}
	if desks != nil {
		a.Asked, a.Asking = desks, desks
	}
	return a
}

// openDesk opens the state file that the configuration names, without carrying on anything in it.
func (a *stateOpener) openDesk() (statefile.Questions, func(), error) {
	c, err := a.loadState()
	if err != nil {
		return statefile.Questions{}, nil, err
	}
	return a.deskOver(c)
}

// newDesk is as openDesk, and makes the file where there is none: a key may be older than the first run, and who watches may
// be earlier.
func (a *stateOpener) newDesk() (statefile.Questions, func(), error) {
	c, err := a.recordConfig("approvals")
	switch {
	case err != nil:
		return statefile.Questions{}, nil, err
	case c.State == settings.MemoryState:
		return a.openDesk() // it says why not
	}
	a.noteOther()
	if err := readyState(c.State, a.Environ); err != nil {
		return statefile.Questions{}, nil, err
	}
	return a.deskOver(c)
}

func (a *stateOpener) deskOver(c Loaded) (statefile.Questions, func(), error) {
	engine, err := a.engineOver(c)
	if err != nil {
		return statefile.Questions{}, nil, err
	}
	return statefile.QuestionsOf(engine, c.State, a.logger(c.Log.Quiet(), a.Err)), engine.Close, nil
}

// openState opens the state file that the configuration names. One that is not there yet is not made: nothing is in it.
func (a *stateOpener) openState() (statefile.Runs, func(), error) {
	c, err := a.loadState()
	if err != nil {
		return nil, nil, err
	}
	engine, err := a.engineOver(c)
	if err != nil {
		return nil, nil, err
	}
	return statefile.RunsOf(engine, c.State), engine.Close, nil
}

// withState gives the owner's view of the state file that a configuration names, making the file where there is none yet.
func (a *stateOpener) withState(what string, c Loaded, do func(statefile.Runs) error) error {
	if a.opens != nil {
		return a.WithRuns(what, do)
	}
	if c.State == settings.MemoryState {
		return console.Usage(what, errors.New("the state is "+settings.MemoryState+": it is in the process that serves, and nowhere else"), "--state FILE")
	}
	if err := readyState(c.State, a.Environ); err != nil {
		return console.Wrap(what, err)
	}
	engine, err := a.engineOver(c)
	if err != nil {
		return console.Wrap(what, err)
	}
	defer engine.Close()
	return do(statefile.RunsOf(engine, c.State))
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
	engine, err := local.Open(local.Options{Path: c.State, Source: from, Redact: c.HiddenValues()})
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
func (a *stateOpener) openService() (statefile.Runs, func(), error) {
	loaded, err := a.load() // whole: what goes on is judged by it
	if err != nil {
		return nil, nil, err
	}
	c, err := a.existingState(loaded)
	if err != nil {
		return nil, nil, err
	}
	s, err := a.service("runs resume", c, a.logger(c.Log.Quiet(), a.Err))
	if err != nil {
		return nil, nil, err
	}
	return statefile.RunsOf(s.engine, c.State), func() { s.leave(c.Limits.Grace); s.close() }, nil
}

// ring are the approver keys of the state file that a configuration names. Without one there is no key, and none is made; in one
// that cannot be read there may be.
func (a *stateOpener) ring(what string, c Loaded) (ring gateway.Ring, err error) {
	if a.opens == nil {
		if _, err := os.Stat(c.State); c.State == settings.MemoryState || errors.Is(err, os.ErrNotExist) {
			return gateway.Ring{}, nil
		}
	}
	err = a.withState(what, c, func(runs statefile.Runs) (err error) { ring, err = runs.Keys(); return err })
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
