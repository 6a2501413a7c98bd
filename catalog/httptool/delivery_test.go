package httptool_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
)

// rude answers the first request of each connection when it is "warm", and keeps the connection; every other request
// it processes, counts, and closes the connection without a reply.
type rude struct {
	url       string
	processed atomic.Int64
}

func newRude(t *testing.T) *rude {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	r := &rude{url: "http://" + listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.serve(conn)
		}
	}()
	return r
}

func (r *rude) serve(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		if request.URL.Path != "/warm" {
			r.processed.Add(1)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}")
	}
}

// A reply that is lost after processing leaves a write in doubt, and it was sent just once: also over a client whose
// connections were kept, for methods and headers that net/http takes for repeatable.
func TestLostReply(t *testing.T) {
	for name, config := range map[string]httptool.Config{
		"POST":                    {Method: "POST", Body: httptool.Body{Args: true}},
		"POST with a key":         {Method: "POST", Body: httptool.Body{Args: true}, IdempotencyHeader: "Idempotency-Key"},
		"POST with X key, none":   {Method: "POST", IdempotencyHeader: "X-Idempotency-Key"},
		"GET that writes":         {Method: "GET"},
		"GET that writes, a key":  {Method: "GET", IdempotencyHeader: "Idempotency-Key"},
		"HEAD that writes":        {Method: "HEAD"},
		"DELETE":                  {Method: "DELETE"},
		"destructive, PUT a body": {Method: "PUT", Body: httptool.Body{Args: true}, Effect: catalog.Destructive},
	} {
		t.Run(name, func(t *testing.T) {
			server, client := newRude(t), local()
			t.Cleanup(func() { _ = client.Close() })
			warm := build(t, httptool.Config{URL: server.url + "/warm", Client: client})
			config.URL, config.Client = server.url+"/pay", client
			if config.Effect == "" {
				config.Effect = catalog.Write
			}
			tool := build(t, config)
			for range 3 {
				if v, err := warm.Do(t.Context(), catalog.Call{}); err != nil {
					t.Fatalf("warming: %v, %v", v, err)
				}
				before := server.processed.Load()
				_, err := tool.Do(t.Context(), catalog.Call{Key: "pg_1", Args: map[string]any{"n": 1.0}})
				if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.NoAnswer || !fault.Again {
					t.Errorf("Do = %v, want no_answer", err)
				}
				if n := server.processed.Load() - before; n != 1 {
					t.Errorf("it was processed %d times, want once", n)
				}
			}
		})
	}
}

// A reply that ends early is none: of a read nothing is believed, of a write nobody knows.
func TestTruncated(t *testing.T) {
	for name, text := range map[string]string{
		"length": "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf",
		"chunk":  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		url := replies(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		})
		for _, effect := range []catalog.Effect{catalog.Read, catalog.Write} {
			v, err := build(t, httptool.Config{URL: url, Effect: effect}).Do(t.Context(), catalog.Call{})
			if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.Unreadable {
				t.Errorf("%s, %s: %v, %v; want unreadable", name, effect, v, err)
			}
		}
	}
}

// Headers without end stop being read.
func TestHeaderFlood(t *testing.T) {
	url := replies(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
	})
	_, err := build(t, httptool.Config{URL: url}).Do(t.Context(), catalog.Call{})
	if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.NoAnswer {
		t.Errorf("Do = %v, want no_answer", err)
	}
}

// Reads share kept connections; each write has its own.
func TestConnections(t *testing.T) {
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(typed(200, "application/json", "{}"))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := local()
	t.Cleanup(func() { _ = client.Close() })
	for _, tt := range []struct {
		config httptool.Config
		want   int64
	}{
		{httptool.Config{URL: server.URL, Client: client}, 1},
		{httptool.Config{URL: server.URL, Client: client}, 0}, // the other tool's connection
		{httptool.Config{URL: server.URL, Client: client, Method: "POST", Effect: catalog.Write, Repeatable: true}, 0},
		{httptool.Config{URL: server.URL, Client: client, Method: "POST", Effect: catalog.Write}, 4},
	} {
		tool, before := build(t, tt.config), opened.Load()
		for range 4 {
			if _, err := tool.Do(t.Context(), catalog.Call{}); err != nil {
				t.Fatal(err)
			}
		}
		if n := opened.Load() - before; n != tt.want {
			t.Errorf("%+v opened %d connections, want %d", tt.config, n, tt.want)
		}
	}
}

// TestMain names a proxy that nobody listens at, for all tests: net/http reads the environment once a process.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		_ = os.Setenv(name, "http://127.0.0.1:1")
		_ = os.Setenv(strings.ToLower(name), "http://127.0.0.1:1")
	}
	_ = os.Unsetenv("NO_PROXY")
	_ = os.Unsetenv("no_proxy")
	os.Exit(m.Run())
}

// Proxies of the environment are not asked, for names that are no loopback's either.
func TestNoProxy(t *testing.T) {
	client, _ := elsewhere("127.0.0.1/32", "127.0.0.1")
	base, requests := recorder(t)
	tool := build(t, httptool.Config{URL: strings.Replace(base, "127.0.0.1", "pay.example", 1), Client: client})
	if _, err := tool.Do(t.Context(), catalog.Call{}); err != nil || len(requests) != 1 {
		t.Errorf("Do = %v, and %d requests arrived, want 1", err, len(requests))
	}
}

func TestRedirects(t *testing.T) {
	var elsewhereSaw atomic.Int64
	other := replies(t, func(w http.ResponseWriter, r *http.Request) {
		elsewhereSaw.Add(1)
		typed(200, "application/json", "{}")(w, r)
	})
	var hops atomic.Int64
	base := replies(t, func(w http.ResponseWriter, r *http.Request) {
		hops.Add(1)
		if r.Header.Get("Authorization") != "s3cret" {
			t.Errorf("%s came without its header", r.URL)
		}
		switch r.URL.Path {
		case "/end":
			typed(200, "application/json", `{"end": true}`)(w, r)
		case "/two":
			http.Redirect(w, r, "/one", http.StatusFound)
		case "/one":
			w.Header().Set("Location", "http://"+r.Host+"/end#part")
			w.WriteHeader(http.StatusPermanentRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/other":
			http.Redirect(w, r, other+"/x", http.StatusFound)
		case "/user":
			http.Redirect(w, r, "http://me:pw@"+r.Host+"/end", http.StatusFound)
		case "/https":
			http.Redirect(w, r, "https://"+r.Host+"/end", http.StatusFound)
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		case "/broken":
			w.Header().Set("Location", "http://[::1")
			w.WriteHeader(http.StatusFound)
		}
	})
	for name, tt := range map[string]struct {
		config httptool.Config
		hops   int64
		ok     bool
	}{
		"off by default":  {httptool.Config{URL: base + "/one"}, 1, false},
		"one":             {httptool.Config{URL: base + "/one", Redirects: 1}, 2, true},
		"two":             {httptool.Config{URL: base + "/two", Redirects: 2}, 3, true},
		"one too many":    {httptool.Config{URL: base + "/two", Redirects: 1}, 2, false},
		"a loop":          {httptool.Config{URL: base + "/loop", Redirects: 5}, 6, false},
		"HEAD":            {httptool.Config{Method: "HEAD", URL: base + "/one", Redirects: 1}, 2, true},
		"POST":            {httptool.Config{Method: "POST", URL: base + "/one"}, 1, false},
		"another origin":  {httptool.Config{URL: base + "/other", Redirects: 5}, 1, false},
		"with a user":     {httptool.Config{URL: base + "/user", Redirects: 5}, 1, false},
		"another scheme":  {httptool.Config{URL: base + "/https", Redirects: 5}, 1, false},
		"nowhere":         {httptool.Config{URL: base + "/nowhere", Redirects: 5}, 1, false},
		"broken":          {httptool.Config{URL: base + "/broken", Redirects: 5}, 1, false},
		"302 is a result": {httptool.Config{URL: base + "/nowhere", Redirects: 5, Success: []string{"302"}}, 1, true},
	} {
		tt.config.Headers = []httptool.Header{{Name: "Authorization", Secret: &secret{texts: []string{"s3cret"}}}}
		before := hops.Load()
		v, err := build(t, tt.config).Do(t.Context(), catalog.Call{})
		fault, isFault := errors.AsType[*catalog.Fault](err)
		if tt.ok != (err == nil) || !tt.ok && (!isFault || fault.Kind != catalog.NoAnswer || fault.Again) {
			t.Errorf("%s: %v, %v; want success: %v", name, v, err, tt.ok)
		}
		if n := hops.Load() - before; n != tt.hops {
			t.Errorf("%s: %d requests, want %d", name, n, tt.hops)
		}
	}
	if n := elsewhereSaw.Load(); n != 0 {
		t.Errorf("the other origin saw %d requests", n)
	}
}

// After a 401 secrets are read again, and a call that may be repeated is sent again, once. A call that must not be made twice is not:
// the service may have acted before it refused. The next call has the new secret. Without a secret there is nothing to try.
func TestUnauthorized(t *testing.T) {
	var asked atomic.Int64
	url := replies(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		typed(200, "application/json", "{}")(w, r)
	})
	for name, tt := range map[string]struct {
		secret     *secret
		repeatable bool
		asked      int64
		ok         bool
	}{
		"replaced":              {&secret{texts: []string{"old", "new"}}, true, 2, true},
		"right":                 {&secret{texts: []string{"new"}}, true, 1, true},
		"still bad":             {&secret{texts: []string{"old", "older", "new"}}, true, 2, false},
		"replaced, to do once":  {&secret{texts: []string{"old", "new"}}, false, 1, false},
		"right, to do once":     {&secret{texts: []string{"new"}}, false, 1, true},
		"still bad, to do once": {&secret{texts: []string{"old", "older"}}, false, 1, false},
	} {
		tool := build(t, httptool.Config{Method: "POST", Effect: catalog.Write, Repeatable: tt.repeatable, URL: url, Headers: []httptool.Header{{Name: "Authorization", Prefix: "Bearer ", Secret: tt.secret}}})
		before := asked.Load()
		_, err := tool.Do(t.Context(), catalog.Call{})
		if n := asked.Load() - before; (err == nil) != tt.ok || n != tt.asked {
			t.Errorf("%s: %v after %d requests, want success: %v after %d", name, err, n, tt.ok, tt.asked)
		}
		if err != nil && (strings.Contains(err.Error(), "old") || tt.secret.forgotten != 1) {
			t.Errorf("%s: %v, forgotten %d times", name, err, tt.secret.forgotten)
		}
		if strings.HasPrefix(name, "replaced") {
			if _, err := tool.Do(t.Context(), catalog.Call{}); err != nil {
				t.Errorf("%s: the next call: %v", name, err)
			}
		}
	}
	before := asked.Load()
	_, err := build(t, httptool.Config{URL: url}).Do(t.Context(), catalog.Call{})
	if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.Declined || asked.Load()-before != 1 {
		t.Errorf("without a secret: %v after %d requests, want declined after 1", err, asked.Load()-before)
	}
}
