package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func (p *porch) send(token ...string) *httptest.ResponseRecorder {
	return p.do(asks{method: "POST", path: "/sign-in", form: url.Values{"token": token}})
}

// A token signs one browser in, once and in time. Looking at its link uses nothing up.
func TestSignInCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPorch(t)
		token := p.offers.offer(time.Now().Add(time.Minute))
		for range 3 {
			w := p.do(asks{method: "GET", path: SignInPath(token), headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}})
			if w.Code != 200 || !strings.Contains(w.Body.String(), `name="token" value="`+token+`"`) || len(w.Result().Cookies()) > 0 {
				t.Errorf("the link is answered with %d: %s", w.Code, w.Body)
			}
		}
		if p.offers.asked != 0 {
			t.Errorf("looking at the link asked for it %d times", p.offers.asked)
		}
		w := p.send(token)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" {
			t.Fatalf("the token is answered with %d: %s", w.Code, w.Body)
		}
		set := w.Header().Get("Set-Cookie")
		name, rest, _ := strings.Cut(set, "=")
		value, attributes, _ := strings.Cut(rest, "; ")
		if want := "Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"; name != "patterngate_inbox" || len(value) != 43 || attributes != want {
			t.Errorf("the cookie is %s, want attributes %s", set, want)
		}
		for name, tokens := range map[string][]string{
			"used": {token}, "late": {p.offers.offer(time.Now().Add(-time.Second))}, "guessed": {strings.Repeat("A", 43)}, "two": {p.offers.offer(time.Now().Add(time.Minute)), token},
		} {
			if w := p.send(tokens...); w.Code != 401 || len(w.Result().Cookies()) > 0 || !strings.Contains(w.Body.String(), "patterngate inbox") {
				t.Errorf("%s: answered with %d: %s", name, w.Code, w.Body)
			}
		}
		if strings.Contains(p.log.String(), token) || strings.Contains(p.log.String(), value) {
			t.Errorf("the log holds secrets: %s", p.log)
		}
	})
}

func TestSignInExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPorch(t)
		token := p.offers.offer(time.Now().Add(time.Minute))
		time.Sleep(time.Minute)
		if w := p.send(token); w.Code != 401 {
			t.Errorf("a token of a minute ago is answered with %d", w.Code)
		}
	})
}

// After five wrong ones in a minute not even the right one is asked for, until the minute is over.
func TestSignInsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPorch(t)
		var all sync.WaitGroup
		for i := range 20 { // at once: none gets past the count
			all.Go(func() {
				p.send(strings.Repeat(string(rune('A'+i)), 43))
			})
		}
		all.Wait()
		if p.offers.asked != maxWrong {
			t.Errorf("20 guesses at once: %d were tried, want %d", p.offers.asked, maxWrong)
		}
		token := p.offers.offer(time.Now().Add(time.Hour))
		if w := p.send(token); w.Code != 429 || w.Header().Get("Retry-After") == "" {
			t.Errorf("the sixth is answered with %d", w.Code)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if w := p.send(token); w.Code != 429 {
			t.Errorf("just before the minute is over: answered with %d", w.Code)
		}
		time.Sleep(time.Nanosecond)
		if w := p.send(token); w.Code != http.StatusSeeOther {
			t.Errorf("after a minute the right one is answered with %d: %s", w.Code, w.Body)
		}
		for range maxWrong + 1 { // what is of another form is wrong, too
			p.send("x")
		}
		if w := p.send(p.offers.offer(time.Now().Add(time.Hour))); w.Code != 429 {
			t.Errorf("after wrong forms: answered with %d", w.Code)
		}
	})
}

// A state that cannot be read is no wrong guess, and its fault is not shown.
func TestSignInOfABrokenState(t *testing.T) {
	p := newPorch(t)
	p.offers.err = context.DeadlineExceeded
	for range maxWrong + 2 {
		if w := p.send(strings.Repeat("A", 43)); w.Code != 503 || strings.Contains(w.Body.String(), "deadline") {
			t.Fatalf("answered with %d: %s", w.Code, w.Body)
		}
	}
}

// A session ends after 12 hours, by signing out, and with its process; so does what is still under way for it.
func TestSessionsEnd(t *testing.T) {
	for name, end := range map[string]func(p *porch, cookie, csrf string){
		"time": func(*porch, string, string) { time.Sleep(sessionLife) },
		"signing out": func(p *porch, cookie, csrf string) {
			w := p.do(asks{method: "POST", path: "/sign-out", cookie: cookie, form: url.Values{"csrf": {csrf}}})
			if c := w.Result().Cookies(); w.Code != http.StatusSeeOther || len(c) != 1 || c[0].MaxAge >= 0 {
				p.t.Errorf("signing out is answered with %d, cookies %v", w.Code, c)
			}
		},
		"the process": func(p *porch, _, _ string) { p.sessions.end() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPorch(t)
				cookie, csrf := p.signIn()
				begun, ended := make(chan struct{}), make(chan struct{})
				p.config.Pages = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					close(begun)
					<-r.Context().Done()
				})
				go func() {
					p.do(asks{method: "GET", path: "/live", cookie: cookie})
					close(ended)
				}()
				<-begun
				p.config.Pages = p.room
				time.Sleep(time.Hour)
				if w := p.do(asks{method: "GET", path: "/", cookie: cookie}); w.Code != 200 {
					t.Errorf("after an hour: answered with %d", w.Code)
				}
				at := time.Now()
				end(p, cookie, csrf)
				<-ended
				if took := time.Since(at); name != "time" && took > 0 {
					t.Errorf("what was under way went on for %v", took)
				}
				if w := p.do(asks{method: "GET", path: "/", cookie: cookie}); w.Code != 401 {
					t.Errorf("afterwards: answered with %d, want 401", w.Code)
				}
				w := p.do(asks{method: "POST", path: "/a/ap_0011223344556677", cookie: cookie, form: url.Values{"csrf": {csrf}, "decision": {"approve"}}})
				if w.Code != 401 || !strings.Contains(w.Body.String(), "Nothing was decided") {
					t.Errorf("a decision afterwards is answered with %d: %s", w.Code, w.Body)
				}
				if got := p.room.entered(); len(got) != 1 {
					t.Errorf("came in: %v, want one look", got)
				}
			})
		})
	}
}

// A session ends when either clock says so: the one on the wall may be turned back, the process's own may stop while the
// machine sleeps.
func TestSessionsEndByEitherClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPorch(t)
		back, _ := p.signIn()
		asleep, _ := p.signIn()
		for _, one := range p.sessions.open {
			r := &http.Request{Header: http.Header{"Cookie": {back}}}
			if p.sessions.find(r) == one {
				one.until = one.until.Add(sessionLife) // the wall's was turned back by as much
			} else {
				one.until = time.Now() // and here went on
			}
		}
		if w := p.do(asks{method: "GET", path: "/", cookie: asleep}); w.Code != 401 {
			t.Errorf("after a sleep of 12 hours: answered with %d", w.Code)
		}
		if w := p.do(asks{method: "GET", path: "/", cookie: back}); w.Code != 200 {
			t.Errorf("before the end: answered with %d", w.Code)
		}
		time.Sleep(sessionLife)
		synctest.Wait() // for what ends it, which wakes up with us
		if w := p.do(asks{method: "GET", path: "/", cookie: back}); w.Code != 401 {
			t.Errorf("after 12 hours with the wall's clock turned back: answered with %d", w.Code)
		}
	})
}

// For one browser too many the one that signed in first has to go.
func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPorch(t)
		var cookies []string
		for range maxSessions + 1 {
			cookie, _ := p.signIn()
			cookies = append(cookies, cookie)
			time.Sleep(time.Second)
		}
		for i, cookie := range cookies {
			want := 200
			if i == 0 {
				want = 401
			}
			if w := p.do(asks{method: "GET", path: "/", cookie: cookie}); w.Code != want {
				t.Errorf("browser %d is answered with %d, want %d", i, w.Code, want)
			}
		}
		if n := len(p.sessions.open); n != maxSessions {
			t.Errorf("%d sessions are kept, want %d", n, maxSessions)
		}
		p.sessions.end()
	})
}
