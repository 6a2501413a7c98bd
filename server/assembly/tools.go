package assembly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
	"patterngate/catalog/pins"
	"patterngate/catalog/resilience"
	"patterngate/catalog/upstream"
	"patterngate/gateway/policy"
	"patterngate/gateway/policy/expr"
	"patterngate/server/buildinfo"
	"patterngate/server/settings"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// ownTools holds the tools that a configuration declares, ready to be called. Making them only compiles their schemas.
// Servers start, and connections open, with the first call of a tool.
//
//	tools.Catalog ─┬─ lock ──▶ schemas, held or not ─┐
//	               ├─ CEL ───▶ once, reconcile ──────┼─▶ []catalog.Tool
//	               └─ server ▶ upstream / httptool ──┘   Do: held? ─▶ breaker, rate ─▶ call ─▶ masked observation
type ownTools struct {
	tools   []catalog.Tool
	servers map[string]*upstream.Server // enabled servers by their name in the configuration
	held    []HeldTool
	behind  []*behindServer
	secrets *secrets
}

// HeldTool is a tool that cannot be called until a person accepts what its server declares.
type HeldTool struct{ Server, Upstream, name, why string }

// ownFault is a fault or warning about a place in the configuration. It is found only when tools are made from the
// configuration.
type ownFault struct {
	path   []string // keys from the root
	offset int      // of the character in the text there; below 0: the value itself
	key    bool     // the place is the key
	yamldoc.Fault
	warning bool
}

// ownMaker makes the tools of a configuration.
type ownMaker struct {
	config  *settings.Config
	lock    *pins.Lock
	pool    *serverPool
	client  *httptool.Client
	secrets *secrets
	log     *slog.Logger
	who     upstream.Identity
	// compiled are the schemas of arguments that were compiled while the file was read.
	compiled tools.Compiled
	out      ownTools
	faults   []ownFault
	at       []string // the present place in the configuration
}

// makeOwn makes the tools that a configuration declares. It returns faults with their places, and leaves out tools that it
// could not make.
func makeOwn(c *settings.Config, lock *pins.Lock, pool *serverPool, environ []string) (*ownTools, []ownFault) {
	return makeOwnOf(c, lock, pool, environ, nil)
}

// makeOwnOf is makeOwn with schemas that are already compiled.
func makeOwnOf(c *settings.Config, lock *pins.Lock, pool *serverPool, environ []string, compiled tools.Compiled) (*ownTools, []ownFault) {
	if !c.Catalog.Declared {
		return &ownTools{secrets: pool.secrets(environ)}, nil
	}
	m := &ownMaker{
		config: c, lock: lock, pool: pool, compiled: compiled, secrets: pool.secrets(environ), log: pool.log.logger(),
		client: pool.client(c.Catalog.AllowNetworks), who: upstream.Identity{Name: "patterngate", Version: buildinfo.Read().Version},
	}
	m.out.secrets, m.out.servers = m.secrets, map[string]*upstream.Server{}
	for i := range c.Catalog.HTTP {
		if t := &c.Catalog.HTTP[i]; t.Enabled {
			m.within(func() { m.httpTool(t) }, "catalog", "http", t.Name)
		}
	}
	for i := range c.Catalog.Servers {
		if s := &c.Catalog.Servers[i]; s.Enabled {
			m.within(func() { m.server(s) }, "catalog", "servers", s.Name)
		}
	}
	m.reconciles()
	return &m.out, m.faults
}

func (m *ownMaker) within(do func(), path ...string) {
	before := m.at
	m.at = path
	do()
	m.at = before
}

// fault records a fault below the present place.
func (m *ownMaker) fault(f yamldoc.Fault, path ...string) {
	m.faults = append(m.faults, ownFault{path: slices.Concat(m.at, path), offset: -1, Fault: f})
}

// unknown records a fault at a key below the present place that must not be there.
func (m *ownMaker) unknown(f yamldoc.Fault, path ...string) {
	m.faults = append(m.faults, ownFault{path: slices.Concat(m.at, path), offset: -1, key: true, Fault: f})
}

// expression records a fault in an expression, at the exact character.
func (m *ownMaker) expression(f expr.Fault, path ...string) {
	m.faults = append(m.faults, ownFault{
		path: slices.Concat(m.at, path), offset: f.Offset, warning: f.Warning,
		Fault: yamldoc.Fault{Reason: f.Reason, Want: f.Want, DidYouMean: f.DidYouMean},
	})
}

// schema records the faults of a schema of the file that only a comparison with the lock shows.
func (m *ownMaker) schema(faults []catalog.SchemaFault, tool string, names []string, path ...string) (wrong bool) {
	for _, f := range faults {
		fault := tools.FaultOfSchema(f)
		if tokens := f.Pointer.Tokens(); len(tokens) == 1 && !slices.Contains(names, tokens[0]) {
			m.unknown(tools.NoArgument(tool, tokens[0], names), append(path, tokens[0])...)
			wrong = true
			continue
		}
		m.faults = append(m.faults, ownFault{
			path: slices.Concat(m.at, path, f.Pointer.Tokens()), offset: -1, warning: f.Warning, Fault: fault,
		})
		wrong = wrong || !f.Warning
	}
	return wrong
}

// common returns a catalog tool with the members that all tools have.
func common(t *tools.Tool, server string) catalog.Tool {
	return catalog.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Phrase: t.Phrase, Effect: t.Effect, Idempotent: t.Idempotent,
		Server: server, MaxResult: t.MaxResult, Retry: t.Retry,
	}
}

// masked returns do with the secrets in its observation masked.
func (m *ownMaker) masked(do catalog.Func) catalog.Func {
	mask := m.secrets.mask
	return func(ctx context.Context, call catalog.Call) (any, error) {
		observation, err := do(ctx, call)
		if err != nil {
			return nil, err
		}
		if told, ok := observation.(catalog.Told); ok {
			told.Value, _ = mask.Value(told.Value).(map[string]any)
			return told, nil
		}
		return mask.Value(observation), nil
	}
}

// once adds the business key. If the arguments are not known yet, faults are only warnings: their types can come with the
// lock. Until then the tool is held, so no call needs a key.
func (m *ownMaker) once(t *catalog.Tool, c *tools.Tool, whole *catalog.Schema, known bool) {
	if c.Once == "" {
		return
	}
	key, faults := policy.Once(c.Once, c.Name, whole)
	for _, f := range faults {
		f.Warning = f.Warning || !known
		m.expression(f, "once")
	}
	if known {
		t.Once = key
	}
}

// phrasePlace matches the place of an argument in a phrase.
var phrasePlace = regexp.MustCompile(`\{[^{}]*\}`)

// phrase checks the words that people read about a waiting call. The arguments must be known. A tool with a wrong phrase
// gets none.
func (m *ownMaker) phrase(t *catalog.Tool) {
	known := t.Input.PropertyNames()
	wrong := func(f yamldoc.Fault) {
		m.fault(f, "phrase")
		t.Phrase = ""
	}
	if strings.Contains(phrasePlace.ReplaceAllString(t.Phrase, ""), "{") {
		wrong(yamldoc.Fault{Reason: strayBrace, Want: wantArgument})
		return
	}
	for _, place := range phrasePlace.FindAllString(t.Phrase, -1) {
		switch name := strings.Trim(place, "{}"); {
		case !slices.Contains(known, name):
			wrong(tools.NoArgument(t.Name, name, known))
			return
		case !t.Sayable(name):
			wrong(yamldoc.Fault{Reason: freeText(place), Want: wantBoundArguments})
			return
		}
	}
}

// add adds a tool to the result.
func (m *ownMaker) add(t catalog.Tool) { m.out.tools = append(m.out.tools, t) }

// reconciles links each tool to the tool that settles its unknown outcomes. It runs last, when both tools exist.
func (m *ownMaker) reconciles() {
	for i := range m.config.Catalog.HTTP {
		t := &m.config.Catalog.HTTP[i]
		m.within(func() { m.reconcile(&t.Tool) }, "catalog", "http", t.Name)
	}
	for i := range m.config.Catalog.Servers {
		s := &m.config.Catalog.Servers[i]
		for j := range s.Tools {
			t := &s.Tools[j]
			m.within(func() { m.reconcile(&t.Tool) }, "catalog", "servers", s.Name, "tools", t.Upstream)
		}
	}
}

func (m *ownMaker) reconcile(c *tools.Tool) {
	at := slices.IndexFunc(m.out.tools, func(t catalog.Tool) bool { return t.Name == c.Name })
	if c.Reconcile == nil || at < 0 {
		return
	}
	r := c.Reconcile
	by := slices.IndexFunc(m.out.tools, func(t catalog.Tool) bool { return t.Name == r.Tool })
	if by < 0 || m.out.tools[by].Effect != catalog.Read { // reported when the file was read
		return
	}
	asked, tool := m.out.tools[by], &m.out.tools[at]
	look, faults := policy.Reconcile(policy.ReconcileSource{
		Tool: c.Name, Input: whole(*tool), By: r.Tool, ByInput: asked.Input, Observation: asked.Output,
		Args: expressions(r.Args), Happened: r.Happened, Output: expressions(r.Output),
	})
	known, wrong := m.known(c.Name) && m.known(r.Tool), false
	for _, f := range faults {
		f.Warning = f.Warning || !known                      // their types can come with the lock, as with a business key
		m.expression(f, strings.SplitN(f.Member, ".", 3)...) // reconcile.args.NAME
		wrong = wrong || !f.Warning
	}
	if wrong || !known {
		return
	}
	happened := look.Happened
	if asked.Server == httpServer {
		happened = func(d catalog.Doubt, observation any) (bool, bool) {
			if absent(observation) { // not found: the call did not happen
				return false, true
			}
			return look.Happened(d, observation)
		}
	}
	tool.Reconcile = &catalog.Reconcile{Tool: r.Tool, Args: look.Args, Happened: happened, Output: look.Output, Settle: r.Settle}
}

// known reports whether the arguments and results of a tool are known. A tool of a server needs a line in the lock.
func (m *ownMaker) known(tool string) bool {
	return !slices.ContainsFunc(m.out.behind, func(b *behindServer) bool { return b.name == tool && b.pinned == nil })
}

// whole returns the schema of a tool's arguments as they are sent, for the types of expressions. It returns nil if it is
// not known.
func whole(t catalog.Tool) *catalog.Schema {
	if len(t.Also) > 0 {
		return t.Also[0]
	}
	return t.Input
}

func expressions(list []grammar.NamedExpression) []policy.Named {
	if list == nil {
		return nil
	}
	out := make([]policy.Named, len(list))
	for i, e := range list {
		out[i] = policy.Named{Name: e.Name, Text: e.Text}
	}
	return out
}

// absent reports whether an observation comes from an absent status code (spec/config.md section 4).
func absent(observation any) bool {
	o, _ := observation.(map[string]any)
	_, coded := o["status"].(float64)
	return len(o) == 2 && o["error"] == "not_found" && coded
}

// openInput is the input schema of a tool with an unknown schema.
var openInput = json.RawMessage(`{"type":"object"}`)

// httpServer is the server name of http tools.
const httpServer = "http"

// errHeld is the reason for not calling a tool without acceptance.
var errHeld = errors.New("held")

func heldFault(why string) error {
	return &catalog.Fault{Kind: catalog.NotSent, Cause: fmt.Errorf("%w: %s", errHeld, why)}
}

// throttled returns do with the tool's rate limit and the limits of its guard.
func throttled(g *resilience.Guard, r tools.Rate, do catalog.Func) catalog.Func {
	return g.Wrap(do, resilience.Rate{Calls: r.Calls, Burst: r.Burst, Per: r.Per})
}
