package transport

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// quota limits a number in all and for each requester. It is safe for concurrent use.
type quota struct {
	most, mostEach int

	mu   sync.Mutex
	n    int
	each map[string]int
}

// take takes one more for a requester. ok reports whether that is allowed. If it is not, own reports whether the limit
// of the requester is reached.
func (q *quota) take(principal string) (ok, own bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n >= q.most || q.each[principal] >= q.mostEach {
		return false, q.each[principal] >= q.mostEach
	}
	if q.each == nil {
		q.each = map[string]int{}
	}
	q.n++
	q.each[principal]++
	return true, false
}

func (q *quota) give(principal string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n--
	if q.each[principal]--; q.each[principal] == 0 {
		delete(q.each, principal)
	}
}

// sessionIDs makes the ids of the sessions of mcp-go (its SessionIdManager). [sessions] knows which sessions there are
// and who owns them. mcp-go gets a request only if its session exists.
type sessionIDs struct{}

// Generate returns an id that cannot be guessed.
func (sessionIDs) Generate() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}

// Validate accepts every id, see [sessionIDs].
func (sessionIDs) Validate(string) (isTerminated bool, err error) { return false, nil }

// Terminate does nothing, see [sessionIDs].
func (sessionIDs) Terminate(string) (isNotAllowed bool, err error) { return false, nil }

// sessions are the sessions of MCP versions before 2026-07-28. Each belongs to the requester that began it; for every
// other requester it does not exist. Their number is limited. A new session of a requester at its limit ends the
// requester's session that was idle longest. A new session at the total limit ends an idle session of the requester
// that has most of them. If no session is idle, there is no new one. sessions are safe for concurrent use.
type sessions struct {
	idle   time.Duration
	places quota
	forget func(id string) // makes mcp-go forget a session; called without the lock

	mu  sync.Mutex
	all map[string]*httpSession
}

// httpSession is one session. The mutex of [sessions] guards its fields.
type httpSession struct {
	id, principal, era string

	busy   int                 // requests and streams under way
	used   time.Time           // when the last of them ended
	ids    map[string]struct{} // ids of the requests under way
	closed chan struct{}       // made for the first stream; closed when the session ends
}

func newSessions(l Limits, idle time.Duration, forget func(id string)) *sessions {
	return &sessions{
		idle: idle, places: quota{most: l.Sessions, mostEach: l.SessionsEach}, forget: forget, all: map[string]*httpSession{},
	}
}

// reserve takes a place for a new session and reports whether there was one. The caller must bind the place or give it
// back.
func (t *sessions) reserve(principal string) bool {
	for {
		ok, own := t.places.take(principal)
		if ok {
			return true
		}
		of := "" // a session of any requester
		if own {
			of = principal
		}
		if !t.evict(of) {
			return false
		}
	}
}

// evict ends the session of a requester that was idle longest. For the requester "" it ends a session of the requester
// that has most idle ones, so a requester with few sessions never loses one to a requester with many. evict reports
// whether it ended one.
func (t *sessions) evict(principal string) bool {
	t.mu.Lock()
	idle := map[string]int{}
	oldest := map[string]*httpSession{}
	for _, s := range t.all {
		if s.busy > 0 || principal != "" && s.principal != principal {
			continue
		}
		idle[s.principal]++
		if o := oldest[s.principal]; o == nil || s.used.Before(o.used) {
			oldest[s.principal] = s
		}
	}
	who, most := "", 0
	for p, n := range idle {
		if n > most || n == most && oldest[p].used.Before(oldest[who].used) {
			who, most = p, n
		}
	}
	gone := oldest[who]
	t.remove(gone)
	t.mu.Unlock()
	if gone == nil {
		return false
	}
	t.forget(gone.id)
	return true
}

// remove removes a session. The caller holds the lock. nil is allowed.
func (t *sessions) remove(s *httpSession) {
	if s == nil {
		return
	}
	delete(t.all, s.id)
	t.places.give(s.principal)
	if s.closed != nil {
		close(s.closed)
	}
}

// bind begins a session for which there is a place.
func (t *sessions) bind(id, principal, era string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[id] = &httpSession{id: id, principal: principal, era: era, used: time.Now()}
}

// enter marks a session as used until leave. It returns nil if the requester has no session of that id. request is the
// id of a request, or "". If that id is in use in the session, repeated is true; otherwise it is in use until free.
func (t *sessions) enter(id, principal, request string) (s *httpSession, repeated bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s = t.all[id]
	if s == nil || s.principal != principal {
		return nil, false
	}
	if request != "" {
		if _, repeated := s.ids[request]; repeated {
			return nil, true
		}
		if s.ids == nil {
			s.ids = map[string]struct{}{}
		}
		s.ids[request] = struct{}{}
	}
	s.busy++
	return s, false
}

// free allows the session to use the id of a request again.
func (t *sessions) free(s *httpSession, request string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(s.ids, request)
}

// leave ends what enter began.
func (t *sessions) leave(s *httpSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.busy--; s.busy == 0 {
		s.used, s.ids = time.Now(), nil
	}
}

// knows reports whether a request of that id is under way in a session.
func (t *sessions) knows(s *httpSession, request string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := s.ids[request]
	return ok
}

// end ends a session of a requester because its client asks for it. Its calls continue. end reports whether there was
// such a session.
func (t *sessions) end(id, principal string) bool {
	t.mu.Lock()
	s := t.all[id]
	if s == nil || s.principal != principal {
		t.mu.Unlock()
		return false
	}
	t.remove(s)
	t.mu.Unlock()
	t.forget(id)
	return true
}

// over returns a channel that is closed when the session ends.
func (t *sessions) over(s *httpSession) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.closed == nil {
		s.closed = make(chan struct{})
		if t.all[s.id] != s { // it ended before its stream began
			close(s.closed)
		}
	}
	return s.closed
}

// sweep ends the sessions that were idle for too long. A session with a call or a stream under way is not idle.
func (t *sessions) sweep(now time.Time) {
	t.drop(func(s *httpSession) bool { return s.busy == 0 && now.Sub(s.used) >= t.idle })
}

// drop ends the sessions for which meant returns true.
func (t *sessions) drop(meant func(*httpSession) bool) {
	var gone []string
	t.mu.Lock()
	for _, s := range t.all {
		if meant(s) {
			t.remove(s)
			gone = append(gone, s.id)
		}
	}
	t.mu.Unlock()
	for _, id := range gone {
		t.forget(id)
	}
}

// tend sweeps regularly until ctx ends, and then ends all sessions.
func (t *sessions) tend(ctx context.Context) {
	ticker := time.NewTicker(min(max(t.idle/8, time.Second), time.Minute))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			t.sweep(now)
		case <-ctx.Done():
			t.drop(func(*httpSession) bool { return true })
			return
		}
	}
}
