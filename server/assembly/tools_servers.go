package assembly

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"patterngate/catalog"
	"patterngate/catalog/pins"
	"patterngate/catalog/resilience"
	"patterngate/catalog/upstream"
	"patterngate/ijson"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// server makes the tools of one MCP server.
func (m *ownMaker) server(s *tools.Server) {
	if s.Stdio == nil && s.HTTP == nil { // reported when the file was read
		return
	}
	guard := resilience.New(resilience.Config{Failures: s.Breaker.Failures, Open: s.Breaker.Open, MaxParallel: s.MaxParallel})
	running, admits, err := m.pool.server(m, s)
	if err != nil {
		m.fault(yamldoc.Fault{Reason: err.Error(), Want: wantCertificates}, "http", "ca_file")
		return
	}
	m.out.servers[s.Name] = running
	m.atOnce(s.Tools, func(part *ownMaker, t *tools.ServerTool) {
		if t.Enabled {
			part.within(func() { part.serverTool(s, t, running, guard, admits) }, "catalog", "servers", s.Name, "tools", t.Upstream)
		}
	})
}

// atOnce makes tools on all processors. Tools and faults keep the order of the file.
func (m *ownMaker) atOnce(tools []tools.ServerTool, do func(part *ownMaker, t *tools.ServerTool)) {
	parts := slices.Repeat([]ownMaker{*m}, len(tools))
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(tools)) {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(tools); i = int(next.Add(1)) - 1 {
				part := &parts[i]
				part.out, part.faults = ownTools{}, nil
				do(part, &tools[i])
			}
		})
	}
	working.Wait()
	for _, part := range parts {
		m.out.tools, m.out.held, m.out.behind = append(m.out.tools, part.out.tools...), append(m.out.held, part.out.held...), append(m.out.behind, part.out.behind...)
		m.faults = append(m.faults, part.faults...)
	}
}

// serverTool makes one tool of a server from its line in the lock. Without a line the tool is held.
func (m *ownMaker) serverTool(s *tools.Server, c *tools.ServerTool, running *upstream.Server, guard *resilience.Guard, admits *admission) {
	t := common(&c.Tool, s.Name)
	t.Timeout = c.Timeout
	behind := &behindServer{server: running, upstream: c.Upstream, secrets: map[string]catalog.Secret{}, log: m.log, name: c.Name, at: s.Name, guard: guard, repeatable: t.Repeatable()}
	if s.HTTP != nil {
		if closed := tools.ClosedHostOf(s.HTTP.URL, m.config.Catalog.AllowNetworks); closed != nil {
			behind.closed = closed.Why(m.config.Catalog.AllowNetworks)
		}
		behind.url, behind.allow = s.HTTP.URL, m.config.Catalog.AllowNetworks
	}
	pinned, ok := m.lock.Tool(s.Name, c.Upstream)
	if ok {
		behind.pinned = &pinned
		t.Title, t.Description = orElse(t.Title, pinned.Title), orElse(t.Description, pinned.Description)
	} else {
		m.out.hold(behind, noLine)
		t.Phrase = "" // its arguments are not known yet, and no person is asked about its calls
	}
	if !m.serverSchemas(&t, c, pinned, ok, behind) {
		return
	}
	m.once(&t, &c.Tool, whole(t), ok)
	m.phrase(&t)
	if behind.pinned != nil {
		admits.add(behind)
	}
	m.out.behind = append(m.out.behind, behind)
	t.Ready = behind.ready
	t.Do = m.masked(behind.outside(throttled(guard, c.Rate, behind.call)))
	m.add(t)
}

// serverSchemas sets the schema that a proposer sees and the schema that a call must fit. It returns false if it recorded a
// fault.
func (m *ownMaker) serverSchemas(t *catalog.Tool, c *tools.ServerTool, pinned pins.Definition, known bool, behind *behindServer) bool {
	raw := openInput
	if known && len(pinned.Input) > 0 {
		raw = pinned.Input
	}
	theirs, err := catalog.CompileUpstream(raw)
	if err != nil {
		m.fault(yamldoc.Fault{Reason: badLockedInput(err), Want: wantServerFixed})
		return false
	}
	if known && len(pinned.Output) > 0 {
		if t.Output, err = catalog.CompileUpstream(pinned.Output); err != nil {
			m.fault(yamldoc.Fault{Reason: badLockedOutput(err), Want: wantServerFixed})
			return false
		}
	}
	if !m.fixed(t, c, theirs, known, behind) {
		return false
	}
	shown := theirs.Shown()
	if known {
		shown = shown.Closed(theirs)
	}
	t.Input = shown.Without(slices.Collect(maps.Keys(t.Fixed))...)
	if len(c.Bound) > 0 && known {
		bounds, faults := catalog.CompileBounds(c.Bound) // its own faults were reported when the file was read
		if bounds == nil && len(faults) > 0 {
			return false
		}
		if t.Input, faults = t.Input.Bounded(bounds); m.schema(faults, c.Upstream, theirs.PropertyNames(), "bound") {
			return false
		}
		t.Defaults = catalog.BoundDefaults(bounds)
	}
	t.Also = []*catalog.Schema{theirs.Hiding(slices.Collect(maps.Keys(behind.secrets))...)}
	return true
}

// fixed sets the arguments that the configuration fixes. A secret argument is inserted when the call is sent. It returns
// false if it recorded a fault.
func (m *ownMaker) fixed(t *catalog.Tool, c *tools.ServerTool, theirs *catalog.Schema, known bool, behind *behindServer) bool {
	if len(c.Fix) == 0 {
		return true
	}
	t.Fixed = map[string]any{}
	plain := map[string]any{}
	for _, f := range c.Fix {
		if f.Secret.Set() {
			t.Fixed[f.Name] = "***"
			behind.secrets[f.Name] = m.secrets.of(f.Secret)
			continue
		}
		t.Fixed[f.Name], plain[f.Name] = f.Value, f.Value
	}
	if !known {
		return true
	}
	names := theirs.PropertyNames()
	fine := true
	for _, f := range c.Fix {
		if len(names) > 0 && !slices.Contains(names, f.Name) {
			fine = false
			m.unknown(tools.NoArgument(c.Upstream, f.Name, names), "fix", f.Name)
		}
	}
	for _, w := range theirs.CheckGiven(plain) {
		if w.Kind == catalog.MismatchUnknown && len(w.Pointer.Tokens()) == 1 {
			if len(names) == 0 {
				fine = false
				m.unknown(tools.NoArgument(c.Upstream, w.Pointer.Tokens()[0], nil), "fix", w.Pointer.Tokens()[0])
			}
			continue
		}
		fine = false
		tell := m.fault
		if w.Kind == catalog.MismatchUnknown {
			tell = m.unknown
		}
		tell(yamldoc.Fault{Reason: notFitting, Want: "write " + w.Want}, stepsAt(plain, "fix", w.Pointer)...)
	}
	return fine
}

// stepsAt returns the steps of a path below key for a pointer into a value: names for members, [0] for items.
func stepsAt(v any, key string, p ijson.Pointer) []string {
	steps := []string{key}
	at := ijson.Pointer("")
	for _, token := range p.Tokens() {
		holder, _ := at.In(v)
		if _, list := holder.([]any); list {
			steps = append(steps, "["+token+"]")
		} else {
			steps = append(steps, token)
		}
		at = at.Member(token)
	}
	return steps
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

// behindServer is a tool of an MCP server that Patterngate calls. It is safe for concurrent use.
type behindServer struct {
	server             *upstream.Server
	at, upstream, name string           // the server's name, the tool's name at the server and in the catalog
	pinned             *pins.Definition // nil: nobody accepted it
	closed             string           // why its server's address is not dialled; "": it can be
	url                string           // of a server over HTTP
	allow              []netip.Prefix   // the networks in allow_networks
	held               string           // why it is held, independent of the server; "": not held
	secrets            map[string]catalog.Secret
	repeatable         bool // a call can be sent again
	guard              *resilience.Guard
	log                *slog.Logger
	judged             atomic.Pointer[judgedDefinition]
}

// judgedDefinition is what a server declared at the last comparison with the lock.
type judgedDefinition struct {
	upstream.Definition
	same bool
}

// outside refuses a call of a held tool before anything is counted or started for it. It logs calls of tools that are held
// or unavailable.
func (b *behindServer) outside(do catalog.Func) catalog.Func {
	return func(ctx context.Context, call catalog.Call) (any, error) {
		if b.held != "" {
			b.log.Warn("tool held", "name", b.name, "server", b.at)
			return nil, heldFault(b.held)
		}
		observation, err := do(ctx, call)
		fault, ok := errors.AsType[*catalog.Fault](err)
		switch {
		case !ok || fault.Kind != catalog.NotSent:
		case errors.Is(fault, errHeld):
			b.log.Warn("tool held", "name", b.name, "server", b.at)
		default:
			b.log.Warn("tool unavailable", "name", b.name, "server", b.at, "cause", fault.Cause)
		}
		return observation, err
	}
}

func (b *behindServer) call(ctx context.Context, call catalog.Call) (any, error) {
	if b.repeatable {
		return b.server.CallRepeatable(ctx, b.upstream, call.Args, b.secrets)
	}
	return b.server.Call(ctx, b.upstream, call.Args, b.secrets)
}

func (b *behindServer) drifted() string {
	return changedDeclaration(pins.Word(b.at, b.upstream))
}

// accepted reports whether a declaration equals the one in the lock. It remembers the last comparison.
func (b *behindServer) accepted(d upstream.Definition) bool {
	if last := b.judged.Load(); last != nil && sameDefinition(last.Definition, d) {
		return last.same
	}
	now, err := DefinitionOf(d)
	same := err == nil && now.Hash() == b.pinned.Hash()
	b.judged.Store(&judgedDefinition{d, same})
	return same
}

func sameDefinition(a, b upstream.Definition) bool {
	return bytes.Equal(a.Name, b.Name) && bytes.Equal(a.Title, b.Title) && bytes.Equal(a.Description, b.Description) &&
		bytes.Equal(a.Input, b.Input) && bytes.Equal(a.Output, b.Output)
}

// DefinitionOf converts a declaration to the form of the lock.
func DefinitionOf(d upstream.Definition) (pins.Definition, error) {
	out := pins.Definition{Input: d.Input, Output: d.Output}
	for _, text := range []struct {
		from json.RawMessage
		to   *string
	}{{d.Name, &out.Name}, {d.Title, &out.Title}, {d.Description, &out.Description}} {
		if len(text.from) == 0 {
			continue
		}
		v, err := ijson.Decode(text.from)
		word, ok := v.(string)
		if err != nil || !ok {
			return pins.Definition{}, errors.New(declarationNotText)
		}
		*text.to = word
	}
	return out, nil
}

// admission checks what a server declares in the session that a call uses. Configurations that share a server share its
// admission, so tools can be added during checks. It is safe for concurrent use.
type admission struct {
	server string
	log    *slog.Logger

	mu    sync.Mutex
	tools map[string]*behindServer // by their names at the server
}

// add adds a tool to the checks. If a shared server already has a tool of that name, the earlier one stays.
func (a *admission) add(b *behindServer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, shared := a.tools[b.upstream]; !shared {
		a.tools[b.upstream] = b
	}
}

// judged returns the tools that are checked now.
func (a *admission) judged() map[string]*behindServer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.tools)
}

// changed logs the tools whose declaration differs from the accepted one.
func (a *admission) changed(string) {
	tools := a.judged()
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		if b := tools[name]; b.ready().State == catalog.Held {
			a.log.Warn("tool held", "name", b.name, "server", a.server, "why", b.ready().Why)
		}
	}
}

// admit returns an error if a tool is not accepted, or if its declaration differs from the accepted one.
func (a *admission) admit(d upstream.Definition) error {
	a.mu.Lock()
	tool, known := a.tools[d.Tool()]
	a.mu.Unlock()
	switch {
	case known && tool.pinned == nil && strings.HasPrefix(tool.held, unsigned):
		return &driftError{tool.held}
	case !known || tool.pinned == nil:
		return &driftError{notAcceptedTool}
	}
	if !tool.accepted(d) {
		return &driftError{tool.drifted()}
	}
	return nil
}

// driftError means that a server's declaration of a tool is not the accepted one. A breaker does not count it as a failure
// of the server.
type driftError struct{ why string }

func (d *driftError) Error() string { return d.why }

// Local reports that the cause is on this side and not at the server.
func (d *driftError) Local() bool { return true }

// Is reports whether target is errHeld: such a tool is held.
func (d *driftError) Is(target error) bool { return target == errHeld }

// ready returns the state of the tool without starting anything.
func (b *behindServer) ready() catalog.Readiness {
	if b.held != "" {
		return catalog.Readiness{State: catalog.Held, Why: b.held}
	}
	if declared, known := b.server.Present(b.upstream); known {
		if len(declared.Name) == 0 {
			return catalog.Readiness{State: catalog.Unavailable, Why: noSuchTool(b.at, b.upstream)}
		}
		if !b.accepted(declared) {
			return catalog.Readiness{State: catalog.Held, Why: b.drifted()}
		}
	}
	if b.closed != "" {
		return catalog.Readiness{State: catalog.Unavailable, Why: b.closed}
	}
	running, why := b.server.Status()
	here := ""
	if closed := tools.ClosedBy(why, b.url, b.allow); closed != nil && !running {
		here = closed.Why(b.allow)
	}
	if open, _ := b.guard.Open(); open {
		return catalog.Readiness{State: catalog.Unavailable, Why: breakerOpen(b.at), Here: here}
	}
	if !running && why != nil {
		return catalog.Readiness{State: catalog.Unavailable, Why: noAnswer(b.at), Here: here}
	}
	return catalog.Readiness{}
}
