package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"sync"
	"time"
)

const (
	cookieName  = "patterngate_inbox"
	sessionLife = 12 * time.Hour
	// maxSessions is how many browsers can be signed in at once. One more ends the oldest session.
	maxSessions = 32
	// maxCookies is how many cookies of this name are checked. Cookies do not depend on the port, so another program of
	// this machine may have set some.
	maxCookies = 8
)

// sessions holds the browsers that have signed in. It stores only the hash of a browser's cookie, and only in memory.
// The zero value has no sessions. It is safe for concurrent use.
type sessions struct {
	mu   sync.Mutex
	open map[[sha256.Size]byte]*signedIn
}

// signedIn is one session.
type signedIn struct {
	session
	until time.Time       // by the wall clock, which continues while the machine sleeps
	over  context.Context // ends with the session; by the monotonic clock, which cannot be set back
	end   context.CancelFunc
}

// secret returns 32 random bytes as text.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// begin starts a session and returns its cookie.
func (s *sessions) begin() *http.Cookie {
	value := secret()
	over, end := context.WithTimeout(context.Background(), sessionLife)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]*signedIn{}
	}
	s.open[sha256.Sum256([]byte(value))] = &signedIn{session{csrf: secret()}, time.Now().Round(0).Add(sessionLife), over, end}
	return cookie(value, sessionLife)
}

// cookie returns the cookie that a browser then sends, only to this host and only from pages of this site.
func cookie(value string, life time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// sweep removes ended sessions, and makes space for one more. The caller must hold s.mu.
func (s *sessions) sweep() {
	for len(s.open) > 0 {
		var oldest [sha256.Size]byte
		var first *signedIn
		for key, one := range s.open {
			if first == nil || one.until.Before(first.until) {
				oldest, first = key, one
			}
		}
		if len(s.open) < maxSessions && first.holds() {
			return
		}
		first.end()
		delete(s.open, oldest)
	}
}

// find returns the session of a request, or nil if there is none.
func (s *sessions) find(r *http.Request) *signedIn {
	cookies := r.CookiesNamed(cookieName)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range cookies[:min(len(cookies), maxCookies)] {
		if one := s.open[sha256.Sum256([]byte(c.Value))]; one != nil && one.holds() {
			return one
		}
	}
	return nil
}

// holds reports whether the session is still valid.
func (s *signedIn) holds() bool { return s.over.Err() == nil && time.Now().Round(0).Before(s.until) }

// leave ends one session.
func (s *sessions) leave(gone *signedIn) {
	gone.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, one := range s.open {
		if one == gone {
			delete(s.open, key)
		}
	}
}

// end ends all sessions.
func (s *sessions) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.open {
		one.end()
	}
	clear(s.open)
}

// vouches reports whether a form has the CSRF token of this session.
func (s *signedIn) vouches(csrf []string) bool {
	return len(csrf) == 1 && subtle.ConstantTimeCompare([]byte(csrf[0]), []byte(s.csrf)) == 1
}

// lives returns a request's context that also ends with the session.
func (s *signedIn) lives(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.over, cancel)
	return ctx, func() { stop(); cancel() }
}

// guesses counts wrong tokens. The zero value has none. It is safe for concurrent use.
type guesses struct {
	mu    sync.Mutex
	wrong []time.Time
}

const (
	maxWrong   = 5           // wrong tokens or passphrases
	wrongCount = time.Minute // how long a wrong one counts
)

// try checks a token, one at a time. If too many were wrong, it checks nothing and sets more.
func (g *guesses) try(right func() (bool, error)) (ok, more bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for len(g.wrong) > 0 && now.Sub(g.wrong[0]) >= wrongCount {
		g.wrong = g.wrong[1:]
	}
	if len(g.wrong) >= maxWrong {
		return false, true, nil
	}
	if ok, err = right(); err == nil && !ok {
		g.wrong = append(g.wrong, now)
	}
	return ok, false, err
}
