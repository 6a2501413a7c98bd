package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/describe"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/status"
	"patterngate/server/transport"
)

// Config says what a server serves. Engine and Model are required. The other fields may be zero.
type Config struct {
	Patterns []Pattern // names unique; none: only the tools about the catalog and about runs are served
	// Offer lists the tools that clients see; nil: all. A tool that is not in the list does not exist for clients.
	Offer  []string
	within []Pattern       // patterns that clients do not see, which patterns that they see run; of a completed configuration
	Engine patterns.Engine // runs the patterns
	Model  patterns.Model  // answers the questions of runs
	// Configured says that the user set up Model. If it is false, Model is the embedded rules. A call with the caller's
	// own intent then has no final text unless it asks for one.
	Configured bool
	Log        *slog.Logger // nil: nothing is logged
	// ConcurrentRuns is how many tools/calls may run at once, over all transports. Further calls are refused, and
	// nothing runs. 0: 2000; below: none.
	ConcurrentRuns int
	// WaitDefault is how long a call waits for its run if it names no time; 0: 45 s, below: not at all. WaitMax is the
	// longest time that a call may name; 0: 240 s, below: calls do not wait.
	WaitDefault, WaitMax time.Duration
	// ConfigHash and CatalogHash identify the configuration and the catalog of the patterns, for the record of each
	// run.
	ConfigHash, CatalogHash string

	ResultBytes int           // the greatest size of each channel of a result; 0: 32768
	Grace       time.Duration // time for running calls when the input ends or the server stops; 0: 5 s, below: none
	// Results maps a client's name to the channel of a result that its model reads; nil: each model reads both.
	Results map[string]Channel
	Version string // of the program, as clients see it
	State   string // where the engine stores its runs, for the log; "": in memory
	// Keys returns the approver keys. A record names those that signed in it. nil: there are none.
	Keys func() (gateway.Ring, error)
	// Catalog is what describe_catalog lists in addition to the patterns' tools: all tools behind the gate. nil:
	// nothing more.
	Catalog *catalog.Catalog
	// Switches returns the kill switches that are on, to explain why something does not run; nil: there are none.
	Switches func() ([]patterns.Switch, error)
	// Inbox returns the page on which people decide about calls. Each result that names the page calls it, at any time.
	// nil: there is no page.
	Inbox func() Page
}

// These are the defaults of the configuration (spec/config.md section 2, limits and wait).
const (
	defaultResultBytes = 32 << 10
	defaultGrace       = 5 * time.Second
	defaultRuns        = 2000
	defaultWait        = 45 * time.Second
	defaultWaitMax     = 240 * time.Second
)

// Server offers patterns as MCP tools. It is safe for concurrent use.
//
// [Server.Replace] replaces everything that is served. Each configuration has a Server, which does not change. All of
// them share the state of clients, runs and transports. A tool keeps the Server that declared it, so that a call ends
// as it began. New requests use the newest Server.
type Server struct {
	*shared
	config     Config
	tools      []*tool
	catalog    *describe.Tool
	runTools   []*status.Tool
	planStatus map[string]*status.Tool // by the planning pattern's name
	prompts    map[string]*prompt      // by name
	encoded    encodedListing
}

// shared holds the state that stays when the configuration is replaced.
type shared struct {
	log        *slog.Logger
	mcp        *mcpserver.MCPServer
	shown      status.Seen // by run_wait
	levels     levels
	scratch    sync.Pool // of *scratch, for results
	subscribed subscriptions
	listening  listeners
	principal  string
	transports *transport.Server
	waiting    parked // runs that wait

	replacing sync.Mutex             // held during a replacement
	current   atomic.Pointer[Server] // the newest Server
}

// New makes a server and declares all its tools. It reports every fault, and with a fault it returns no server.
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
		mcpserver.WithInstructions(s.instructions()),
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

// newest returns the Server of the newest configuration.
func (s *Server) newest() *Server {
	if s.shared == nil {
		return s
	}
	if now := s.current.Load(); now != nil {
		return now
	}
	return s // New has not finished
}

// status returns what the tools about runs and plans work with.
func (s *Server) status() status.Config {
	return status.Config{
		Host: host{s}, Engine: s.config.Engine, Waits: s.config.waits(), ResultBytes: s.config.ResultBytes, Seen: &s.shown, Log: s.log,
	}
}

// served returns all tools with their handlers.
func (s *Server) served() []mcpserver.ServerTool {
	var list []mcpserver.ServerTool
	add := func(declared mcp.Tool, handle mcpserver.ToolHandlerFunc) {
		list = append(list, mcpserver.ServerTool{Tool: declared, Handler: s.transports.Settled(handle)})
	}
	for i, t := range s.tools {
		add(t.declared, t.handle)
		if after := s.statusAfter(i); after != nil {
			add(after.Declared(), after.Handle)
		}
	}
	if s.config.offers(arguments.CatalogTool) {
		add(s.catalog.Declared(), s.catalog.Handle)
	}
	for _, t := range s.runTools {
		if s.config.offers(t.Name()) {
			add(t.Declared(), t.Handle)
		}
	}
	return list
}

// runs returns how many calls may run at once.
func (c Config) runs() int64 { return int64(cmp.Or(c.ConcurrentRuns, defaultRuns)) }

// completed returns the configuration with defaults for values that are not set.
func (c Config) completed() Config {
	c.ResultBytes = cmp.Or(c.ResultBytes, defaultResultBytes)
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	c.WaitDefault = cmp.Or(c.WaitDefault, defaultWait)
	if c.WaitMax = max(cmp.Or(c.WaitMax, defaultWaitMax), 0); c.WaitMax == 0 {
		c.WaitDefault = -1
	}
	c.WaitDefault = min(c.WaitDefault, c.WaitMax)
	all := slices.Concat(c.Patterns, c.within)
	c.Patterns = slices.DeleteFunc(slices.Clone(all), func(p Pattern) bool { return !c.offers(p.Spec.Name) })
	c.within = runBy(c.Patterns, slices.DeleteFunc(all, func(p Pattern) bool { return c.offers(p.Spec.Name) }))
	return c
}

// runBy returns those of the other patterns that the given patterns run as workers or routes, directly or through each other.
func runBy(given, others []Pattern) []Pattern {
	var within []Pattern
	for next := given; len(next) > 0; {
		var found []Pattern
		for _, p := range next {
			for _, t := range arguments.NamedTools(p.Spec) {
				if i := slices.IndexFunc(others, func(o Pattern) bool { return t.Pattern != "" && o.Spec.Name == t.Pattern }); i >= 0 {
					found = append(found, others[i])
					others = slices.Delete(others, i, i+1)
				}
			}
		}
		within = append(within, found...)
		next = found
	}
	return within
}

// offers reports whether clients see a tool of that name, if it exists.
func (c Config) offers(name string) bool { return c.Offer == nil || slices.Contains(c.Offer, name) }

// waits returns how long calls wait for their runs.
func (c Config) waits() arguments.Waits {
	return arguments.Waits{Default: c.WaitDefault, Max: c.WaitMax}
}

// reached returns the patterns that calls of clients can run: those that clients see, and then those that only these run.
func (c Config) reached() []Pattern { return slices.Concat(c.Patterns, c.within) }

// specs returns the specs of the patterns that calls of clients can run.
func (c Config) specs() []patterns.Spec {
	var list []patterns.Spec
	for _, p := range c.reached() {
		list = append(list, p.Spec)
	}
	return list
}

// modelName returns the name of the model that answers questions.
func (c Config) modelName() string {
	if c.Model == nil { // check reports this fault
		return ""
	}
	return c.Model.Name()
}

func (c Config) check() error {
	var faults []error
	if c.Engine == nil {
		faults = append(faults, errNoEngine)
	}
	if c.Model == nil {
		faults = append(faults, errNoModel)
	}
	for _, name := range []string{arguments.StatusTool, arguments.WaitTool} {
		if len(c.completed().Patterns) > 0 && !c.offers(name) {
			faults = append(faults, errNotOffered(name))
		}
	}
	if c.ResultBytes < 0 {
		faults = append(faults, errResultBytes(c.ResultBytes))
	}
	return errors.Join(faults...)
}

// declare makes the tools concurrently, because their schemas take most of the start time.
func (s *Server) declare() error {
	s.tools = make([]*tool, len(s.config.Patterns))
	faults := make([]error, len(s.tools)+3)
	var all sync.WaitGroup
	all.Go(func() { faults[len(s.tools)] = s.declareStatus() })
	all.Go(func() {
		var err error
		s.catalog, err = describe.New(describe.Config{
			Host: host{s}, Offered: s.config.specs(), Catalog: s.config.Catalog, ResultBytes: s.config.ResultBytes, Log: s.log,
		})
		if err != nil {
			faults[len(s.tools)+1] = fmt.Errorf("%s: %w", arguments.CatalogTool, err)
		}
	})
	all.Go(func() { s.runTools, faults[len(s.tools)+2] = status.New(s.status()) })
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
		if named[t.Name()] {
			faults = append(faults, errShowsPlans(t.Name(), plans))
		}
	}
	return errors.Join(faults...)
}

// Tools returns the declarations as tools/list shows them: the patterns in the order in which they were given, then
// describe_catalog and the tools about runs.
func (s *Server) Tools() []mcp.Tool {
	s = s.newest()
	list := make([]mcp.Tool, 0, len(s.tools)+len(s.planStatus)+len(ownTools))
	for i, t := range s.tools {
		list = append(list, t.declared)
		if after := s.statusAfter(i); after != nil {
			list = append(list, after.Declared())
		}
	}
	if s.config.offers(arguments.CatalogTool) {
		list = append(list, s.catalog.Declared())
	}
	for _, t := range s.runTools {
		if s.config.offers(t.Name()) {
			list = append(list, t.Declared())
		}
	}
	return list
}

// Outputs returns the whole output schemas of the tools, by name. Those in tools/list name only the members by which a
// client acts.
func (s *Server) Outputs() map[string]json.RawMessage {
	s = s.newest()
	whole := map[string]json.RawMessage{arguments.CatalogTool: s.catalog.Output()}
	for _, t := range s.tools {
		whole[t.Spec.Name] = envelope.Schema(t.Spec)
	}
	for _, t := range slices.AppendSeq(slices.Clone(s.runTools), maps.Values(s.planStatus)) {
		whole[t.Name()] = t.Output()
	}
	maps.DeleteFunc(whole, func(name string, _ json.RawMessage) bool { return !s.config.offers(name) })
	return whole
}

// Pattern is one pattern that the server offers as a tool.
type Pattern struct {
	Spec patterns.Spec
	// Model answers the questions of its runs. If it is nil, the model of [Config] does.
	Model patterns.Model
	// Configured says that the user set up Model, as in [Config].
	Configured bool
	// Title and Description are shown by clients to people and to their model.
	Title, Description string
	// Completions are the values to offer while a person fills in an argument of the pattern's prompt, by argument
	// name.
	Completions map[string][]string
	// PolicyHash identifies the policy in force, for the record.
	PolicyHash string
	// Reasons are the stop reasons with which the pattern's policies, and those of tools that it may call, block a
	// call.
	Reasons []string
}

// Page is the page on which people decide, as results name it. The zero Page is none.
type Page = outcome.Page

// inbox returns the page on which people decide.
func (s *Server) inbox() outcome.Page {
	if s == nil || s.config.Inbox == nil {
		return outcome.Page{}
	}
	return s.config.Inbox()
}

// ownTools lists the names that a pattern must not have, in the order in which the tools are listed.
var ownTools = []string{arguments.CatalogTool, arguments.StatusTool, arguments.WaitTool, arguments.CancelTool, arguments.ListTool}
