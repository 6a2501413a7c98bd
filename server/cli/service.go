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
	config Loaded // what is in force, under the lines of its lock that count; a reload changes it
	to     served
	page   *inbox           // nil: this program serves none
	wakes  *notify.Notifier // nil: nobody
	memory bool             // what it knows ends with it
}

// carryOn has runs that nobody carries on go on here.
func (s *service) carryOn() {
	if !s.memory {
		s.engine.Go()
	}
}

// leave lets calls that change something come to their end, for so long at the most. A server does so itself when it ends.
func (s *service) leave(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.engine.Leave(ctx)
}

// close hands over the runs that go on; whoever has the state file open takes them.
func (s *service) close() {
	s.wakes.Close() // what was asked last is told, while it can be counted
	s.page.close()
	s.engine.Close()
	s.pool.close()
}

// notifier wakes people when a run asks one, which they answer at that page.
func (s *service) notifier(c settings.Config, environ []string, page func() string, log *slog.Logger) *notify.Notifier {
	if s.memory {
		return nil
	}
	return notify.New(notify.Config{
		Mode: notify.Mode(c.Notify.Mode), Exec: c.Notify.Exec, Environ: environ, URL: page, Waiting: s.engine.Approvals().WaitingApprovals, Log: log,
	})
}

// service opens the state and wires the program over it, for the command that is named. Opening goes side by side with the
// rest of the start.
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
			err = state.engine.Change(engineSettings(counting, d)) // it was opened with the other one
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

// engineSettings are what an engine takes of a configuration that is put in force.
func engineSettings(c Loaded, d *declared) local.Settings {
	snapshot := c.Snapshot()
	return local.Settings{
		CallerWait: orNone(c.Wait.Caller), Join: orNone(c.Wait.Join), MaxParked: orNone(c.Limits.ParkedRuns), Catalog: d.tools,
		Redact: c.HiddenValues(), Config: hashOf(snapshot), Snapshot: snapshot,
	}
}

// replace puts another configuration in force, whole or not at all, for what begins from now on; permitted judges it as it would
// be in force.
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
	if err := s.engine.Change(engineSettings(c, d)); err != nil { // first: no run is begun under what is not stored yet
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

// openedState is an engine over a state file, or why there is none.
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

// unopened says that there is no record, and so nothing is run.
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
