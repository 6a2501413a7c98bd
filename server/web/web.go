// Package web is the page of the person who decides: the inbox of questions that runs put to people, and a view of any run.
//
//	browser ──▶ Door: Host, Origin, cookie, CSRF, limits ──▶ Pages: inbox, approval, runs, run, receipt
//	                                                            │ reads  patterns.Approvals, patterns.Owner
//	                                                            └ decides patterns.Approvals.Decide
//
// It decides and never executes, needs no JavaScript, and believes nothing that a model, a tool or a client has written
// (spec/surface.md section 6, Inbox). Package wording makes the words of the pages, and package geometry the positions in
// their drawings.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// Bounds of pages and forms.
const (
	maxClaim = 64 << 10 // bytes of what a client asked for
	maxValue = 8 << 10  // bytes of one step's arguments or observation
	maxSteps = 1 << 20  // bytes of all steps' arguments and observations on one page
	leastCut = 256      // bytes that a page still shows of each value after maxSteps is used up
	maxRows  = 2000     // rows of a timeline
	maxPage  = 1000     // rows of the inbox
	maxForm  = 64 << 10 // bytes of a form
	maxTyped = 40 << 10 // bytes of a form that its fields for changed arguments may take
)

// Config is what the pages stand on. Approvals and Owner are needed.
type Config struct {
	Approvals patterns.Approvals
	Owner     patterns.Owner
	// Open opens an approver key of this machine by its passphrase, for one signature; close forgets it. Nil: there are none.
	Open func(keyID, passphrase string) (signer gateway.Signer, close func(), err error)
	// KeyFiles are the ids of the keys that can be opened here; nil: none.
	KeyFiles func() []string
	Log      *slog.Logger // of what could not be read or made, which pages do not tell; nil: nowhere
	Version  string
	By       string           // who decides without a key: local:<uid>
	Now      func() time.Time // nil: time.Now
	// People returns the name under which pages show an id, such as "local:0 (root)" for "local:0"; nil shows the id.
	People func(id string) string
	// Decided is told of each decision that was taken here, for the log; nil: nobody.
	Decided func(patterns.Asked)
	// Switches are the kill switches that are on; nil: there are none.
	Switches func() ([]patterns.Switch, error)
	// Alive reports whether something here carries runs on; nil: nothing does, and the page says how to resume.
	Alive func() bool
}

// session is one browser that has signed in. The zero session is none.
type session struct {
	csrf string // what its forms bring along
}

type sessionKey struct{}

// withSession is a request's context once the door has let it in.
func withSession(ctx context.Context, s session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// sessionOf is the session that the door found.
func sessionOf(ctx context.Context) session {
	s, _ := ctx.Value(sessionKey{}).(session)
	return s
}

// Pages answers for who has signed in: it believes that the door has judged the request. It is safe for concurrent use.
type Pages struct {
	config  Config
	paths   http.Handler
	lock    *lock         // of the approver keys
	streams chan struct{} // holds one for each page that is told of changes
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
