package httptool_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
)

// replies serves one handler.
func replies(t testing.TB, answer http.HandlerFunc) string {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

// typed answers a code, a content type and a text.
func typed(code int, kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{kind}
		if kind == "" {
			w.Header()["Content-Type"] = nil
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

func zipped(text []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text)
	_ = w.Close()
	return b.String()
}

func TestObservations(t *testing.T) {
	object := func(name string, v any) map[string]any { return map[string]any{name: v} }
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   any // nil: unreadable
	}{
		"object":             {typed(200, "application/json", `{"a": 1}`), object("a", 1.0)},
		"problem":            {typed(200, "application/problem+json; charset=UTF-8", `{"a": 1}`), object("a", 1.0)},
		"list":               {typed(200, "application/json", `[1, "x"]`), object("value", []any{1.0, "x"})},
		"null":               {typed(200, "application/json", `null`), object("value", nil)},
		"text":               {typed(200, "text/plain; charset=utf-8", "höhe\n"), object("text", "höhe\n")},
		"page":               {typed(201, "text/html", "<p>"), object("text", "<p>")},
		"nothing":            {typed(204, "", ""), map[string]any{}},
		"nothing of a type":  {typed(200, "image/png", ""), map[string]any{}},
		"absent":             {typed(404, "text/html", "<h1>gone</h1>"), catalog.Told{Value: map[string]any{"error": "not_found", "status": 404.0}}},
		"gone":               {typed(410, "", ""), catalog.Told{Value: map[string]any{"error": "not_found", "status": 410.0}}},
		"repeated member":    {typed(200, "application/json", `{"a": 1, "a": 2}`), nil},
		"large integer":      {typed(200, "application/json", `{"a": 9007199254740993}`), nil},
		"no JSON":            {typed(200, "application/json", `{"a": `), nil},
		"two documents":      {typed(200, "application/json", `{}{}`), nil},
		"a picture":          {typed(200, "image/png", "x"), nil},
		"no type":            {typed(200, "", "x"), nil},
		"broken type":        {typed(200, ";;", "x"), nil},
		"Latin-1":            {typed(200, "text/plain; charset=iso-8859-1", "x"), nil},
		"UTF-16 JSON":        {typed(200, "application/json; charset=utf-16", "{}"), nil},
		"no UTF-8":           {typed(200, "text/plain", "\xff"), nil},
		"unexpected success": {typed(206, "application/json", "{}"), nil},
		"too long":           {typed(200, "text/plain", strings.Repeat("x", 8<<20+1)), nil},
		"as long as may be":  {typed(200, "text/plain", strings.Repeat("x", 8<<20)), object("text", strings.Repeat("x", 8<<20))},
		"gzip": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			typed(200, "application/json", zipped([]byte(`{"a": 1}`)))(w, r)
		}, object("a", 1.0)},
		"a gzip that grows": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			typed(200, "text/plain", zipped(make([]byte, 9<<20)))(w, r)
		}, nil},
		"half a gzip": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			typed(200, "text/plain", zipped([]byte("hello"))[:20])(w, r)
		}, nil},
		"another encoding": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			typed(200, "text/plain", "x")(w, r)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tool := build(t, httptool.Config{URL: replies(t, tt.answer), Success: []string{"200", "201", "204"}})
			v, err := tool.Do(t.Context(), catalog.Call{})
			fault, _ := errors.AsType[*catalog.Fault](err)
			switch {
			case tt.want == nil && (fault == nil || fault.Kind != catalog.Unreadable || v != nil):
				t.Errorf("Do = %.80v, %v; want unreadable", v, err)
			case tt.want != nil && (err != nil || !cmp.Equal(tt.want, v)):
				t.Errorf("Do = %.80v, %v\nwant %.80v", v, err, tt.want)
			}
		})
	}
}

// An output is made of arguments and reply; its error is a result that cannot be read. An absent code needs none.
func TestOutput(t *testing.T) {
	url := replies(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("X-Part", "a")
		w.Header().Add("X-Part", "b")
		code := map[string]int{"/a": 200, "/b": 404, "/c": 204, "/err": 200}[r.URL.Path]
		typed(code, "application/json", map[bool]string{true: `[1]`}[code != 204])(w, r)
	})
	tool := build(t, httptool.Config{URL: url + "/{id}", Output: func(args map[string]any, r httptool.Response) (any, error) {
		if args["id"] == "err" {
			return nil, errors.New("no such member")
		}
		return map[string]any{"id": args["id"], "status": float64(r.Status), "part": r.Headers["x-part"], "body": r.Body}, nil
	}})
	for id, want := range map[string]any{
		"a":   map[string]any{"id": "a", "status": 200.0, "part": "a, b", "body": []any{1.0}},
		"b":   catalog.Told{Value: map[string]any{"error": "not_found", "status": 404.0}},
		"c":   map[string]any{"id": "c", "status": 204.0, "part": "a, b", "body": nil},
		"err": nil,
	} {
		v, err := tool.Do(t.Context(), catalog.Call{Args: map[string]any{"id": id}})
		fault, _ := errors.AsType[*catalog.Fault](err)
		if want == nil && (fault == nil || fault.Kind != catalog.Unreadable) || want != nil && !cmp.Equal(want, v) {
			t.Errorf("%s: %v, %v; want %v", id, v, err, want)
		}
	}
}

// The length that a HEAD is answered is that of what does not come.
func TestHead(t *testing.T) {
	url := replies(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000000")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "image/png")
	})
	tool := build(t, httptool.Config{Method: "HEAD", URL: url})
	if v, err := tool.Do(t.Context(), catalog.Call{}); err != nil || !cmp.Equal(v, any(map[string]any{})) {
		t.Errorf("Do = %v, %v; want {}", v, err)
	}
}

func TestStatuses(t *testing.T) {
	type outcome struct {
		kind  catalog.FaultKind
		again bool
		after time.Duration
	}
	for code, want := range map[int]outcome{
		400: {catalog.Declined, false, 0}, 401: {catalog.Declined, false, 0}, 403: {catalog.Declined, false, 0}, 404: {catalog.Declined, false, 0},
		409: {catalog.Declined, false, 0}, 422: {catalog.Declined, false, 0}, 408: {catalog.TimedOut, true, 7 * time.Second},
		429: {catalog.Declined, true, 7 * time.Second}, 500: {catalog.NoAnswer, true, 7 * time.Second}, 503: {catalog.NoAnswer, true, 7 * time.Second},
		302: {catalog.NoAnswer, false, 0}, 304: {catalog.NoAnswer, false, 0}, 202: {catalog.Unreadable, false, 0},
	} {
		url := replies(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(code)
		})
		for _, effect := range []catalog.Effect{catalog.Read, catalog.Write} {
			tool := build(t, httptool.Config{Method: "POST", URL: url, Effect: effect, Success: []string{"200", "201"}, Absent: []string{}})
			_, err := tool.Do(t.Context(), catalog.Call{})
			fault, ok := errors.AsType[*catalog.Fault](err)
			if !ok || fault.Kind != want.kind || fault.Again != want.again || fault.After != want.after {
				t.Errorf("%s, %d: %+v, want %+v", effect, code, fault, want)
			}
			if status, ok := errors.AsType[*httptool.StatusError](err); !ok || status.Code != code {
				t.Errorf("%d: the cause is %v", code, err)
			}
		}
	}
}

// What never reached a server was certainly not done; only a refused connection may be tried again by any tool.
func TestNotSent(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := "http://" + gone.Addr().String()
	_ = gone.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	secure.Config.ErrorLog = nil
	t.Cleanup(secure.Close)
	plain := replies(t, func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") })
	unknown := httptool.NewClient(httptool.ClientConfig{Resolve: nil})
	for name, tt := range map[string]struct {
		config httptool.Config
		again  bool
	}{
		"refused":         {httptool.Config{URL: refusing}, true},
		"address":         {httptool.Config{URL: plain, Client: unknown}, false},
		"IPv6 address":    {httptool.Config{URL: "http://[::1]:1/"}, false},
		"no such name":    {httptool.Config{URL: "http://no-such-host.invalid/"}, false},
		"certificate":     {httptool.Config{URL: secure.URL}, false},
		"no secret":       {httptool.Config{URL: plain, Headers: []httptool.Header{{Name: "Authorization", Secret: &secret{}}}}, false},
		"broken secret":   {httptool.Config{URL: plain, Headers: []httptool.Header{{Name: "Authorization", Secret: &secret{texts: []string{"a\nb"}}}}}, false},
		"no key":          {httptool.Config{URL: plain, IdempotencyHeader: "Key"}, false},
		"TLS to no TLS":   {httptool.Config{URL: strings.Replace(refusedTLS(t), "http:", "https:", 1)}, false},
		"certificate, ok": {httptool.Config{URL: secure.URL, Roots: x509.NewCertPool()}, false},
	} {
		for _, effect := range []catalog.Effect{catalog.Read, catalog.Write} {
			tt.config.Effect, tt.config.Method = effect, "POST"
			tool := build(t, tt.config)
			_, err := tool.Do(t.Context(), catalog.Call{})
			fault, ok := errors.AsType[*catalog.Fault](err)
			if !ok || fault.Kind != catalog.NotSent || fault.Again != tt.again {
				t.Errorf("%s, %s: %v (again %v), want not_sent, again %v", name, effect, err, ok && fault.Again, tt.again)
			}
			if strings.Contains(err.Error(), "a\nb") {
				t.Errorf("%s: the error quotes the secret", name)
			}
		}
	}
}

// refusedTLS is a server that knows no TLS.
func refusedTLS(t *testing.T) string {
	return replies(t, func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") })
}

// With the server's certificate among the roots it is reached, over TLS.
func TestRoots(t *testing.T) {
	server := httptest.NewTLSServer(typed(200, "application/json", `{"ok": true}`))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	tool := build(t, httptool.Config{URL: server.URL, Roots: roots})
	if v, err := tool.Do(t.Context(), catalog.Call{}); err != nil || !cmp.Equal(v, any(map[string]any{"ok": true})) {
		t.Errorf("Do = %v, %v", v, err)
	}
}

// A server that takes its time, before its reply or within it, is cut; whether it acted nobody knows.
func TestSlow(t *testing.T) {
	hang := func(r *http.Request) { <-r.Context().Done() }
	for name, answer := range map[string]http.HandlerFunc{
		"no reply": func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); hang(r) },
		"half a reply": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"status": "pa`)
			w.(http.Flusher).Flush()
			hang(r)
		},
	} {
		tool := build(t, httptool.Config{Method: "POST", Effect: catalog.Write, URL: replies(t, answer), Body: httptool.Body{Args: true}, Timeout: 50 * time.Millisecond})
		_, err := tool.Do(t.Context(), catalog.Call{})
		if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.TimedOut || !fault.Again {
			t.Errorf("%s: %v, want timed_out", name, err)
		}
	}
}

// A caller who leaves is no time-out, and what was sent may have been done.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := replies(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	tool := build(t, httptool.Config{URL: url})
	_, err := tool.Do(ctx, catalog.Call{})
	if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.NoAnswer || fault.Again || !errors.Is(err, context.Canceled) {
		t.Errorf("after sending: %v, want no_answer, not to be repeated", err)
	}
	_, err = tool.Do(ctx, catalog.Call{})
	if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.NotSent || fault.Again {
		t.Errorf("before sending: %v, want not_sent", err)
	}
}

// Time that runs out while nobody accepts the connection's TLS leaves nothing sent.
func TestSlowHandshake(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for _, effect := range []catalog.Effect{catalog.Read, catalog.Write} {
		tool := build(t, httptool.Config{Method: "POST", Effect: effect, URL: "https://" + silent.Addr().String(), Timeout: 50 * time.Millisecond})
		_, err = tool.Do(t.Context(), catalog.Call{})
		if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.NotSent || fault.Again != (effect == catalog.Read) {
			t.Errorf("%s: %v, want not_sent", effect, err)
		}
	}
}
