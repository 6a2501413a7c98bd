package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	listPause    = 100 * time.Millisecond // between two lists of tools, even if the server reports more changes
	firstReopen  = time.Second            // pause before a stream of notifications is opened again; it doubles
	longestPause = 30 * time.Second
	quietAfter   = time.Minute // time without a change after which the pauses between reports are short again
)

// session is one running server: a client, and what the server declares. It is safe for concurrent use.
type session struct {
	client *Client
	begun  time.Time
	life   context.Context // ends when the session ends
	end    context.CancelFunc
	said   lastLine // of a child

	changes atomic.Int64  // how often the server reported that its tools changed
	relist  chan struct{} // holds one request to list them again
	list    atomic.Pointer[listing]

	replaced chan struct{} // closed when calls use another session

	mu      sync.Mutex
	calls   int
	retired bool
	idle    chan struct{} // closed when it is retired and has no calls
}

// listing is the list of tools that a server declared at one moment.
type listing struct {
	at    int64 // the number of changes before it was requested
	err   error // why there is no list
	all   []Definition
	named map[string]Definition
	next  chan struct{} // closed when another listing replaces it
}

func newListing(at int64, all []Definition, err error) *listing {
	l := &listing{at: at, err: err, all: all, named: make(map[string]Definition, len(all)), next: make(chan struct{})}
	for _, d := range all {
		l.named[d.Tool()] = d
	}
	return l
}

// same reports whether two listings declare the same tools, in any order.
func (l *listing) same(other *listing) bool {
	if len(l.named) != len(other.named) {
		return false
	}
	for name, d := range l.named {
		if there, ok := other.named[name]; !ok || !d.same(there) {
			return false
		}
	}
	return true
}

func newSession() *session {
	life, end := context.WithCancel(context.Background())
	return &session{begun: time.Now(), life: life, end: end, relist: make(chan struct{}, 1), idle: make(chan struct{}), replaced: make(chan struct{})}
}

// notified handles a notification, in the goroutine that reads. It must not wait.
func (s *session) notified(method string) {
	switch method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationSubscriptionsAcknowledged: // earlier changes were not reported
		s.changed()
	}
}

// changed requests a new list of tools.
func (s *session) changed() {
	s.changes.Add(1)
	s.wish()
}

func (s *session) wish() {
	select {
	case s.relist <- struct{}{}:
	default:
	}
}

// over reports whether the server ended.
func (s *session) over() bool {
	select {
	case <-s.client.lost():
		return true
	default:
		return false
	}
}

// fresh returns the listing if no change came since it was requested, or nil.
func (s *session) fresh() *listing {
	if l := s.list.Load(); l != nil && l.err == nil && l.at == s.changes.Load() {
		return l
	}
	return nil
}

// listed returns a listing that is no older than the call.
func (s *session) listed(ctx context.Context) (*listing, error) {
	wanted := s.changes.Load()
	for failed := false; ; {
		l := s.list.Load()
		switch {
		case l.err == nil && l.at >= wanted:
			return l, nil
		case l.err != nil && failed:
			return nil, l.err
		}
		s.wish()
		select {
		case <-l.next:
			failed = true // if the new listing is an error, it counts for this call
		case <-s.life.Done():
			return nil, &endedError{errEnded}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// keep lists the tools at each request, until the session ends. It calls told when they have changed.
func (s *session) keep(timeout time.Duration, told func()) {
	known := s.list.Load()
	for {
		select {
		case <-s.life.Done():
			return
		case <-s.relist:
		}
		l := s.ask(timeout)
		if s.life.Err() != nil {
			return
		}
		before := s.list.Swap(l)
		close(before.next)
		if l.err == nil && !l.same(known) {
			told()
		}
		if l.err == nil {
			known = l
		}
		if !pause(s.life, listPause) {
			return
		}
	}
}

// ask lists the tools now.
func (s *session) ask(timeout time.Duration) *listing {
	ctx, end := context.WithTimeout(s.life, timeout)
	defer end()
	at := s.changes.Load()
	all, err := s.client.Definitions(ctx)
	if err != nil {
		all = s.list.Load().all // for later comparisons
	}
	return newListing(at, all, err)
}

// listen keeps a stream of notifications open, on which a server without a handshake reports changes. Other servers
// report changes without it. listen returns when the session ends, or the server does not support such streams.
func (s *session) listen() {
	for delay := firstReopen; s.client.modern(); delay = min(2*delay, longestPause) {
		t := &trace{}
		err := s.client.mcp.Listen(withTrace(s.life, t), mcp.SubscriptionFilter{ToolsListChanged: true})
		_, transported := errors.AsType[*transport.Error](err)
		unknown := err != nil && !transported || t.read().status >= 400 && t.read().status < 500
		if s.life.Err() != nil || unknown || !pause(s.life, delay) {
			return
		}
		s.changed() // changes may have been missed in between
	}
}

// pause waits for d and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter begins a call. It returns false if the session accepts no more calls.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return false
	}
	s.calls++
	return true
}

// leave ends a call.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls--; s.calls == 0 && s.retired {
		close(s.idle)
	}
}

// retire stops new calls and waits for those that run, at most as long as patience and ctx allow. Then it closes the
// session.
func (s *session) retire(ctx context.Context, patience time.Duration) error {
	s.mu.Lock()
	if !s.retired {
		s.retired = true
		if s.calls == 0 {
			close(s.idle)
		}
	}
	s.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.idle:
	case <-timer.C:
	case <-ctx.Done():
	}
	s.end()
	return s.client.Close()
}

// call makes one call; with once, the call is sent only once. If a result came it counts, even if ctx ended at that
// moment.
func (s *session) call(ctx context.Context, tool string, args json.RawMessage, once bool) (Result, traced, error) {
	t := &trace{once: once}
	raw, err := s.client.ask(ctx, t, mcp.MethodToolsCall, map[string]any{"name": tool, "arguments": args})
	if raw == nil {
		return Result{}, t.read(), err
	}
	result, err := readResult(slices.Clip(raw))
	return result, t.read(), err
}
