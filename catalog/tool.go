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

// Effect says what a call of a tool can change. It is declared here, in our catalog, and never believed from
// somebody else's hint. The zero Effect is none of the three and is refused by [New].
type Effect string

// The effects a tool may declare.
const (
	Read        Effect = "read"        // changes nothing
	Write       Effect = "write"       // changes something that can be made good
	Destructive Effect = "destructive" // changes something for good
)

// Call is one call of a tool: arguments that were judged, and the key under which a repetition is the same act.
type Call struct {
	// Args are the decoded arguments (see package ijson for the Go types); the tool must not change them.
	Args map[string]any
	// Key is the idempotency key: equal for repetitions of the same act, else unique over all runs.
	Key string
	// Attempt counts the attempts of one task from 1.
	Attempt int
}

// Func performs a call. It returns a decoded JSON value (package ijson), which it does not change afterwards, or an
// error; it should end when ctx does, but nobody relies on that.
type Func func(ctx context.Context, call Call) (any, error)

// Tool is one thing that may be called, with everything a proposer, a judge and a person need to know about it.
type Tool struct {
	Name        string // ^[a-zA-Z0-9_-]{1,64}$
	Title       string
	Description string // one or two sentences: what it does, in the words a goal would use
	// Phrase words a call for people, {argument} standing for a number, boolean or enumerated argument:
	// "refunding {amount_usd} USD to user {user_id}". Empty means the tool's name and such arguments. See [Tool.Say].
	Phrase string
	// Deed is the word for such a call once it was done, as in "nothing was paid"; empty: "written".
	Deed       string
	Effect     Effect
	Idempotent bool // the same Key twice acts once; always true of a read
	Demo       bool // make-believe: results say so
	// Input is what is shown and what proposed arguments must fit: of an upstream's tool its schema less what is fixed, the
	// narrower bounds laid over. Also are schemas that the whole arguments, the fixed ones among them, must fit besides.
	Input *Schema
	Also  []*Schema
	// Extra finds what no schema says of arguments that fit, such as one that would make another path of a URL; nil: nothing.
	Extra  func(args map[string]any) []Mismatch
	Output *Schema // nil: any JSON value
	Do     Func
	// Reconcile finds out whether a call happened whose outcome was lost; nil: only a person can say.
	Reconcile *Reconcile

	// Of workers and routes that a configuration declares under names of their own (spec/config.md section 7); all may be zero.

	// Of is the name that rules, windows, switches and records know it by, where Name is a pattern's own name for it; see
	// [Tool.Own].
	Of string
	// Pattern is the pattern of which a call begins a run; "": it is a tool. Then Do is nil, Server "pattern", and Goal the
	// argument that is the run's goal.
	Pattern, Goal string

	// Of tools that a configuration declares (spec/config.md section 4); all may be zero.

	// Server is where the tool is: a configured server's name, or "http".
	Server string
	// Fixed are arguments that the configuration sets. Proposing one is an unknown argument; rules, digest, effects and
	// inbox see them, trace, history and args_hash do not. One that is a secret stands here as *** and is put in by Do.
	Fixed map[string]any
	// Defaults are put in for absent arguments before a call is judged.
	Defaults map[string]any
	// Timeout bounds one attempt of a call; 0: the pattern's deadline alone.
	Timeout time.Duration
	// MaxResult is how many bytes of an observation are kept for record, model and reader; 0: 65536, the most.
	MaxResult int
	Retry     Retry
	// Once makes the business key of a call from its whole arguments: the same key acts once over all runs. nil: none.
	Once func(args map[string]any) (string, error)
	// Ready says whether it can be called now; nil: always. It only looks.
	Ready func() Readiness

	asked *Schema // see Asked
}

// Retry says how often a call is made again, and after which pauses: Delay, doubled each time up to MaxDelay. The zero
// Retry makes no call again.
type Retry struct {
	Max             int
	Delay, MaxDelay time.Duration
}

// Readiness is whether a tool can be called (spec/surface.md section 2, describe_catalog).
type Readiness struct {
	State State
	// Why is one line for people: "no line in patterngate.lock; run patterngate catalog accept orders/read_file". "" when ready.
	Why string
	// Here is one line for people on this machine only: why the last call could not be sent, with addresses of its network.
	// Callers from elsewhere must not see it. "" where there is nothing to say; the state can be ready all the same.
	Here string
}

// State is a tool's state. The zero State is ready.
type State string

// The states of a tool.
const (
	Ready       State = ""
	Held        State = "held"        // what the server declares was not accepted, or changed since
	Unavailable State = "unavailable" // the server does not answer, lacks the tool, or a secret is missing
)

// Repeatable reports whether a call whose outcome is unknown may simply be made again.
func (t Tool) Repeatable() bool { return t.Effect == Read || t.Idempotent }

// Own is the name by which the tool is known outside of the pattern that gives it another one.
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
		return fmt.Errorf("tool %q: a name is 1 to 64 letters, digits, _ or -", t.Name)
	case t.Name == "final" || t.Name == "model" || t.Name == "caller":
		return fmt.Errorf("tool %q: this name has a meaning of its own", t.Name)
	case t.Effect != Read && t.Effect != Write && t.Effect != Destructive:
		return fmt.Errorf("tool %q: effect %q; read, write or destructive", t.Name, t.Effect)
	case t.Input == nil:
		return fmt.Errorf("tool %q: no input schema", t.Name)
	case t.Do == nil && t.Pattern == "":
		return fmt.Errorf("tool %q: nothing to do", t.Name)
	}
	if t.Deed != "" && !deed.MatchString(t.Deed) {
		return fmt.Errorf("tool %q: deed %q; write one word: paid, sent", t.Name, t.Deed)
	}
	if err := t.checkPhrase(); err != nil {
		return err
	}
	return t.checkDeclared()
}

// Bounds of what a configuration may declare of a tool (spec/config.md section 4).
const (
	maxResult  = 64 << 10
	maxRetries = 5
	maxPhrase  = 200 // characters
	maxTimeout = time.Hour
)

// checkDeclared judges the members that a configuration sets.
func (t Tool) checkDeclared() error {
	switch {
	case t.MaxResult < 0 || t.MaxResult > maxResult:
		return fmt.Errorf("tool %q: %d bytes of a result; 1 to %d, 0 for all of these", t.Name, t.MaxResult, maxResult)
	case t.Retry.Max < 0 || t.Retry.Max > maxRetries:
		return fmt.Errorf("tool %q: %d retries; 0 to %d", t.Name, t.Retry.Max, maxRetries)
	case t.Retry.Delay < 0 || t.Retry.MaxDelay < 0:
		return fmt.Errorf("tool %q: a pause below zero", t.Name)
	case t.Timeout < 0 || t.Timeout > maxTimeout:
		return fmt.Errorf("tool %q: a time-out of %v; 0 to %v", t.Name, t.Timeout, maxTimeout)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Fixed)) {
		if t.Input.root().has(name) {
			return fmt.Errorf("tool %q: %s is fixed, and yet shown", t.Name, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Defaults)) {
		if _, fixed := t.Fixed[name]; fixed {
			return fmt.Errorf("tool %q: %s is fixed, and has a default", t.Name, name)
		}
	}
	for _, values := range []map[string]any{t.Fixed, t.Defaults} {
		if _, err := ijson.AppendChecked(nil, members(values)); err != nil {
			return fmt.Errorf("tool %q: what is set: %w", t.Name, err)
		}
	}
	return nil
}

// Catalog is a fixed set of tools. The zero Catalog holds none. It is safe for concurrent use.
type Catalog struct {
	tools  []Tool
	byName map[string]int
}

// New makes a catalog of tools, kept in the order given. All faults are reported at once.
func New(tools ...Tool) (*Catalog, error) {
	c := &Catalog{byName: make(map[string]int, len(tools))}
	var faults []error
	for _, t := range tools {
		if err := t.check(); err != nil {
			faults = append(faults, err)
			continue
		}
		if _, twice := c.byName[t.Name]; twice {
			faults = append(faults, fmt.Errorf("tool %q: declared twice", t.Name))
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

// With is the catalog with more tools, which go before those of their names: a pattern's view of it. The zero Catalog will do.
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

// Names lists all tools' names in the catalog's order.
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
