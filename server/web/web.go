// Package web serves the pages for a person who decides: the inbox of questions from runs, and a view of any run.
//
//	browser ──▶ Door: Host, Origin, cookie, CSRF, limits ──▶ Pages: inbox, approval, runs, run, receipt
//	                                                            │ reads  patterns.Approvals, patterns.Owner
//	                                                            └ decides patterns.Approvals.Decide
//
// The package decides but never executes. It needs no JavaScript, and it trusts nothing that a model, a tool or a
// client has written (spec/surface.md section 6, Inbox). Package wording makes the words of the pages, and package
// geometry the positions in their drawings.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// These are the limits of pages and forms.
const (
	maxClaim = 64 << 10 // bytes of a client's request
	maxValue = 8 << 10  // bytes of one step's arguments or observation
	maxSteps = 1 << 20  // bytes of all steps' arguments and observations on one page
	leastCut = 256      // bytes that a page still shows of each value after maxSteps is used up
	maxRows  = 2000     // rows of a timeline
	maxPage  = 1000     // rows of the inbox
	maxForm  = 64 << 10 // bytes of a form
	maxTyped = 40 << 10 // bytes of a form that its fields for changed arguments may take
)

// Config configures the pages. Approvals and Owner are required.
type Config struct {
	Approvals patterns.Approvals
	Owner     patterns.Owner
	// Open opens an approver key of this machine with its passphrase, for one signature. The function close forgets the
	// key. nil: there are no keys.
	Open func(keyID, passphrase string) (signer gateway.Signer, close func(), err error)
	// KeyFiles returns the ids of the keys that can be opened here; nil: none.
	KeyFiles func() []string
	Log      *slog.Logger // gets the causes of faults, which pages do not show; nil: no log
	Version  string
	By       string           // the approver without a key: local:<uid>
	Now      func() time.Time // nil: time.Now
	// People returns the name under which pages show an id, such as "local:0 (root)" for "local:0"; nil: pages show the
	// id.
	People func(id string) string
	// Decided is called with each decision that was accepted here, for the log; nil: not called.
	Decided func(patterns.Asked)
	// Switches returns the kill switches that are on; nil: there are none.
	Switches func() ([]patterns.Switch, error)
	// Simulated returns a function that reports whether a tool of a run is simulated, so that pages say that they show demo data. of are
	// the hashes in the run's record. It returns nil if the tools of the run are not known here. nil: no tool is simulated.
	Simulated func(of patterns.Hashes) func(tool string) bool
	// Loaded returns the hash of the configuration that this process has loaded now; "" if it has none, as a command that only
	// serves the page. nil: pages do not compare it with that of a run.
	Loaded func() string
	// Alive reports whether a process here continues runs. nil: none does, and the page says how to resume.
	Alive func() bool
}

// session is one browser that has signed in. The zero value is not signed in.
type session struct {
	csrf string // the token that its forms must send
}

type sessionKey struct{}

// withSession returns a request's context with the session that the door accepted.
func withSession(ctx context.Context, s session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// sessionOf returns the session that the door accepted.
func sessionOf(ctx context.Context) session {
	s, _ := ctx.Value(sessionKey{}).(session)
	return s
}

// Pages answers requests of signed-in browsers. It relies on the door to check each request. It is safe for concurrent
// use.
type Pages struct {
	config  Config
	paths   http.Handler
	lock    *lock         // for the approver keys
	streams chan struct{} // holds one value for each page that watches changes
}

// New makes the pages.
func New(c Config) *Pages {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pages{config: c, lock: newLock(), streams: make(chan struct{}, maxStreams)}
	p.paths = p.routes()
	return p
}

// ServeHTTP implements [http.Handler].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.paths.ServeHTTP(w, r) }

// named returns an id as the pages show it, with the name of the user.
func (p *Pages) named(id string) string {
	if p.config.People == nil {
		return id
	}
	return p.config.People(id)
}
