package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"patterngate/server/transport"
	"patterngate/server/web/wording"
)

// SignIns has the methods of [patterns.Approvals] that the door needs.
type SignIns interface {
	// SignIn uses up an offer. It returns false if there was none or if it has expired.
	SignIn(token [32]byte) (bool, error)
	// StateID returns the id of the state that the pages show.
	StateID() (string, error)
}

// DoorConfig configures a door. Pages, SignIns, Address and Log are required.
type DoorConfig struct {
	Pages   http.Handler // serves signed-in requests; their context has the session, and their form is parsed
	SignIns SignIns
	Address string // host:port of the listener, as in its URL
	Version string
	Command string // the command that a person types for a sign-in; "": patterngate inbox
	Log     *slog.Logger

	limits doorLimits // tests set other values
}

// doorLimits bounds the time and the resources that a browser can take.
type doorLimits struct {
	header, body  time.Duration // for the head of a request and for the rest
	idle          time.Duration // for the next request of a connection
	stall         time.Duration // for a browser to read what is written
	conns         int           // connections open at once
	headers, form int           // bytes of a request's head, of its body
}

func defaultDoorLimits() doorLimits {
	return doorLimits{
		header: 5 * time.Second, body: 30 * time.Second, idle: 2 * time.Minute, stall: 10 * time.Second,
		conns: 256, headers: 16 << 10, form: 64 << 10,
	}
}

// Door lets a browser of the state's owner through to the pages, and refuses every other client (spec/surface.md
// section 6, Inbox). It checks in this order:
//
//	OS user, Host, fetch metadata, Origin ──▶ method ──▶ body ──▶ cookie ──▶ CSRF token ──▶ Pages
//	                 403                       405     408, 413,    401          403
//	                                                   415
//
// A browser signs in with a token that the state's owner got at a terminal. Sessions end with the process. Door is safe
// for concurrent use.
type Door struct {
	config   DoorConfig
	host     string // as a browser writes it
	peers    *transport.Loopback
	own      func(context.Context) bool // reports whether a program of this OS user sent the request, as far as the system can tell
	sessions sessions
	guesses  guesses
	underWay underWay
}

// NewDoor makes a door.
func NewDoor(c DoorConfig) *Door {
	if c.limits == (doorLimits{}) {
		c.limits = defaultDoorLimits()
	}
	if c.Command == "" {
		c.Command = "patterngate inbox"
	}
	peers := transport.NewLoopback(c.limits.conns, lateHead())
	host := strings.TrimSuffix(c.Address, ":80") // a browser omits http's default port
	return &Door{config: c, host: host, peers: peers, own: peers.Own}
}

// URL returns the address of the pages, without a slash at its end.
func (d *Door) URL() string { return "http://" + d.host }

// Serve answers requests at a loopback listener until ctx ends. It closes the listener and ends all sessions. It
// returns an error if the listener is not loopback or fails.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	defer l.Close()
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return fmt.Errorf("web: listen %s is not loopback", l.Addr())
	}
	base, cancel := context.WithCancel(context.WithoutCancel(ctx)) // of the requests
	defer cancel()
	defer d.sessions.end()
	limits := d.config.limits
	web := &http.Server{
		Handler:                      d,
		ReadHeaderTimeout:            limits.header,
		IdleTimeout:                  limits.idle,
		WriteTimeout:                 limits.stall, // for answers of net/http itself; each write renews it
		MaxHeaderBytes:               limits.headers,
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return base },
		ErrorLog:                     slog.NewLogLogger(d.config.Log.Handler(), slog.LevelWarn),
	}
	from := d.peers.Attach(web, l)
	served := make(chan error, 1)
	go func() { served <- web.Serve(from) }()
	select {
	case err := <-served: // the listener failed
		_ = web.Close()
		return fmt.Errorf("web: %w", err)
	case <-ctx.Done():
	}
	_ = l.Close()
	cancel() // streams end
	last := time.NewTimer(parting)
	defer last.Stop()
	select {
	case <-d.underWay.end():
	case <-last.C: // answers that the client does not read
	}
	_ = web.Close() // browsers keep idle connections open, which Shutdown would wait for
	return nil
}

// parting is the time that answers in progress get at the end.
const parting = time.Second

// underWay tracks the requests that are being answered. It is safe for concurrent use.
type underWay struct {
	mu   sync.RWMutex // read: while answering
	over bool
}

// begin reports whether a request may still be answered. If so, the caller must call done afterwards.
func (u *underWay) begin() bool {
	u.mu.RLock()
	if u.over {
		u.mu.RUnlock()
		return false
	}
	return true
}

func (u *underWay) done() { u.mu.RUnlock() }

// end lets no more requests begin. The channel is closed when none is in progress.
func (u *underWay) end() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		u.mu.Lock()
		defer u.mu.Unlock()
		u.over = true
	}()
	return ended
}

// ServeHTTP implements [http.Handler].
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !d.underWay.begin() {
		panic(http.ErrAbortHandler) // the connection ends
	}
	defer d.underWay.done()
	if r.ContentLength != 0 { // also for a refused request, because net/http reads a little more
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d.config.limits.body))
	}
	secure(w.Header())
	out := &paced{ResponseWriter: w, stall: d.config.limits.stall}
	defer func() {
		if cause := recover(); cause != nil {
			if cause != http.ErrAbortHandler {
				d.config.Log.ErrorContext(r.Context(), "fault", "cause", fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
			}
			panic(http.ErrAbortHandler) // the connection ends
		}
	}()
	if refused := d.judge(out, r); refused != nil {
		d.refuse(out, r, refused)
	}
}

// judge answers a request, or returns why it is refused.
func (d *Door) judge(w http.ResponseWriter, r *http.Request) *refusal {
	if refused := d.admit(r); refused != nil {
		return refused
	}
	if r.Method == http.MethodPost {
		if refused := readForm(w, r, d.config.limits.form); refused != nil {
			return refused
		}
	}
	switch token, offered := strings.CutPrefix(r.URL.Path, "/sign-in/"); {
	case r.URL.Path == "/healthz":
		return d.health(w, r)
	case offered:
		return d.offer(w, r, token)
	case r.URL.Path == "/sign-in":
		return d.signIn(w, r)
	}
	s := d.sessions.find(r)
	if s == nil {
		return unknown(r)
	}
	if r.Method == http.MethodPost && !s.vouches(r.PostForm["csrf"]) {
		return &refusal{status: http.StatusForbidden, title: wording.TitleNotFromPage, back: backTo(r), words: []string{
			wording.NotFromPage}}
	}
	if r.URL.Path == "/sign-out" {
		return d.signOut(w, r, s)
	}
	ctx, cancel := s.lives(r.Context())
	defer cancel()
	d.config.Pages.ServeHTTP(w, r.WithContext(withSession(ctx, s.session)))
	return nil
}

// health answers another process that wants to know which program has this port.
func (d *Door) health(w http.ResponseWriter, r *http.Request) *refusal {
	if r.Method == http.MethodPost {
		return wrongMethod(w, "GET, HEAD")
	}
	state, err := d.config.SignIns.StateID()
	if err != nil {
		return d.broken(r, err)
	}
	body, err := json.Marshal(Health{Patterngate: d.config.Version, State: state})
	if err != nil {
		panic(err) // cannot occur: two texts
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // a client that does not read it has disconnected
	return nil
}

// Health is the answer to GET /healthz.
type Health struct {
	Patterngate string `json:"patterngate"` // the version
	State       string `json:"state"`       // see [SignIns].StateID
}

// broken returns the refusal for an internal fault. Only the log gets its cause.
func (d *Door) broken(r *http.Request, cause error) *refusal {
	d.config.Log.ErrorContext(r.Context(), "inbox", "cause", cause)
	return &refusal{status: http.StatusServiceUnavailable, title: wording.TitleNotNow, words: []string{
		wording.StateUnusable}}
}

// paced renews the time that a browser has to read, with every write.
type paced struct {
	http.ResponseWriter
	stall time.Duration
}

// Unwrap returns the underlying writer, for [http.ResponseController].
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *paced) renew() {
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(p.stall)) // on an error the server's own deadline applies
}

// WriteHeader implements [http.ResponseWriter].
func (p *paced) WriteHeader(status int) {
	p.renew()
	p.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (p *paced) Write(b []byte) (int, error) {
	p.renew()
	return p.ResponseWriter.Write(b)
}

// FlushError flushes the writer, for [http.ResponseController].
func (p *paced) FlushError() error {
	p.renew()
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// Flush implements [http.Flusher].
func (p *paced) Flush() { _ = p.FlushError() }

// tooLate reports that a body did not arrive in time.
func tooLate(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
