package invocation

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
)

// StateFile opens the state file of an invocation. Make it with [NewStateFile].
type StateFile struct {
	*Invocation
	statefile.Opener
	opens func() (statefile.Runs, func(), error) // opens the runs for commands; nil: from the state file
}

// NewStateFile returns the opener of an invocation. opens and desks replace the state file; nil means the file. It sets all
// functions of the embedded opener but Serving, which needs a server: if opens is nil, the caller sets it for commands that
// continue runs.
func NewStateFile(from *Invocation, opens func() (statefile.Runs, func(), error), desks func() (statefile.Questions, func(), error)) *StateFile {
	a := &StateFile{Invocation: from, opens: opens}
	a.Opener = statefile.Opener{Runs: a.openState, Asked: a.openDesk, Asking: a.newDesk, Missed: from.missed}
	if opens != nil {
		a.Runs, a.Serving = opens, opens
	}
	if desks != nil {
		a.Asked, a.Asking = desks, desks
	}
	return a
}

// openDesk opens the state file that the configuration names for its approvals. It continues no run.
func (a *StateFile) openDesk() (statefile.Questions, func(), error) {
	c, err := a.loadState()
	if err != nil {
		return statefile.Questions{}, nil, err
	}
	return a.deskOver(c)
}

// newDesk is openDesk that also creates a missing file. A key can be enrolled before the first run, and a person can watch
// before it.
func (a *StateFile) newDesk() (statefile.Questions, func(), error) {
	c, err := a.recordConfig("approvals")
	switch {
	case err != nil:
		return statefile.Questions{}, nil, err
	case c.State == settings.MemoryState:
		return a.openDesk() // it returns the reason
	}
	a.NoteOther()
	if err := ReadyState(c.State, a.Environ); err != nil {
		return statefile.Questions{}, nil, err
	}
	return a.deskOver(c)
}

func (a *StateFile) deskOver(c assembly.Loaded) (statefile.Questions, func(), error) {
	engine, err := a.engineOver(c)
	if err != nil {
		return statefile.Questions{}, nil, err
	}
	return statefile.QuestionsOf(engine, c.State, a.Logger(c.Log.Quiet(), a.Err)), engine.Close, nil
}

// openState opens the state file that the configuration names for its runs. It does not create a missing file, which would
// be empty.
func (a *StateFile) openState() (statefile.Runs, func(), error) {
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

// WithState calls do with the runs of the state file that a configuration names. It creates a missing file.
func (a *StateFile) WithState(what string, c assembly.Loaded, do func(statefile.Runs) error) error {
	if a.opens != nil {
		return a.WithRuns(what, do)
	}
	if c.State == settings.MemoryState {
		return console.Usage(what, errors.New("the state is "+settings.MemoryState+": it is only in the memory of the server"), "--state FILE")
	}
	if err := ReadyState(c.State, a.Environ); err != nil {
		return console.Wrap(what, err)
	}
	engine, err := a.engineOver(c)
	if err != nil {
		return console.Wrap(what, err)
	}
	defer engine.Close()
	return do(statefile.RunsOf(engine, c.State))
}

// OpenEngine opens the engine over the state file. It continues no run.
func (a *StateFile) OpenEngine() (*local.Engine, error) {
	c, err := a.loadState()
	if err != nil {
		return nil, err
	}
	return a.engineOver(c)
}

// Settings returns the settings of the configuration whose state file exists.
func (a *StateFile) Settings() (settings.Config, error) {
	c, err := a.loadState()
	return c.Config, err
}

// engineOver opens the engine over the state file of a configuration. It reads runs as a server over that file does.
func (a *StateFile) engineOver(c assembly.Loaded) (*local.Engine, error) {
	engine, err := c.Engine(a.Environ)
	if failed, ok := errors.AsType[*assembly.StateError](err); ok {
		return nil, Unopened(c.State, failed.Cause)
	}
	if err != nil {
		return nil, console.Fault("config", err)
	}
	return engine, nil
}

// Ring returns the approver keys of the state file that a configuration names. A missing file has no keys and is not
// created. A file that cannot be read is an error, since it could have keys.
func (a *StateFile) Ring(what string, c assembly.Loaded) (ring gateway.Ring, err error) {
	if a.opens == nil {
		if _, err := os.Stat(c.State); c.State == settings.MemoryState || errors.Is(err, os.ErrNotExist) {
			return gateway.Ring{}, nil
		}
	}
	err = a.WithState(what, c, func(runs statefile.Runs) (err error) { ring, err = runs.Keys(); return err })
	return ring, err
}

// Counting returns a configuration with only the lines of its lock that count, for commands that show it.
func (a *StateFile) Counting(what string, c assembly.Loaded) (assembly.Loaded, error) {
	if c.Lock() == nil || len(c.Lock().Names()) == 0 {
		return c, nil
	}
	ring, err := a.Ring(what, c)
	if err != nil {
		return assembly.Loaded{}, err
	}
	if c, err = c.UnderKeys(ring, a.Environ); err != nil {
		return assembly.Loaded{}, console.Fault(what, err)
	}
	return c, nil
}

// Unopened returns the error of a command that cannot open the state file. Without a record nothing runs.
func Unopened(path string, cause error) error {
	if !errors.Is(cause, patterns.ErrJournal) {
		cause = fmt.Errorf("%w: %w", patterns.ErrJournal, cause)
	}
	if !strings.Contains(cause.Error(), path) {
		cause = fmt.Errorf("%w (%s)", cause, path)
	}
	return &console.Error{
		Code: console.ExitFault, What: "state", Cause: cause,
		Try: "--state FILE for another file, or --state " + settings.MemoryState + " to keep nothing",
	}
}
