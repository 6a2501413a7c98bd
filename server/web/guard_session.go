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
	// maxSessions are signed in at once; for one more the oldest ends.
	maxSessions = 32
	// maxCookies of our name are looked at: cookies know no port, and another program of this machine may have set some.
	maxCookies = 8
)

// sessions are the browsers that have signed in. What they show is kept only as its hash, and only here. The zero sessions
// are none. It is safe for concurrent use.
type sessions struct {
	mu   sync.Mutex
	open map[[sha256.Size]byte]*signedIn
}

// signedIn is one of them.
type signedIn struct {
	session
	until time.Time       // by the clock on the wall, which goes on while the machine sleeps
	over  context.Context // ends when it does; by the process's own clock, which nobody turns back
	end   context.CancelFunc
}

// secret are 32 random bytes as text.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// begin signs a browser in, by the cookie that is returned.
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

// cookie is what a browser shows from then on, to us alone and only where a page of ours asks.
func cookie(value string, life time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// sweep makes room for one more. s.mu is held.
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

// find is whose request it is; nil: nobody's who is signed in.
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

// holds reports whether the session goes on.
func (s *signedIn) holds() bool { return s.over.Err() == nil && time.Now().Round(0).Before(s.until) }

// leave ends one of them.
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

// end ends them all.
func (s *sessions) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.open {
		one.end()
	}
	clear(s.open)
}

// vouches reports whether a form is one of this session's.
func (s *signedIn) vouches(csrf []string) bool {
	return len(csrf) == 1 && subtle.ConstantTimeCompare([]byte(csrf[0]), []byte(s.csrf)) == 1
}

// lives is a request's context, which ends at the latest with the session.
func (s *signedIn) lives(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.over, cancel)
	return ctx, func() { stop(); cancel() }
}

// guesses counts wrong tokens. The zero guesses are none. It is safe for concurrent use.
type guesses struct {
	mu    sync.Mutex
	wrong []time.Time
}

const (
	maxWrong   = 5           // tokens, or passphrases
	wrongCount = time.Minute // for so long a wrong one counts
)

// try asks whether a token is right, one at a time, unless too many were wrong: then more is true and nothing is asked.
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
