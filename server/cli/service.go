package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"

	"patterngate/catalog/demo"
	"patterngate/catalog/pins"
	"patterngate/gateway/approver"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/assembly"
	"patterngate/server/cli/call"
	"patterngate/server/cli/console"
	"patterngate/server/cli/inbox"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// serviceOpener opens a running server in this process, for the commands that serve, call tools or continue runs.
type serviceOpener struct {
	*invocation.StateFile
	hook   func(point string) // called at every boundary of the journal, for prove; nil: none
	engine *local.Engine      // the engine of the service, after it was opened
}

// service opens a running server over the state file of a configuration. command names the command in errors. Only the
// command serve serves the page.
func (a *serviceOpener) service(command string, c assembly.Loaded, log *slog.Logger) (*assembly.Service, error) {
	if err := invocation.ReadyState(c.State, a.Environ); err != nil {
		return nil, err
	}
	o := assembly.ServiceOptions{Environ: a.Environ, Log: log, Hook: a.hook, PageOf: func(engine *local.Engine) server.Page {
		url, idle := inbox.At(context.Background(), c.Inbox, engine.Approvals().StateID)
		return server.Page{URL: url, Idle: idle}
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
		return nil, invocation.Unopened(c.State, failed.Cause)
	}
	if err != nil {
		return nil, console.Fault(command, err)
	}
	a.engine = s.Engine()
	return s, nil
}

// openService opens the state as a server does, for commands that continue runs.
func (a *serviceOpener) openService() (statefile.Runs, func(), error) {
	loaded, err := a.Load() // the whole configuration: it judges the runs that continue
	if err != nil {
		return nil, nil, err
	}
	c, err := a.ExistingState(loaded)
	if err != nil {
		return nil, nil, err
	}
	s, err := a.service("runs resume", c, a.Logger(c.Log.Quiet(), a.Err))
	if err != nil {
		return nil, nil, err
	}
	return statefile.RunsOf(s.Engine(), c.State), func() { s.Leave(c.Limits.Grace); s.Close() }, nil
}

// callCommands returns the command that calls a tool. Its server in this process has the configuration that load returns.
func (a *serviceOpener) callCommands(load func() (assembly.Loaded, error)) *call.Commands {
	return &call.Commands{
		Console: &a.Console, Config: &a.Config, State: &a.State, Offered: a.Offered,
		Open: func(logs io.Writer) (call.Server, error) { return a.callServer(load, logs) },
	}
}

// callServer opens Patterngate's own server in this process, for a call.
func (a *serviceOpener) callServer(load func() (assembly.Loaded, error), logs io.Writer) (call.Server, error) {
	loaded, err := load()
	if err != nil {
		return call.Server{}, err
	}
	causes := &call.Causes{}
	s, err := a.service("call", loaded, slog.New(causes.Noting(a.Logger(loaded.Log.Quiet(), logs).Handler())))
	if err != nil {
		return call.Server{}, err
	}
	held := map[string]call.Held{}
	for name, h := range s.Config().Unlisted() {
		held[name] = call.Held{Cause: h.Cause(), Pin: pins.Name(h.Server, h.Upstream), Given: a.Given}
	}
	return call.Server{
		Serve: s.ServeStdio, CarryOn: s.CarryOn, Close: s.Close, Embedded: loaded.Path == "", Kept: !s.InMemory(), Held: held, Cause: causes.Of,
		Earlier: func(run string) bool {
			_, kept, err := s.Engine().Operator().Kept(run)
			return err == nil && kept.Config != "" && kept.Config != loaded.Hash()
		},
		Sample:   sampleOf,
		Unlisted: func(name string) call.Unlisted { return unlisted(s.Config(), name) },
	}, nil
}

// sampleOf returns the arguments of a tool for which the demo has data. It returns "" for tools that have data for more.
func sampleOf(tool string) string {
	if tool != "run_orchestrator" {
		return ""
	}
	return "report_date=" + demo.ReportDate
}

// unlisted returns why the server of a configuration does not list a tool that the configuration knows.
func unlisted(c assembly.Loaded, name string) call.Unlisted {
	if c.Path == "" {
		return call.Unlisted{}
	}
	if !c.DemoOn() && slices.Contains(settings.BuiltinPatterns, name) {
		return call.Unlisted{Demo: c.Path}
	}
	line := func(key *yamldoc.Path) string { // without the key, the place of what holds it
		at, _ := c.Root.Find(key)
		return c.Path + ":" + strconv.Itoa(at.Line)
	}
	if c.Withholds(name) {
		return call.Unlisted{Offer: line((*yamldoc.Path)(nil).Key("offer"))}
	}
	declared := slices.ContainsFunc(c.Catalog.Tools(), func(t tools.Placed) bool { return t.Name == name })
	if !declared || slices.Contains(c.Catalog.Expose, name) {
		return call.Unlisted{}
	}
	return call.Unlisted{Expose: line((*yamldoc.Path)(nil).Key("catalog").Key("expose"))}
}

// hookedServer opens Patterngate's own server in this process, with its engine. hook is called at every boundary of the journal.
func (a *serviceOpener) hookedServer(logs io.Writer, hook func(point string)) (call.Server, *local.Engine, error) {
	a.hook = hook
	s, err := a.callServer(a.Load, logs)
	return s, a.engine, err
}

// inboxOptions returns what the approval page shows that a command serves.
func (a *serviceOpener) inboxOptions(c settings.Config, engine *local.Engine) inbox.Options {
	return a.pageOptions(c, engine, a.Logger(c.Log, a.Err))
}

// pageOptions returns what the approval page of a state file shows.
func (a *serviceOpener) pageOptions(c settings.Config, engine *local.Engine, log *slog.Logger) inbox.Options {
	return inbox.Options{
		Engine: engine, Keys: approver.Dir(filepath.Dir(c.State)), SignIn: a.inboxLine(c), People: invocation.SystemPeople, Log: log,
	}
}

// inboxLine returns the command line that signs a person in to the page of this configuration.
func (a *serviceOpener) inboxLine(c settings.Config) string {
	return inbox.Line(a.Config, c, a.Environ)
}

// callTool calls one tool of Patterngate's own server with a configuration, and prints the result.
func (a *serviceOpener) callTool(ctx context.Context, c assembly.Loaded, tool, args string, words []string) error {
	return a.callCommands(func() (assembly.Loaded, error) { return c, nil }).Tool(ctx, tool, args, words)
}
