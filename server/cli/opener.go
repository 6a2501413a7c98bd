package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"patterngate/catalog/pins"
	"patterngate/catalog/upstream"
	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/assembly"
	"patterngate/server/cli/call"
	"patterngate/server/cli/console"
	"patterngate/server/cli/inbox"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
)

// stateOpener opens the state file of an invocation.
type stateOpener struct {
	*invocation
	statefile.Opener
	opens  func() (statefile.Runs, func(), error) // opens the runs for commands; nil: from the state file
	hook   func(point string)                     // called at every boundary of the journal, for prove; nil: none
	engine *local.Engine                          // of the service, once there is one
}

// newStateOpener returns the opener of an invocation. opens and desks replace the state file; nil means the file.
func newStateOpener(from *invocation, opens func() (statefile.Runs, func(), error), desks func() (statefile.Questions, func(), error)) *stateOpener {
	a := &stateOpener{invocation: from, opens: opens}
	a.Opener = statefile.Opener{Runs: a.openState, Serving: a.openService, Asked: a.openDesk, Asking: a.newDesk, Missed: from.missed}
	if opens != nil {
		a.Runs, a.Serving = opens, opens
	}
	if desks != nil {
		a.Asked, a.Asking = desks, desks
	}
	return a
}

// openDesk opens the state file that the configuration names for its approvals. It continues no run.
func (a *stateOpener) openDesk() (statefile.Questions, func(), error) {
	c, err := a.loadState()
	if err != nil {
		return statefile.Questions{}, nil, err
	}
	return a.deskOver(c)
}

// newDesk is openDesk that also creates a missing file. A key can be enrolled before the first run, and a person can watch
// before it.
func (a *stateOpener) newDesk() (statefile.Questions, func(), error) {
	c, err := a.recordConfig("approvals")
	switch {
	case err != nil:
		return statefile.Questions{}, nil, err
	case c.State == settings.MemoryState:
		return a.openDesk() // it returns the reason
	}
	a.noteOther()
	if err := readyState(c.State, a.Environ); err != nil {
		return statefile.Questions{}, nil, err
	}
	return a.deskOver(c)
}

func (a *stateOpener) deskOver(c assembly.Loaded) (statefile.Questions, func(), error) {
	engine, err := a.engineOver(c)
	if err != nil {
		return statefile.Questions{}, nil, err
	}
	return statefile.QuestionsOf(engine, c.State, a.logger(c.Log.Quiet(), a.Err)), engine.Close, nil
}

// openState opens the state file that the configuration names for its runs. It does not create a missing file, which would
// be empty.
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

// withState calls do with the runs of the state file that a configuration names. It creates a missing file.
func (a *stateOpener) withState(what string, c assembly.Loaded, do func(statefile.Runs) error) error {
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

// openEngine opens the engine over the state file. It continues no run.
func (a *stateOpener) openEngine() (*local.Engine, error) {
	c, err := a.loadState()
	if err != nil {
		return nil, err
	}
	return a.engineOver(c)
}

// stateSettings returns the settings of the configuration whose state file exists.
func (a *stateOpener) stateSettings() (settings.Config, error) {
	c, err := a.loadState()
	return c.Config, err
}

// inboxOptions returns what the approval page shows that a command serves.
func (a *stateOpener) inboxOptions(c settings.Config, engine *local.Engine) inbox.Options {
	return a.pageOptions(c, engine, a.logger(c.Log, a.Err))
}

// pageOptions returns what the approval page of a state file shows.
func (a *stateOpener) pageOptions(c settings.Config, engine *local.Engine, log *slog.Logger) inbox.Options {
	return inbox.Options{
		Engine: engine, Keys: approver.Dir(filepath.Dir(c.State)), SignIn: a.inboxLine(c), People: systemPeople, Log: log,
	}
}

// engineOver opens the engine over the state file of a configuration. It reads runs as a server over that file does.
func (a *stateOpener) engineOver(c assembly.Loaded) (*local.Engine, error) {
	engine, err := c.Engine(a.Environ)
	if failed, ok := errors.AsType[*assembly.StateError](err); ok {
		return nil, unopened(c.State, failed.Cause)
	}
	if err != nil {
		return nil, console.Fault("config", err)
	}
	return engine, nil
}

// openService opens the state as a server does, for commands that continue runs.
func (a *stateOpener) openService() (statefile.Runs, func(), error) {
	loaded, err := a.load() // the whole configuration: it judges the runs that continue
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
	return statefile.RunsOf(s.Engine(), c.State), func() { s.Leave(c.Limits.Grace); s.Close() }, nil
}

// ring returns the approver keys of the state file that a configuration names. A missing file has no keys and is not
// created. A file that cannot be read is an error, since it could have keys.
func (a *stateOpener) ring(what string, c assembly.Loaded) (ring gateway.Ring, err error) {
	if a.opens == nil {
		if _, err := os.Stat(c.State); c.State == settings.MemoryState || errors.Is(err, os.ErrNotExist) {
			return gateway.Ring{}, nil
		}
	}
	err = a.withState(what, c, func(runs statefile.Runs) (err error) { ring, err = runs.Keys(); return err })
	return ring, err
}

// counting returns a configuration with only the lines of its lock that count, for commands that show it.
func (a *stateOpener) counting(what string, c assembly.Loaded) (assembly.Loaded, error) {
	if c.Lock() == nil || len(c.Lock().Names()) == 0 {
		return c, nil
	}
	ring, err := a.ring(what, c)
	if err != nil {
		return assembly.Loaded{}, err
	}
	if c, err = c.UnderKeys(ring, a.Environ); err != nil {
		return assembly.Loaded{}, console.Fault(what, err)
	}
	return c, nil
}

// service opens a running server over the state file of a configuration. command names the command in errors. Only the
// command serve serves the page.
func (a *stateOpener) service(command string, c assembly.Loaded, log *slog.Logger) (*assembly.Service, error) {
	if err := readyState(c.State, a.Environ); err != nil {
		return nil, err
	}
	o := assembly.ServiceOptions{Environ: a.Environ, Log: log, Hook: a.hook, PageURL: func(engine *local.Engine) string {
		return inbox.At(context.Background(), c.Inbox, engine.Approvals().StateID)
	}}
	if command == "serve" {
		address := c.Inbox
		if c.State == settings.MemoryState {
			address = settings.InboxOff
		}
		o.Page = func(engine *local.Engine) assembly.Page {
			return inbox.Start(address, a.pageOptions(c.Config, engine, log))
		}
	}
	s, err := assembly.Open(c, o)
	if failed, ok := errors.AsType[*assembly.StateError](err); ok {
		return nil, unopened(c.State, failed.Cause)
	}
	if err != nil {
		return nil, console.Fault(command, err)
	}
	a.engine = s.Engine()
	return s, nil
}

// callCommands returns the command that calls a tool. Its server in this process has the configuration that load returns.
func (a *stateOpener) callCommands(load func() (assembly.Loaded, error)) *call.Commands {
	return &call.Commands{
		Console: &a.Console, Config: &a.config, State: &a.state, Offered: a.offered,
		Open: func(logs io.Writer) (call.Server, error) { return a.callServer(load, logs) },
	}
}

// callServer opens Patterngate's own server in this process, for a call.
func (a *stateOpener) callServer(load func() (assembly.Loaded, error), logs io.Writer) (call.Server, error) {
	loaded, err := load()
	if err != nil {
		return call.Server{}, err
	}
	s, err := a.service("call", loaded, a.logger(loaded.Log.Quiet(), logs))
	if err != nil {
		return call.Server{}, err
	}
	held := map[string]call.Held{}
	for name, h := range s.Config().Unlisted() {
		held[name] = call.Held{Cause: h.Cause(), Pin: pins.Name(h.Server, h.Upstream)}
	}
	return call.Server{Serve: s.ServeStdio, CarryOn: s.CarryOn, Close: s.Close, Kept: !s.InMemory(), Held: held}, nil
}

// hookedServer opens Patterngate's own server in this process, with its engine. hook is called at every boundary of the journal.
func (a *stateOpener) hookedServer(logs io.Writer, hook func(point string)) (call.Server, *local.Engine, error) {
	a.hook = hook
	s, err := a.callServer(a.load, logs)
	return s, a.engine, err
}

// listed returns the tools that a client of a server with this configuration sees.
func (a *stateOpener) listed() ([]upstream.Tool, error) {
	loaded, err := a.load()
	if err != nil {
		return nil, err
	}
	c, err := a.counting("tools", loaded)
	if err != nil {
		return nil, err
	}
	tools, err := a.toolsOf(c)
	if err != nil {
		return nil, console.Fault("tools", err)
	}
	return tools, nil
}

// offeredPatterns returns the patterns of the configuration in force.
func (a *stateOpener) offeredPatterns() ([]server.Pattern, error) {
	loaded, _, err := assembly.Load(settings.Sources{Path: a.config, Environ: a.Environ}, assembly.LoadOptions{})
	if err != nil {
		return nil, err
	}
	d, err := assembly.Declare(loaded, a.Environ)
	if err != nil {
		return nil, err
	}
	return d.Offered(), nil
}

// offered returns the tools that a server with this configuration would have. It opens no state file.
func (a *stateOpener) offered() ([]upstream.Tool, error) {
	loaded, _, err := assembly.Load(settings.Sources{Path: a.config, Environ: a.Environ}, assembly.LoadOptions{})
	if err != nil {
		return nil, err
	}
	return a.toolsOf(loaded)
}

// toolsOf returns the tools of a server with a configuration. It opens no state file.
func (a *stateOpener) toolsOf(c assembly.Loaded) ([]upstream.Tool, error) {
	s, err := c.Server(a.Environ, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	var tools []upstream.Tool
	for _, t := range s.Tools() {
		tools = append(tools, upstream.Tool{Name: t.Name, Title: t.Title, Description: t.Description, Input: t.RawInputSchema, Output: t.RawOutputSchema})
	}
	return tools, nil
}

// unopened returns the error of a command that cannot open the state file. Without a record nothing runs.
func unopened(path string, cause error) error {
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
