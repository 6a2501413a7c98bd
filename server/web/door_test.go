package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

const doorAddress = "127.0.0.1:8766"

// offers stand for the state file's sign-ins.
type offers struct {
	mu    sync.Mutex
	until map[[32]byte]time.Time
	asked int
	err   error
}

func (o *offers) offer(until time.Time) (token string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	token, offer := NewToken()
	if o.until == nil {
		o.until = map[[32]byte]time.Time{}
	}
	o.until[offer] = until
	return token
}

func (o *offers) SignIn(token [32]byte) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	until, ok := o.until[token]
	delete(o.until, token)
	return ok && time.Now().Before(until), o.err
}

func (o *offers) StateID() (string, error) { return "sha256:" + strings.Repeat("ab", 32), o.err }

// room is what is behind the door: it shows the CSRF token, and counts who came in.
type room struct {
	mu   sync.Mutex
	seen []string
}

func (p *room) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, r.Method+" "+r.URL.Path+" "+r.FormValue("decision"))
	p.mu.Unlock()
	_, _ = io.WriteString(w, sessionOf(r.Context()).csrf)
}

// entered is who came in since it was asked before.
func (p *room) entered() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// porch is a door of a test with what is before and behind it.
type porch struct {
	*Door
	t      testing.TB
	offers *offers
	room   *room
	log    *strings.Builder
}

func newPorch(t testing.TB) *porch {
	p := &porch{t: t, offers: &offers{}, room: &room{}, log: &strings.Builder{}}
	p.Door = NewDoor(DoorConfig{
		Pages: p.room, SignIns: p.offers, Address: doorAddress, Version: "1.2.3",
		Log: slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	p.own = func(context.Context) bool { return true } // a test's requests have no connection
	return p
}

// asks is a request as a browser makes it.
type asks struct {
	method, path string
	form         url.Values // of a POST
	headers      map[string]string
	cookie       string
	host         string // "": the door's
}

func (p *porch) do(a asks) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://"+doorAddress+"/", strings.NewReader(a.form.Encode()))
	r.Method = a.method
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(a.path, "?")
	if a.host != "" {
		r.Host = strings.TrimPrefix(a.host, "=")
	}
	if a.method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+doorAddress)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if a.cookie != "" {
		r.Header.Set("Cookie", a.cookie)
	}
	for name, value := range a.headers {
		if r.Header.Del(name); value != "" {
			r.Header[name] = strings.Split(value, "|")
		}
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

// signIn gives a cookie, and the CSRF token that a page shows with it.
func (p *porch) signIn() (cookie, csrf string) {
	p.t.Helper()
	w := p.do(asks{method: "POST", path: "/sign-in", form: url.Values{"token": {p.offers.offer(time.Now().Add(time.Minute))}}})
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || len(cookies) != 1 {
		p.t.Fatalf("a sign-in is answered with %d to %q and cookies %v", w.Code, w.Header().Get("Location"), cookies)
	}
	cookie = cookies[0].Name + "=" + cookies[0].Value
	w = p.do(asks{method: "GET", path: "/", cookie: cookie})
	if w.Code != http.StatusOK || len(w.Body.String()) != 43 {
		p.t.Fatalf("who has signed in is answered with %d: %s", w.Code, w.Body)
	}
	p.room.entered()
	return cookie, w.Body.String()
}

// A request that differs in one thing from one that is let in is refused, and nothing behind the door hears of it.
func TestDoorRefuses(t *testing.T) {
	p := newPorch(t)
	cookie, csrf := p.signIn()
	_, foreign := p.signIn()
	elsewhere := newPorch(t) // before a restart, or of another state
	stolen, stolenCSRF := elsewhere.signIn()
	const page = "/a/ap_0011223344556677"
	link := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	tests := map[string]struct {
		change func(*asks)
		get    int // what a GET gets; 0: the change is about a POST
		post   int
	}{
		"as it should be":              {func(*asks) {}, 200, 200},
		"typed by a person":            {func(a *asks) { a.headers = map[string]string{"Sec-Fetch-Site": "none", "Origin": ""} }, 200, 403},
		"another name (DNS rebinding)": {func(a *asks) { a.host = "evil.example:8766" }, 403, 403},
		"another name, no port":        {func(a *asks) { a.host = "evil.example" }, 403, 403},
		"this machine's name":          {func(a *asks) { a.host = "localhost:8766" }, 403, 403},
		"no port":                      {func(a *asks) { a.host = "127.0.0.1" }, 403, 403},
		"another port":                 {func(a *asks) { a.host = "127.0.0.1:8765" }, 403, 403},
		"the name as a beginning":      {func(a *asks) { a.host = doorAddress + ".evil.example" }, 403, 403},
		"no name":                      {func(a *asks) { a.host = "=" }, 403, 403},
		"a page of elsewhere":          {func(a *asks) { a.headers = map[string]string{"Origin": "https://evil.example"} }, 403, 403},
		"another port's page":          {func(a *asks) { a.headers = map[string]string{"Origin": "http://127.0.0.1:9999"} }, 403, 403},
		"our page over https":          {func(a *asks) { a.headers = map[string]string{"Origin": "https://" + doorAddress} }, 403, 403},
		"our page by a beginning":      {func(a *asks) { a.headers = map[string]string{"Origin": "http://" + doorAddress + ".evil.example"} }, 403, 403},
		"two origins": {func(a *asks) {
			a.headers = map[string]string{"Origin": "http://" + doorAddress + "|https://evil.example"}
		}, 403, 403},
		"hidden origin":              {func(a *asks) { a.headers = map[string]string{"Origin": "null", "Sec-Fetch-Site": ""} }, 403, 403},
		"hidden origin of elsewhere": {func(a *asks) { a.headers = map[string]string{"Origin": "null", "Sec-Fetch-Site": "cross-site"} }, 403, 403},
		"hidden origin, typed":       {func(a *asks) { a.headers = map[string]string{"Origin": "null", "Sec-Fetch-Site": "none"} }, 403, 403},
		"hidden origin of our page":  {func(a *asks) { a.headers = map[string]string{"Origin": "null", "Sec-Fetch-Site": "same-origin"} }, 200, 200},
		"no origin":                  {func(a *asks) { a.headers = map[string]string{"Origin": "", "Sec-Fetch-Site": ""} }, 200, 403},
		"no origin, our page":        {func(a *asks) { a.headers = map[string]string{"Origin": ""} }, 200, 200},
		"fetched by another site":    {func(a *asks) { a.headers = map[string]string{"Sec-Fetch-Site": "cross-site"} }, 403, 403},
		"fetched by another port":    {func(a *asks) { a.headers = map[string]string{"Sec-Fetch-Site": "same-site"} }, 403, 403},
		"metadata of no known word":  {func(a *asks) { a.headers = map[string]string{"Sec-Fetch-Site": "Same-Origin"} }, 403, 403},
		"metadata twice":             {func(a *asks) { a.headers = map[string]string{"Sec-Fetch-Site": "same-origin|cross-site"} }, 403, 403},
		"a link of another site":     {func(a *asks) { a.headers = link }, 200, 403},
		"a frame of another site": {func(a *asks) {
			a.headers = map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
		}, 403, 403},
		"a picture of another site": {func(a *asks) {
			a.headers = map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
		}, 403, 403},
		"no cookie":               {func(a *asks) { a.cookie = "" }, 401, 401},
		"an empty cookie":         {func(a *asks) { a.cookie = cookieName + "=" }, 401, 401},
		"a guessed cookie":        {func(a *asks) { a.cookie = cookieName + "=" + strings.Repeat("A", 43) }, 401, 401},
		"another cookie":          {func(a *asks) { a.cookie = strings.Replace(cookie, cookieName, "other", 1) }, 401, 401},
		"a cookie cut":            {func(a *asks) { a.cookie = cookie[:len(cookie)-1] }, 401, 401},
		"the CSRF token as one":   {func(a *asks) { a.cookie = cookieName + "=" + csrf }, 401, 401},
		"from before a restart":   {func(a *asks) { a.cookie = stolen; a.form.Set("csrf", stolenCSRF) }, 401, 401},
		"behind a tossed cookie":  {func(a *asks) { a.cookie = cookieName + "=tossed; " + cookie }, 200, 200},
		"behind very many":        {func(a *asks) { a.cookie = strings.Repeat(cookieName+"=tossed; ", maxCookies) + cookie }, 401, 401},
		"no CSRF token":           {func(a *asks) { a.form.Del("csrf") }, 0, 403},
		"an empty CSRF token":     {func(a *asks) { a.form.Set("csrf", "") }, 0, 403},
		"another's CSRF token":    {func(a *asks) { a.form.Set("csrf", foreign) }, 0, 403},
		"two CSRF tokens":         {func(a *asks) { a.form.Add("csrf", "x") }, 0, 403},
		"CSRF token in the query": {func(a *asks) { a.form.Del("csrf"); a.path = page + "?csrf=" + csrf }, 0, 403},
		"JSON":                    {func(a *asks) { a.headers = map[string]string{"Content-Type": "application/json"} }, 0, 415},
		"text, as a foreign form": {func(a *asks) { a.headers = map[string]string{"Content-Type": "text/plain"} }, 0, 415},
		"multipart":               {func(a *asks) { a.headers = map[string]string{"Content-Type": "multipart/form-data; boundary=x"} }, 0, 415},
		"no media type":           {func(a *asks) { a.headers = map[string]string{"Content-Type": ""} }, 0, 415},
		"compressed":              {func(a *asks) { a.headers = map[string]string{"Content-Encoding": "gzip"} }, 0, 415},
		"too long":                {func(a *asks) { a.form.Set("comment", strings.Repeat("x", 64<<10)) }, 0, 413},
		"a bad escape": {func(a *asks) {
			a.form = nil
			a.headers = map[string]string{"Content-Type": "application/x-www-form-urlencoded; ="}
		}, 0, 415},
		"signing out without CSRF": {func(a *asks) { a.path = "/sign-out"; a.form.Del("csrf") }, 0, 403},
	}
	for name, tt := range tests {
		for method, want := range map[string]int{"GET": tt.get, "POST": tt.post} {
			if want == 0 {
				continue
			}
			a := asks{method: method, path: page, cookie: cookie, form: url.Values{"csrf": {csrf}, "decision": {"approve"}}}
			tt.change(&a)
			w := p.do(a)
			if w.Code != want {
				t.Errorf("%s: %s is answered with %d, want %d: %s", name, method, w.Code, want, w.Body)
			}
			if n := len(p.room.entered()); (n > 0) != (want == 200) {
				t.Errorf("%s: %s: %d came in", name, method, n)
			}
			if body := w.Body.String(); want != 200 && (strings.Contains(body, csrf) || strings.Contains(body, "evil.example")) {
				t.Errorf("%s: %s: the answer tells too much: %s", name, method, body)
			}
		}
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"} {
		if w := p.do(asks{method: method, path: page, cookie: cookie}); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD, POST" || len(p.room.entered()) > 0 {
			t.Errorf("%s is answered with %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	if strings.Contains(p.log.String(), csrf) || strings.Contains(p.log.String(), strings.TrimPrefix(cookie, cookieName+"=")) {
		t.Errorf("the log holds secrets: %s", p.log)
	}
}

// Only the body of a form says what to do: a link can come from anywhere.
func TestDoorReadsNoQuery(t *testing.T) {
	p := newPorch(t)
	cookie, csrf := p.signIn()
	p.do(asks{method: "POST", path: "/a/ap_0011223344556677?decision=approve&%zz", cookie: cookie, form: url.Values{"csrf": {csrf}}})
	if got := p.room.entered(); len(got) != 1 || got[0] != "POST /a/ap_0011223344556677 " {
		t.Errorf("came in: %q, want no decision", got)
	}
}

// Nobody but this OS user is let in, whatever else is right.
func TestDoorOtherUser(t *testing.T) {
	p := newPorch(t)
	cookie, _ := p.signIn()
	p.own = func(context.Context) bool { return false }
	for _, path := range []string{"/", "/healthz", SignInPath(p.offers.offer(time.Now().Add(time.Minute)))} {
		if w := p.do(asks{method: "GET", path: path, cookie: cookie}); w.Code != 403 || w.Header().Get("Connection") != "close" {
			t.Errorf("GET %s of another user is answered with %d", path, w.Code)
		}
	}
}

// Whatever is answered may be kept, framed, or passed on by nobody.
func TestDoorHeaders(t *testing.T) {
	p := newPorch(t)
	cookie, csrf := p.signIn()
	for name, a := range map[string]asks{
		"a page":        {method: "GET", path: "/", cookie: cookie},
		"sign-in page":  {method: "GET", path: "/"},
		"button":        {method: "GET", path: SignInPath(strings.Repeat("A", 43))},
		"no button":     {method: "GET", path: "/sign-in/x"},
		"signing in":    {method: "POST", path: "/sign-in", form: url.Values{"token": {p.offers.offer(time.Now().Add(time.Minute))}}},
		"not signed in": {method: "POST", path: "/sign-in"},
		"health":        {method: "GET", path: "/healthz"},
		"other host":    {method: "GET", path: "/", host: "evil.example"},
		"method":        {method: "PUT", path: "/"},
		"not a form":    {method: "POST", path: "/", headers: map[string]string{"Content-Type": ""}},
		"signing out":   {method: "POST", path: "/sign-out", cookie: cookie, form: url.Values{"csrf": {csrf}}},
	} {
		h := p.do(a).Header()
		for header, want := range map[string]string{
			"Content-Security-Policy": policy(), "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
		} {
			if got := h.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
	}
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
		if !strings.Contains(policy(), want) {
			t.Errorf("the policy is %q, want %q in it", policy(), want)
		}
	}
}

// Another process learns whose port this is, and nothing else; a fault of the state is no answer.
func TestDoorHealth(t *testing.T) {
	p := newPorch(t)
	w := p.do(asks{method: "GET", path: "/healthz"})
	if want := `{"patterngate":"1.2.3","state":"sha256:` + strings.Repeat("ab", 32) + `"}` + "\n"; w.Code != 200 || w.Body.String() != want {
		t.Errorf("GET /healthz is answered with %d: %s, want %s", w.Code, w.Body, want)
	}
	if w := p.do(asks{method: "POST", path: "/healthz"}); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /healthz is answered with %d", w.Code)
	}
	p.offers.err = errors.New("the disk is gone")
	if w := p.do(asks{method: "GET", path: "/healthz"}); w.Code != 503 || strings.Contains(w.Body.String(), "disk") {
		t.Errorf("GET /healthz of a broken state is answered with %d: %s", w.Code, w.Body)
	}
}

// A browser that follows a link of another site comes without its cookie (SameSite=Strict) and is led on once, to that very
// page of ours and to nowhere else.
func TestDoorLeadsOn(t *testing.T) {
	p := newPorch(t)
	link := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	for path, want := range map[string]string{
		"/": "/", "/a/ap_0011223344556677": "/a/ap_0011223344556677", "/r": "/r", "/r/run_0011223344556677/receipt": "/r/run_0011223344556677/receipt",
		"//evil.example": "", "/\\evil.example": "", "/a/../../x": "", "/a/ap_00;url=https://evil.example": "", "/A": "", "/sign-in": "",
	} {
		w := p.do(asks{method: "GET", path: path, headers: link})
		refresh := w.Header().Get("Refresh")
		if want != "" {
			want = "0; url=" + want
		}
		if w.Code != 401 || refresh != want {
			t.Errorf("a link to %s is answered with %d, Refresh %q, want %q", path, w.Code, refresh, want)
		}
	}
	for name, headers := range map[string]map[string]string{"typed": {"Sec-Fetch-Site": "none"}, "led on": {"Sec-Fetch-Site": "same-origin"}, "an old browser": nil} {
		if w := p.do(asks{method: "GET", path: "/", headers: headers}); w.Code != 401 || w.Header().Get("Refresh") != "" {
			t.Errorf("%s: answered with %d, Refresh %q: it would never end", name, w.Code, w.Header().Get("Refresh"))
		}
	}
}

// Whatever is sent, only who shows a session's cookie from a page of ours gets in.
func FuzzDoor(f *testing.F) {
	f.Add("GET", "/", doorAddress, "", "", "", "", false, false)
	f.Add("POST", "/a/ap_0011223344556677", doorAddress, "http://"+doorAddress, "same-origin", "", "", true, true)
	f.Add("POST", "/sign-out", doorAddress, "null", "same-origin", "navigate", "document", true, false)
	f.Add("GET", "//x", "evil.example", "http://evil.example", "cross-site", "navigate", "document", true, true)
	f.Fuzz(func(t *testing.T, method, path, host, origin, site, mode, dest string, signedIn, vouched bool) {
		p := newPorch(t)
		cookie, csrf := p.signIn()
		a := asks{method: method, path: path, form: url.Values{}, host: "=" + host, headers: map[string]string{
			"Origin": strings.ReplaceAll(origin, "|", ""), "Sec-Fetch-Site": strings.ReplaceAll(site, "|", ""), "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}}
		if signedIn {
			a.cookie = cookie
		}
		if vouched {
			a.form.Set("csrf", csrf)
		}
		w := p.do(a)
		entered := len(p.room.entered()) > 0
		origin, site = a.headers["Origin"], a.headers["Sec-Fetch-Site"]
		post := method == http.MethodPost
		ours := origin == "http://"+doorAddress || site == "same-origin" && (origin == "" || origin == "null")
		if entered && (!signedIn || host != doorAddress || post && !(ours && vouched) || origin != "" && !ours) {
			t.Errorf("%s %s came in: host %q, origin %q, site %q", method, path, host, origin, site)
		}
		if entered != (w.Code == 200) && w.Code == 200 && path != "/healthz" && !strings.HasPrefix(path, "/sign-in/") {
			t.Errorf("%s %s is answered with %d", method, path, w.Code)
		}
	})
}

func ExampleNewDoor() {
	door := NewDoor(DoorConfig{Pages: New(Config{}), SignIns: &offers{}, Address: "127.0.0.1:8766", Log: slog.New(slog.DiscardHandler)})
	fmt.Println(door.URL())
	// Output: http://127.0.0.1:8766
}
