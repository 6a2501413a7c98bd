package server

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/transport"
)

// Config says what is served. Engine and Model are required; the rest may be zero.
type Config struct {
	Patterns []Pattern       // names unique; none: only what is about the catalog and about runs is served
	Engine   patterns.Engine // carries out the runs
	Model    patterns.Model  // answers their questions
	// Configured says that Model was set up by the user, as opposed to the embedded rules. Without it a call with an
	// intent of the caller's own ends without a final text unless it asks for one.
	Configured bool
	Log        *slog.Logger // nil: nothing is logged
	// ConcurrentRuns is how many tools/calls may be under way at once, over all transports; one more is refused, and
	// nothing runs. 0: 2000; below: none.
	ConcurrentRuns int
	// WaitDefault is how long a call waits for its run where it does not say; 0: 45 s, below: not at all. WaitMax is the
	// longest that it may say; 0: 240 s, below: it waits for none.
	WaitDefault, WaitMax time.Duration
	// ConfigHash and CatalogHash name what the patterns were made from, for the record of every run.
	ConfigHash, CatalogHash string

	ResultBytes int           // each channel of a result is at most that long; 0: 32768
	Grace       time.Duration // what running calls get when the input ends or the server stops; 0: 5 s, below: none
	// Results says by a client's name which channel of a result its model reads; nil: each reads both.
	Results map[string]Channel
	Version string // of the program, as clients are shown it
	State   string // where the engine keeps its runs, for the log; "": in memory
	// Keys are the approver keys, of which a record names those that signed in it; nil: there are none.
	Keys func() (gateway.Ring, error)
	// Catalog is what describe_catalog lists besides what the patterns may use: all that is behind the gate; nil: nothing more.
	Catalog *catalog.Catalog
	// Switches are the kill switches that are on, for who is told that something does not run; nil: there are none.
	Switches func() ([]patterns.Switch, error)
	// Inbox is the address of the page on which people decide about calls, "http://127.0.0.1:8766", for who is told where;
	// "": there is none. It is asked for every result that names it, at any time; nil: there is none.
	Inbox func() string
}

// What is in force where the configuration is silent (spec/config.md section 2, limits).
const (
	defaultResultBytes = 32 << 10
	defaultGrace       = 5 * time.Second
	defaultRuns        = 2000
)

// Server offers patterns as MCP tools. It is safe for concurrent use.
//
// What is served may be replaced as a whole, see [Server.Replace]: each configuration has a Server of its own, which does not
// change, and all of them share what clients, runs and transports have to do with. Tools keep to the Server by which they were
// declared, so that a call ends as it began; whatever comes in anew asks for the newest.
type Server struct {
	*shared
	config     Config
	tools      []*tool
	catalog    *describer
	runTools   []*runTool
	planStatus map[string]*runTool // by the planning pattern's name
	prompts    map[string]*prompt  // by name
	encoded    encodedListing
}

// shared is what stays when what is served is replaced.
type shared struct {
	log        *slog.Logger
	mcp        *mcpserver.MCPServer
	shown      shown // by run_wait
	levels     levels
	scratch    sync.Pool // of *scratch, for results
	subscribed subscriptions
	listening  listeners
	principal  string
	transports *transport.Server
	waiting    parked // runs that wait

	replacing sync.Mutex             // held while what is served is replaced
	current   atomic.Pointer[Server] // what is served by now
}

// New declares all tools. Every fault is reported, and with a fault there is no server.
func New(c Config) (*Server, error) {
	s := &Server{shared: &shared{log: c.Log, principal: localPrincipal()}, config: c.completed()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.log = slog.New(clientLog{s.log.Handler(), s})
	if err := errors.Join(c.check(), s.declare()); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.current.Store(s)
	s.mcp = mcpserver.NewMCPServer("patterngate", c.Version,
		mcpserver.WithTitle("Patterngate"),
		mcpserver.WithInstructions(instructions(s.tools)),
		mcpserver.WithToolCapabilities(true), mcpserver.WithResourceCapabilities(true, true), mcpserver.WithPromptCapabilities(true),
		mcpserver.WithLogging(), mcpserver.WithCompletions(),
		mcpserver.WithPromptCompletionProvider(completer{s}), mcpserver.WithResourceCompletionProvider(completer{s}),
		mcpserver.WithHooks(s.hooked(&mcpserver.Hooks{OnBeforeCallTool: []mcpserver.OnBeforeCallToolFunc{s.cancelLate}})),
	)
	s.transports = transport.New(transport.Config{
		MCP: s.mcp, Host: host{s}, Log: s.log, Version: c.Version, State: c.State, Principal: s.principal, Detached: patterns.ErrDetached,
	})
	s.transports.Limit(s.config.runs())
	s.mcp.AddTools(s.served()...)
	s.addResources()
	s.addRuns()
	s.addPlans()
	s.addPrompts()
	c.Engine.Watch(s.changed)
	return s, nil
}

// newest is what is served by now.
func (s *Server) newest() *Server {
	if s.shared == nil {
		return s
	}
	if now := s.current.Load(); now != nil {
		return now
	}
	return s // it is being made
}

// served are all tools with what answers their calls.
func (s *Server) served() []mcpserver.ServerTool {
	var list []mcpserver.ServerTool
	add := func(declared mcp.Tool, handle mcpserver.ToolHandlerFunc) {
		list = append(list, mcpserver.ServerTool{Tool: declared, Handler: s.transports.Settled(handle)})
	}
	for i, t := range s.tools {
		add(t.declared, t.handle)
		if status := s.statusAfter(i); status != nil {
			add(status.declared, status.handle)
		}
	}
	add(s.catalog.declared, s.catalog.handle)
	for _, t := range s.runTools {
		add(t.declared, t.handle)
	}
	return list
}

// runs is how many calls may be under way at once.
func (c Config) runs() int64 { return int64(cmp.Or(c.ConcurrentRuns, defaultRuns)) }

// completed puts in what is in force where the configuration is silent.
func (c Config) completed() Config {
	c.ResultBytes = cmp.Or(c.ResultBytes, defaultResultBytes)
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	c.WaitDefault = cmp.Or(c.WaitDefault, defaultWait)
	if c.WaitMax = max(cmp.Or(c.WaitMax, defaultWaitMax), 0); c.WaitMax == 0 {
		c.WaitDefault = -1
	}
	c.WaitDefault = min(c.WaitDefault, c.WaitMax)
	return c
}

// modelName is who answers questions.
func (c Config) modelName() string {
	if c.Model == nil { // a fault that check tells
		return ""
	}
	return c.Model.Name()
}

func (c Config) check() error {
	var faults []error
	if c.Engine == nil {
		faults = append(faults, errors.New("no engine to carry out runs"))
	}
	if c.Model == nil {
		faults = append(faults, errors.New("no model to answer questions"))
	}
	if c.ResultBytes < 0 {
		faults = append(faults, fmt.Errorf("result bytes %d: want a number above 0", c.ResultBytes))
	}
	return errors.Join(faults...)
}

// declare makes the tools, side by side: their schemas are most of what a start costs.
func (s *Server) declare() error {
	s.tools = make([]*tool, len(s.config.Patterns))
	faults := make([]error, len(s.tools)+3)
	var all sync.WaitGroup
	all.Go(func() { faults[len(s.tools)] = s.declareStatus() })
	all.Go(func() {
		var err error
		if s.catalog, err = newDescriber(s); err != nil {
			faults[len(s.tools)+1] = fmt.Errorf("%s: %w", catalogTool, err)
		}
	})
	all.Go(func() { s.runTools, faults[len(s.tools)+2] = newRunTools(s) })
	named := map[string]bool{}
	for i, p := range s.config.Patterns {
		if slices.Contains(ownTools, p.Spec.Name) {
			faults[i] = fmt.Errorf("pattern %q: %w", p.Spec.Name, errReservedName)
			continue
		}
		if named[p.Spec.Name] {
			faults[i] = fmt.Errorf("pattern %q: declared twice", p.Spec.Name)
			continue
		}
		named[p.Spec.Name] = true
		all.Go(func() {
			var err error
			if s.tools[i], err = newTool(s, p); err != nil {
				faults[i] = fmt.Errorf("pattern %q: %w", p.Spec.Name, err)
			}
		})
	}
	all.Wait()
	for plans, t := range s.planStatus {
		if named[t.name()] {
			faults = append(faults, fmt.Errorf("pattern %q: %s is how the plans of %q are shown", t.name(), t.name(), plans))
		}
	}
	return errors.Join(faults...)
}

// Tools are the declarations as tools/list shows them: the patterns in the order in which they were given, then
// describe_catalog and the tools about runs.
func (s *Server) Tools() []mcp.Tool {
	s = s.newest()
	list := make([]mcp.Tool, 0, len(s.tools)+len(s.planStatus)+len(ownTools))
	for i, t := range s.tools {
		list = append(list, t.declared)
		if status := s.statusAfter(i); status != nil {
			list = append(list, status.declared)
		}
	}
	list = append(list, s.catalog.declared)
	for _, t := range s.runTools {
		list = append(list, t.declared)
	}
	return list
}
