package assembly

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/notify"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// Service is a running server over its state.
//
//	Loaded ─┬─▶ local.Open(state file) ─┐
//	        └─▶ Declare ────────────────┴─▶ wire ──▶ Server
type Service struct {
	*server.Server
	engine *local.Engine
	from   *source
	pool   *serverPool
	config Loaded // in force, with the lines of its lock that count; a reload changes it
	to     served
	page   Page             // nil: this process serves no page
	wakes  *notify.Notifier // nil: sends no notifications
	memory bool             // its state is only in memory
}

// Page is the page in a browser on which people decide. A service tells it of each question that waits for a person.
type Page interface {
	// URL returns the page's address; "": it is off, or cannot be served.
	URL() string
	// Asked is called after a question to a person is recorded. It returns at once.
	Asked(patterns.Asked)
	// Close ends the page.
	Close()
}

// ServiceOptions say how a service is opened.
type ServiceOptions struct {
	Environ []string
	Log     *slog.Logger
	Hook    func(point string) // called at every boundary of the journal, for prove; nil: none
	// Page starts the page of the engine's state file in this process; nil: this process serves none.
	Page func(engine *local.Engine) Page
	// PageOf returns the page for the results of a process that serves none.
	PageOf func(engine *local.Engine) server.Page
}

// Engine returns the engine of the service.
func (s *Service) Engine() *local.Engine { return s.engine }

// Config returns the configuration in force, with the lines of its lock that count.
func (s *Service) Config() Loaded { return s.config }

// Log returns the log of the service, which shows no secret.
func (s *Service) Log() *slog.Logger { return s.to.log }

// InMemory reports whether the state of the service is only in memory.
func (s *Service) InMemory() bool { return s.memory }

// Load loads a configuration that can replace the one in force: servers that both name are shared.
func (s *Service) Load(in settings.Sources) (Loaded, []yamldoc.Fault, error) {
	return Load(in, LoadOptions{pool: s.pool})
}

// CarryOn continues runs that no other process continues.
func (s *Service) CarryOn() {
	if !s.memory {
		s.engine.Go()
	}
}

// Leave waits until running calls that change something end, at most grace. A server does so itself when it ends.
func (s *Service) Leave(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.engine.Leave(ctx)
}

// Close hands over the runs that are not finished. Any process with the state file open continues them.
func (s *Service) Close() {
	s.wakes.Close() // the last notifications are sent while waiting approvals can be counted
	if s.page != nil {
		s.page.Close()
	}
	s.engine.Close()
	s.pool.close()
}

// notifier notifies people when a run asks one. They answer at page.
func (s *Service) notifier(c settings.Config, environ []string, page func() string, log *slog.Logger) *notify.Notifier {
	if s.memory {
		return nil
	}
	return notify.New(notify.Config{
		Mode: notify.Mode(c.Notify.Mode), Exec: c.Notify.Exec, Environ: environ, URL: page, Waiting: s.engine.Approvals().WaitingApprovals, Log: log,
	})
}

// Open opens the state file and connects the parts of the server over it. Opening runs in parallel with the rest of the
// start. An error of the state file is a [*StateError].
func Open(c Loaded, o ServiceOptions) (*Service, error) {
	from := &source{environ: o.Environ, pool: c.pool}
	opened := make(chan openedState, 1)
	if c.State == settings.MemoryState {
		opened <- openedState{engine: &local.Engine{Source: from}}
	} else {
		go func() { opened <- openState(c, from, o.Hook) }()
	}
	d, err := Declare(c, o.Environ)
	state := <-opened
	if state.err != nil {
		return nil, &StateError{state.err}
	}
	s := &Service{engine: state.engine, memory: c.State == settings.MemoryState, from: from, pool: c.pool}
	if err == nil {
		var counting Loaded
		if counting, d, err = c.counting(d, state.engine, o.Environ); err == nil && counting.lock != c.lock {
			err = state.engine.Change(engineSettings(counting, d)) // it was opened with the whole lock
		}
		c = counting
	}
	if err == nil {
		err = s.serve(c, d, o)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// serve connects the server, its page and its notifications over the opened state.
func (s *Service) serve(c Loaded, d *Declaration, o ServiceOptions) (err error) {
	s.config = c
	s.from.ring = s.engine.Approvals().Keys
	s.from.serve(d, s.engine)
	s.engine.Catalog = d.Tools
	page := func() server.Page { return o.PageOf(s.engine) }
	if o.Page != nil {
		s.page = o.Page(s.engine)
		page = func() server.Page { return server.Page{URL: s.page.URL()} }
	}
	s.wakes = s.notifier(c.Config, o.Environ, func() string { return page().URL }, o.Log)
	s.engine.Asks = func(q patterns.Asked) {
		if s.page != nil {
			s.page.Asked(q)
		}
		s.wakes.Asked(q)
	}
	log := slog.New(c.own.secrets.masked(o.Log.Handler()))
	c.pool.log.to.Store(log)
	s.to = served{log, page}
	if s.Server, err = wire(c, d, s.engine, s.to); err != nil {
		return err
	}
	return c.bearable(s.Server)
}

// engineSettings returns the engine's settings for a configuration.
func engineSettings(c Loaded, d *Declaration) local.Settings {
	snapshot := c.Snapshot()
	return local.Settings{
		Waits: waitsOf(c), Catalog: d.Tools,
		Redact: c.HiddenValues(), Config: hashOf(snapshot), Snapshot: snapshot,
	}
}

// Put puts another configuration in force, completely or not at all, for runs that begin later. permitted gets the
// configuration with only the counting lines of its lock, and can refuse it.
func (s *Service) Put(loaded Loaded, environ []string, permitted func(counting Loaded) error) error {
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
