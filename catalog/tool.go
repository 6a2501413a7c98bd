package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"patterngate/ijson"
)

// Effect is what a call of a tool can change. The catalog declares it; hints of a server do not count. The zero Effect
// is none of the three and [New] rejects it.
type Effect string

// The effects a tool may declare.
const (
	Read        Effect = "read"        // changes nothing
	Write       Effect = "write"       // changes something that can be repaired
	Destructive Effect = "destructive" // changes something permanently
)

// Call is one call of a tool, with checked arguments.
type Call struct {
	// Args are the decoded arguments (see package ijson for the Go types); the tool must not change them.
	Args map[string]any
	// Key is the idempotency key: equal for repetitions of the same call, and otherwise unique over all runs.
	Key string
	// Attempt counts the attempts of one task from 1.
	Attempt int
}

// Func performs a call. It returns a decoded JSON value (package ijson), which it does not change afterwards, or an
// error. It should end when ctx ends, but callers do not depend on that.
type Func func(ctx context.Context, call Call) (any, error)

// Tool is one thing that may be called, with all that proposers, the policy and people need to know about it.
type Tool struct {
	Name        string // ^[a-zA-Z0-9_-]{1,64}$
	Title       string
	Description string // one or two sentences: what it does, in the words that a goal would use
	// Phrase describes a call for people: "refunding {amount_usd} USD to user {user_id}". {argument} is the value of a
	// number, boolean or enumerated argument. Empty means the tool's name and such arguments. See [Tool.Say].
	Phrase string
	// Deed is the verb for such a call once it is done, as in "nothing was paid"; empty: "written".
	Deed       string
	Effect     Effect
	Idempotent bool // the same Key twice acts once; always true of a read
	// Simulated says that the tool's effects are make-believe: a call changes nothing real.
	Simulated bool
	// Origin is what rules and lists call the tool's server if Server is "".
	Origin string
	// Supplied are arguments that a pattern sets by itself in each call of the tool. Package patterns knows their names.
	Supplied []string
	// Input is the schema that is shown and that proposed arguments must fit. For a server's tool it is the server's
	// schema without the fixed arguments and with the narrower bounds. Also are further schemas that the whole
	// arguments, with the fixed ones, must fit.
	Input *Schema
	Also  []*Schema
	// Extra finds faults that no schema describes in arguments that fit, such as one that changes the path of a URL;
	// nil: none.
	Extra  func(args map[string]any) []Mismatch
	Output *Schema // nil: any JSON value
	Do     Func
	// Reconcile finds out whether a call happened whose outcome is unknown; nil: only a person can decide.
	Reconcile *Reconcile

	// The fields Of, Pattern and Goal are for workers and routes that a configuration declares under their own names
	// (spec/config.md section 7). All may be zero.

	// Of is the name by which rules, windows, switches and records know the tool, if Name is only the pattern's name
	// for it. See [Tool.Own].
	Of string
	// Pattern is the pattern whose run a call starts; "": the tool starts no run. With a pattern, Do is nil, Server is
	// "pattern", and Goal is the argument that contains the run's goal.
	Pattern, Goal string

	// The fields from here on are for tools that a configuration declares (spec/config.md section 4). All may be zero.

	// Server is the name of the configured server that has the tool, or "http".
	Server string
	// Fixed are arguments that the configuration sets. A proposed argument of the same name counts as unknown. Rules,
	// digest, effects and the inbox see them; the trace, the history and args_hash do not. A secret is *** here, and Do
	// replaces it by its text.
	Fixed map[string]any
	// Defaults are the values of absent arguments. They are added before a call is judged.
	Defaults map[string]any
	// Timeout limits one attempt of a call; 0: only the pattern's deadline does.
	Timeout time.Duration
	// MaxResult is how many bytes of an observation are kept for the record, the model and readers; 0: 65536, which is
	// the maximum.
	MaxResult int
	Retry     Retry
	// Once returns the business key of a call from its whole arguments: the same key acts once over all runs. nil: no
	// business key.
	Once func(args map[string]any) (string, error)
	// Ready reports whether the tool can be called now; nil: always. It changes nothing.
	Ready func() Readiness

	asked *Schema // made once, for Asked
}

// Retry tells how often a call is made again, and after which pauses. The pauses begin with Delay and double up to
// MaxDelay. The zero Retry makes no call again.
type Retry struct {
	Max             int
	Delay, MaxDelay time.Duration
}

// Readiness reports whether a tool can be called (spec/surface.md section 2, describe_catalog).
type Readiness struct {
	State State
	// Why is one line for people: "no line in patterngate.lock; run patterngate catalog accept orders/read_file". It is
	// "" when ready.
	Why string
	// Here is one line for people on this machine only: why the last call could not be sent, with addresses of its
	// network. Callers from elsewhere must not see it. "" means that there is nothing to report. Here can be set while
	// the state is ready.
	Here string
}

// State is a tool's state. The zero State is ready.
type State string

// The states of a tool.
const (
	Ready       State = ""
	Held        State = "held"        // the server's declaration is not accepted, or changed since
	Unavailable State = "unavailable" // the server does not answer, lacks the tool, or a secret is missing
)

// Repeatable reports whether a call whose outcome is unknown may be made again.
func (t Tool) Repeatable() bool { return t.Effect == Read || t.Idempotent }

// Own returns the name of the tool outside of the pattern that gives it another name.
func (t Tool) Own() string { return cmp.Or(t.Of, t.Name) }

// PatternServer is the [Tool.Server] of a pattern that is a worker or a route.
const PatternServer = "pattern"

var (
	name = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	deed = regexp.MustCompile(`^[a-z]{1,20}$`)
)

func (t Tool) check() error {
	switch {
	case !name.MatchString(t.Name):
		return fmt.Errorf(toolName, t.Name)
	case t.Name == "final" || t.Name == "model" || t.Name == "caller":
		return fmt.Errorf(toolNameReserved, t.Name)
	case t.Effect != Read && t.Effect != Write && t.Effect != Destructive:
		return fmt.Errorf(toolEffect, t.Name, t.Effect)
	case t.Input == nil:
		return fmt.Errorf(toolNoInput, t.Name)
	case t.Do == nil && t.Pattern == "":
		return fmt.Errorf(toolNoCall, t.Name)
	}
	if t.Deed != "" && !deed.MatchString(t.Deed) {
		return fmt.Errorf(toolDeed, t.Name, t.Deed)
	}
	if err := t.checkPhrase(); err != nil {
		return err
	}
	return t.checkDeclared()
}

// These are the bounds of a tool's members in a configuration (spec/config.md section 4).
const (
	maxResult  = 64 << 10
	maxRetries = 5
	maxPhrase  = 200 // characters
	maxTimeout = time.Hour
)

// checkDeclared checks the members that a configuration sets.
func (t Tool) checkDeclared() error {
	switch {
	case t.MaxResult < 0 || t.MaxResult > maxResult:
		return fmt.Errorf(toolResultBytes, t.Name, t.MaxResult, maxResult)
	case t.Retry.Max < 0 || t.Retry.Max > maxRetries:
		return fmt.Errorf(toolRetries, t.Name, t.Retry.Max, maxRetries)
	case t.Retry.Delay < 0 || t.Retry.MaxDelay < 0:
		return fmt.Errorf(toolPause, t.Name)
	case t.Timeout < 0 || t.Timeout > maxTimeout:
		return fmt.Errorf(toolTimeout, t.Name, t.Timeout, maxTimeout)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Fixed)) {
		if t.Input.root().has(name) {
			return fmt.Errorf(toolFixedShown, t.Name, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Defaults)) {
		if _, fixed := t.Fixed[name]; fixed {
			return fmt.Errorf(toolFixedDefault, t.Name, name)
		}
	}
	for _, values := range []map[string]any{t.Fixed, t.Defaults} {
		if _, err := ijson.AppendChecked(nil, members(values)); err != nil {
			return fmt.Errorf(toolFixed, t.Name, err)
		}
	}
	return nil
}

// Catalog is a fixed set of tools. The zero Catalog is empty. It is safe for concurrent use.
type Catalog struct {
	tools  []Tool
	byName map[string]int
}

// New returns a catalog of tools in the given order. It reports all faults at once.
func New(tools ...Tool) (*Catalog, error) {
	c := &Catalog{byName: make(map[string]int, len(tools))}
	var faults []error
	for _, t := range tools {
		if err := t.check(); err != nil {
			faults = append(faults, err)
			continue
		}
		if _, twice := c.byName[t.Name]; twice {
			faults = append(faults, fmt.Errorf(toolTwice, t.Name))
			continue
		}
		t.Idempotent = t.Idempotent || t.Effect == Read
		if len(t.Fixed) > 0 {
			t.asked = t.withFixed()
		}
		c.byName[t.Name] = len(c.tools)
		c.tools = append(c.tools, t)
	}
	for _, t := range c.tools {
		if err := c.checkReconcile(t); err != nil {
			faults = append(faults, err)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return c, nil
}

// With returns a catalog with more tools: a pattern's view of c. The new tools come first and replace tools of the same
// name. A nil or zero Catalog is allowed.
func (c *Catalog) With(more ...Tool) (*Catalog, error) {
	all := slices.Clone(more)
	if c != nil {
		for _, t := range c.tools {
			if !slices.ContainsFunc(more, func(m Tool) bool { return m.Name == t.Name }) {
				all = append(all, t)
			}
		}
	}
	return New(all...)
}

// Tool returns the tool of that name.
func (c *Catalog) Tool(name string) (Tool, bool) {
	if c == nil {
		return Tool{}, false
	}
	i, ok := c.byName[name]
	if !ok {
		return Tool{}, false
	}
	return c.tools[i], true
}

// Names returns the names of all tools in the catalog's order.
func (c *Catalog) Names() []string {
	if c == nil {
		return nil
	}
	names := make([]string, len(c.tools))
	for i, t := range c.tools {
		names[i] = t.Name
	}
	return names
}
