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

// Endpoint is the URL of a server over Streamable HTTP, with a bearer token. Only [ParseEndpoint] makes one; the zero
// value is not an endpoint. Its token is never printed.
type Endpoint struct {
	url   string
	token func() string // nil: no token
}

// ParseEndpoint reads the URL of a server and the bearer token for it, "" for none. It rejects URLs that would expose a
// secret: a URL with a user, and a token for another host without TLS.
func ParseEndpoint(address, token string) (Endpoint, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return Endpoint{}, fmt.Errorf(notServerURL, ijson.Cut(address, 200))
	case u.User != nil:
		return Endpoint{}, errors.New(userInURL)
	}
	e := Endpoint{url: u.String()}
	if token == "" {
		return e, nil
	}
	if i := strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return Endpoint{}, fmt.Errorf(badTokenByte, i)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return Endpoint{}, fmt.Errorf(tokenInClear, u.Host)
	}
	e.token = func() string { return token }
	return e, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Dial opens a session over Streamable HTTP: without a handshake if the server supports that, otherwise with
// initialize. An HTTP error answer is a *[StatusError].
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

// bearer returns the header with the token.
func (e Endpoint) bearer(context.Context) (http.Header, error) {
	if e.token == nil {
		return nil, nil
	}
	return http.Header{"Authorization": {"Bearer " + e.token()}}, nil
}

// maxRedirects is how many redirects of a request are followed.
const maxRedirects = 5

// sameOrigin allows only redirects that repeat the request at the same origin, so that arguments and token go nowhere
// else.
func sameOrigin(next *http.Request, before []*http.Request) error {
	switch first := before[0]; {
	case origin(next.URL) != origin(first.URL):
		return fmt.Errorf(otherOrigin, origin(next.URL))
	case next.Method != first.Method:
		return fmt.Errorf(redirectDrops, next.URL.Redacted())
	case traceOf(next.Context()).once:
		return errors.New(redirectWrite)
	case len(before) > maxRedirects:
		return fmt.Errorf(tooManyRedirects, maxRedirects)
	}
	return nil
}

// origin returns scheme, host and port (RFC 6454).
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// StatusError is an HTTP answer that does not follow the protocol.
type StatusError struct {
	Status  int    // HTTP status
	Message string // the server's own message, cut; may be empty
}

// Error returns the status and the message.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// guard handles every HTTP request of a session. It adds the headers, limits the answer, and records in the request's
// trace what the client does not report. It is safe for concurrent use.
type guard struct {
	url     string
	base    *http.Transport
	headers func(context.Context) (http.Header, error)
	// forget makes headers read their secrets again and reports whether there are any; nil: there are none.
	forget func() bool
	// moved is the URL to which the server redirects requests for url; nil: no redirect yet.
	moved atomic.Pointer[url.URL]
}

// wire returns a transport over the guard. It logs nothing: it returns every error.
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

// directed returns a request for the URL to which the server redirected earlier requests. So a call is not sent twice.
func (g *guard) directed(r *http.Request) *http.Request {
	to := g.moved.Load()
	if to == nil || r.Response != nil || r.URL.String() != g.url {
		return r
	}
	r = r.Clone(r.Context())
	r.URL = to
	return r
}

// send sends a request with the session's headers.
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

// refused reads the beginning of an error answer; the rest is not needed.
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

// neverListens reports whether a server that refused the stream of notifications will always refuse it. A server
// without a stream should answer 405. After another answer mcp-go asks again every second, for as long as the session
// lasts.
func neverListens(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests: // 404: the session is over
		return false
	}
	return status < http.StatusInternalServerError
}

// wordsOf returns the message of a JSON-RPC error, or the first line of a text.
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
	if strings.HasPrefix(line, "<") || strings.HasPrefix(line, "{") { // a page for browsers, or JSON of another form
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

// maxRetryAfter is the longest pause that a server may ask for.
const maxRetryAfter = time.Hour

// retryAfter returns how long a server asks to wait (RFC 9110 section 10.2.3), and whether it asks.
func retryAfter(text string) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter), true
	}
	return 0, false
}
