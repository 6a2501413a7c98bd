package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/cli/console"
	"patterngate/server/notify"
	"patterngate/server/settings"
)

// service is a server over its state.
//
//	Config ─┬─▶ local.Open(state file) ─┐
//	        └─▶ declare ────────────────┴─▶ wire ──▶ Server
type service struct {
	*server.Server
	engine *local.Engine
	from   *source
	pool   *serverPool
	config Loaded // in force, with the lines of its lock that count; a reload changes it
	to     served
	page   *inbox           // nil: this process serves no page
	wakes  *notify.Notifier // nil: sends no notifications
	memory bool             // its state is only in memory
}

// carryOn continues runs that no other process continues.
func (s *service) carryOn() {
	if !s.memory {
		s.engine.Go()
	}
}

// leave waits until running calls that change something end, at most grace. A server does so itself when it ends.
func (s *service) leave(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.engine.Leave(ctx)
}

// close hands over the runs that are not finished. Any process with the state file open continues them.
func (s *service) close() {
	s.wakes.Close() // the last notifications are sent while waiting approvals can be counted
	s.page.close()
	s.engine.Close()
	s.pool.close()
}

// notifier notifies people when a run asks one. They answer at page.
func (s *service) notifier(c settings.Config, environ []string, page func() string, log *slog.Logger) *notify.Notifier {
	if s.memory {
		return nil
	}
	return notify.New(notify.Config{
		Mode: notify.Mode(c.Notify.Mode), Exec: c.Notify.Exec, Environ: environ, URL: page, Waiting: s.engine.Approvals().WaitingApprovals, Log: log,
	})
}

// service opens the state file and connects the parts of the server over it. command names the command in errors. Opening
// runs in parallel with the rest of the start.
func (a *stateOpener) service(command string, c Loaded, log *slog.Logger) (*service, error) {
	from := &source{environ: a.Environ, pool: c.pool}
	opened := make(chan openedState, 1)
	if c.State == settings.MemoryState {
		opened <- openedState{engine: &local.Engine{Source: from}}
	} else {
		if err := readyState(c.State, a.Environ); err != nil {
			return nil, err
		}
		go func() { opened <- openState(c, from, a.hook) }()
	}
	d, err := declare(c, a.Environ)
	state := <-opened
	if state.err != nil {
		return nil, unopened(c.State, state.err)
	}
	s := &service{engine: state.engine, memory: c.State == settings.MemoryState, from: from, pool: c.pool}
	if err == nil {
		var counting Loaded
		if counting, d, err = c.counting(d, state.engine, a.Environ); err == nil && counting.lock != c.lock {
			err = state.engine.Change(engineSettings(counting, d)) // it was opened with the whole lock
		}
		c = counting
	}
	if err == nil {
		s.config = c
		from.ring = state.engine.Approvals().Keys
		from.serve(d, state.engine)
		state.engine.Catalog = d.tools
		page := func() string { return pageAt(context.Background(), c.Config, state.engine.Approvals().StateID) }
		if command == "serve" {
			s.page = s.inbox(c.Config, a.inboxLine(c.Config), log)
			page = s.page.URL
		}
		s.wakes = s.notifier(c.Config, a.Environ, page, log)
		state.engine.Asks = func(q patterns.Asked) {
			s.page.asked(q)
			s.wakes.Asked(q)
		}
		log = slog.New(c.own.secrets.masked(log.Handler()))
		c.pool.log.to.Store(log)
		s.to = served{log, page}
		if s.Server, err = wire(c, d, state.engine, s.to); err == nil {
			err = c.bearable(s.Server)
		}
	}
	if err != nil {
		s.close()
		return nil, console.Fault(command, err)
	}
	a.engine = state.engine
	return s, nil
}

// engineSettings returns the engine's settings for a configuration.
func engineSettings(c Loaded, d *declared) local.Settings {
	snapshot := c.Snapshot()
	return local.Settings{
		CallerWait: orNone(c.Wait.Caller), Join: orNone(c.Wait.Join), MaxParked: orNone(c.Limits.ParkedRuns), Catalog: d.tools,
		Redact: c.HiddenValues(), Config: hashOf(snapshot), Snapshot: snapshot,
	}
}

// replace puts another configuration in force, completely or not at all, for runs that begin later. permitted gets the
// configuration with only the counting lines of its lock, and can refuse it.
func (s *service) replace(loaded Loaded, environ []string, permitted func(counting Loaded) error) error {
	c, d, err := loaded.counting(nil, s.engine, environ)
	if err == nil {
		err = c.bearableBefore(d)
	}
	if err == nil {
		err = permitted(c)
	}
	if err != nil {
		return err
	}
	before := s.engine.Settings()
	if err := s.engine.Change(engineSettings(c, d)); err != nil { // first: no run must begin under a configuration that is not stored yet
		return err
	}
	if err := s.Replace(serverConfig(c, d, s.engine, s.to)); err != nil {
		return errors.Join(err, s.engine.Change(before))
	}
	s.config = c
	s.from.replace(d)
	s.pool.retire(c.own.servers)
	c.own.secrets.forget()
	return nil
}

// openedState is an engine over a state file, or the error of opening it.
type openedState struct {
	engine *local.Engine
	err    error
}

func openState(c Loaded, from patterns.Source, hook func(point string)) openedState {
	snapshot := c.Snapshot()
	engine, err := local.Open(local.Options{
		Path: c.State, Source: from, Redact: c.HiddenValues(), Config: hashOf(snapshot), Snapshot: snapshot, Hook: hook,
	})
	return openedState{engine, err}
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
