package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"patterngate/ijson"
)

// Endpoint is where a server is reached over Streamable HTTP, and with which bearer token. Only [ParseEndpoint] makes
// one; the zero value is none. Its token is never printed.
type Endpoint struct {
	url   string
	token func() string // nil: no token
}

// ParseEndpoint reads the URL of a server and the bearer token for it, "" for none. It refuses what would show a
// secret: a user in the URL, and a token on the way to another host without TLS.
func ParseEndpoint(address, token string) (Endpoint, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return Endpoint{}, fmt.Errorf("%q is no URL of a server; write one such as http://127.0.0.1:8765/mcp", ijson.Cut(address, 200))
	case u.User != nil:
		return Endpoint{}, errors.New("the URL holds a user; a secret is given as a bearer token, outside of the URL")
	}
	e := Endpoint{url: u.String()}
	if token == "" {
		return e, nil
	}
	if i := strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return Endpoint{}, fmt.Errorf("the bearer token holds white space or a character beyond ASCII at byte %d; give it as the server gave it out", i)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return Endpoint{}, fmt.Errorf("http://%s would show the bearer token to everyone on the way; use https", u.Host)
	}
	e.token = func() string { return token }
	return e, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Dial opens a session over Streamable HTTP, without a handshake where the server can do so, else by initialize. An
// HTTP refusal is a *[StatusError].
func Dial(ctx context.Context, e Endpoint, who Identity) (*Client, error) {
	if e.url == "" {
		return nil, errors.New("upstream: no endpoint")
	}
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("upstream: the default HTTP transport was replaced")
	}
	g := &guard{url: e.url, base: base.Clone(), headers: e.bearer}
	wire, err := g.wire()
	if err != nil {
		return nil, err
	}
	c, err := open(ctx, wire, g, opening{who: who, order: statelessFirst})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.url, err)
	}
	return c, nil
}

// bearer is the header that holds the token.
func (e Endpoint) bearer(context.Context) (http.Header, error) {
	if e.token == nil {
		return nil, nil
	}
	return http.Header{"Authorization": {"Bearer " + e.token()}}, nil
}

// maxRedirects is how often a request may be sent on.
const maxRedirects = 5

// sameOrigin follows redirects that repeat the request at the same origin: neither arguments nor token go anywhere else.
func sameOrigin(next *http.Request, before []*http.Request) error {
	switch first := before[0]; {
	case origin(next.URL) != origin(first.URL):
		return fmt.Errorf("the server redirects to another origin, %s; if it is meant, give that URL", origin(next.URL))
	case next.Method != first.Method:
		return fmt.Errorf("the server redirects to %s in a way that drops the request; give that URL", next.URL.Redacted())
	case traceOf(next.Context()).once:
		return errors.New("the server redirects a call that must not be sent twice; give the URL that it redirects to")
	case len(before) > maxRedirects:
		return fmt.Errorf("the server redirects more than %d times", maxRedirects)
	}
	return nil
}

// origin is scheme, host and port (RFC 6454).
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// StatusError is an HTTP answer that is no answer of the protocol.
type StatusError struct {
	Status  int    // of HTTP
	Message string // the server's own words, cut; perhaps empty
}

// Error words the status.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// guard is what every HTTP request of a session goes through: it adds the headers, bounds the answer, and notes in the
// request's trace what the client would not tell. It is safe for concurrent use.
type guard struct {
	url     string
	base    *http.Transport
	headers func(context.Context) (http.Header, error)
	// forget has headers read their secrets again and reports whether there are any; nil: there are none.
	forget func() bool
	// moved is where the server redirects requests for url to; nil: nowhere yet.
	moved atomic.Pointer[url.URL]
}

// wire is a transport over the guard. It logs nothing: what goes wrong is returned.
func (g *guard) wire(more ...transport.StreamableHTTPCOption) (*transport.StreamableHTTP, error) {
	return transport.NewStreamableHTTP(g.url, append(more,
		transport.WithHTTPBasicClient(&http.Client{Transport: g, CheckRedirect: sameOrigin}),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)))...)
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if u, err := url.Parse(g.url); err != nil || origin(u) != origin(r.URL) {
		return nil, errors.New("upstream: a request to another origin")
	}
	t := traceOf(r.Context()).next()
	r = g.directed(r)
	answer, err := g.send(r, t)
	refused := err == nil && answer.StatusCode == http.StatusUnauthorized && g.forget != nil && g.forget()
	switch {
	case refused && t.once: // a server that acts and then refuses would act twice
		t.doubts()
	case refused && r.GetBody != nil:
		_ = answer.Body.Close()
		r = r.Clone(r.Context())
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
		answer, err = g.send(r, t) // perhaps the secret was replaced
	}
	if err != nil {
		return nil, err
	}
	t.answered(answer)
	if r.Response != nil && answer.StatusCode/100 == 2 {
		g.moved.Store(r.URL)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return g.refused(answer, t)
	}
	answer.Body = newBoundedBody(answer.Body, t.found)
	return answer, nil
}

// directed is a request sent at once to where the server redirected earlier ones, so that a call is not sent twice.
func (g *guard) directed(r *http.Request) *http.Request {
	to := g.moved.Load()
	if to == nil || r.Response != nil || r.URL.String() != g.url {
		return r
	}
	r = r.Clone(r.Context())
	r.URL = to
	return r
}

// send sends a request as it is but for the headers.
func (g *guard) send(r *http.Request, t *trace) (*http.Response, error) {
	t.begin()
	headers, err := g.headers(r.Context())
	if err != nil {
		return nil, err
	}
	watched := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GetConn:      func(string) { t.begin() },
		WroteHeaders: t.wrote,
	})
	r = r.Clone(watched)
	maps.Copy(r.Header, headers)
	return g.base.RoundTrip(r)
}

// refused reads the beginning of a refusal, which is all that counts.
func (g *guard) refused(answer *http.Response, t *trace) (*http.Response, error) {
	const most = 64 << 10
	body, err := io.ReadAll(io.LimitReader(answer.Body, most))
	err = errors.Join(err, answer.Body.Close())
	if err != nil {
		return nil, err
	}
	t.found(&StatusError{answer.StatusCode, wordsOf(body)})
	if answer.Request.Method == http.MethodGet && neverListens(answer.StatusCode) {
		answer.StatusCode = http.StatusMethodNotAllowed
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

// neverListens reports a refusal of the stream of notifications that no second question changes. A server without one should
// answer 405; mcp-go asks one that answers otherwise again, every second for as long as the session lasts.
func neverListens(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests: // 404: the session is over
		return false
	}
	return status < http.StatusInternalServerError
}

// wordsOf is what a refusal says: the message of a JSON-RPC error, else the first line of a text.
func wordsOf(body []byte) string {
	const most = 300
	var refusal struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &refusal) == nil {
		return ijson.Cut(refusal.Error.Message, most)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if strings.HasPrefix(line, "<") || strings.HasPrefix(line, "{") { // a page for browsers, or JSON of other shape
		return ""
	}
	return ijson.Cut(strings.ToValidUTF8(line, "�"), most)
}

func (g *guard) why() error { return nil }

func (g *guard) close() error {
	g.base.CloseIdleConnections()
	return nil
}

func (g *guard) abort() error { return g.close() }

// isStream reports whether an answer is a stream of events.
func isStream(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// maxRetryAfter bounds what a server may ask for.
const maxRetryAfter = time.Hour

// retryAfter reads how long a server asks to wait (RFC 9110 section 10.2.3), and whether it does.
func retryAfter(text string) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter), true
	}
	return 0, false
}
