package transport

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// quota bounds a number in all and for each principal. It is safe for concurrent use.
type quota struct {
	most, mostEach int

	mu   sync.Mutex
	n    int
	each map[string]int
}

// take reports whether the principal may have one more; else whether it is the principal's own bound that is met.
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

// sessionIDs makes the ids of mcp-go's sessions (its SessionIdManager). Which of them are in force, and whose they are,
// [sessions] knows: a request is with mcp-go only if its session is.
type sessionIDs struct{}

// Generate makes an unguessable id.
func (sessionIDs) Generate() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}

// Validate takes every id, see [sessionIDs].
func (sessionIDs) Validate(string) (isTerminated bool, err error) { return false, nil }

// Terminate has nothing to do, see [sessionIDs].
func (sessionIDs) Terminate(string) (isNotAllowed bool, err error) { return false, nil }

// sessions are those of the handshake era. Each belongs to the principal that began it; to another it does not exist.
// They are bounded: when a principal has all it may have, its one that was idle longest makes way; when all are taken,
// that of who has most idle ones; and where none is idle there is no new one. It is safe for concurrent use.
type sessions struct {
	idle   time.Duration
	places quota
	forget func(id string) // lets mcp-go forget a session; called without the lock

	mu  sync.Mutex
	all map[string]*httpSession
}

// httpSession is one session. Its fields are guarded by the mutex of [sessions].
type httpSession struct {
	id, principal, era string

	busy   int                 // requests and streams under way
	used   time.Time           // when the last of them was over
	ids    map[string]struct{} // of requests under way
	closed chan struct{}       // made for the first stream; closed with the session
}

func newSessions(l Limits, idle time.Duration, forget func(id string)) *sessions {
	return &sessions{
		idle: idle, places: quota{most: l.Sessions, mostEach: l.SessionsEach}, forget: forget, all: map[string]*httpSession{},
	}
}

// reserve takes a place for a new session, which is then bound or given back. It reports whether there is one.
func (t *sessions) reserve(principal string) bool {
	for {
		ok, own := t.places.take(principal)
		if ok {
			return true
		}
		of := "" // anybody's
		if own {
			of = principal
		}
		if !t.evict(of) {
			return false
		}
	}
}

// evict ends the session of a principal that was idle longest; where none is named, of who has most of those that are
// idle, so that nobody who has few makes way for who has many.
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

// remove takes a session out; the lock is held.
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

// enter takes part in a principal's session until leave; nil if it has none of that id. A request's own id must not be
// in use in it, and is until free; repeated says that it is.
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

// free lets a request's id be used again.
func (t *sessions) free(s *httpSession, request string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(s.ids, request)
}

// leave is the end of what enter began.
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

// end ends a principal's session as its client wishes; calls under way go on. It reports whether there was one.
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

// over is closed when the session is.
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

// sweep ends what has been idle for too long; a session with a call or stream under way is not idle.
func (t *sessions) sweep(now time.Time) {
	t.drop(func(s *httpSession) bool { return s.busy == 0 && now.Sub(s.used) >= t.idle })
}

// drop ends the sessions that are meant.
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

// tend sweeps until ctx ends, and ends all sessions then.
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
