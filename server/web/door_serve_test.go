package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// serve has a door answer at a real listener.
func serve(t *testing.T, p *porch, limits func(*doorLimits)) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.host = l.Addr().String()
	p.own = p.peers.Own
	if limits != nil {
		limits(&p.config.limits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l) }()
	stop = func() {
		t.Helper()
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Error(err)
			}
			served <- nil
		case <-time.After(patience):
			t.Error("it goes on")
		}
	}
	t.Cleanup(stop)
	return p.host, stop
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// answer reads what is answered: its status, 0 where the connection ended without, its X-Frame-Options, and whether the
// connection then ends.
func answer(c net.Conn) (status int, frames string, ends bool) {
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, "", true
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Header.Get("X-Frame-Options"), response.Close
}

// Slow, long and many requests cost little, and get an error.
func TestDoorServesWithinBounds(t *testing.T) {
	short := func(l *doorLimits) { l.header, l.body = 50*time.Millisecond, 50*time.Millisecond }
	const form = "Content-Type: application/x-www-form-urlencoded\r\nSec-Fetch-Site: same-origin\r\n"
	for name, tt := range map[string]struct {
		limits func(*doorLimits)
		send   string // %s is the host
		want   int
	}{
		"a page":             {nil, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", 401},
		"health":             {nil, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", 200},
		"another name":       {nil, "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
		"another name in it": {nil, "GET http://evil.example/healthz HTTP/1.1\r\nHost: %s\r\n\r\n", 403},
		"two names":          {nil, "GET /healthz HTTP/1.1\r\nHost: %s\r\nHost: evil.example\r\n\r\n", 400},
		"HTTP/1.0":           {nil, "GET /healthz HTTP/1.0\r\n\r\n", 403},
		"a slow head":        {short, "GET / HTTP/1.1\r\nHost: %s\r\n", 408},
		"a long head":        {nil, "GET / HTTP/1.1\r\nHost: %s\r\nX: " + strings.Repeat("x", 32<<10) + "\r\n\r\n", 431},
		"a slow form":        {short, "POST /sign-in HTTP/1.1\r\nHost: %s\r\n" + form + "Content-Length: 9\r\n\r\ntoken", 408},
		"a long form":        {nil, "POST /sign-in HTTP/1.1\r\nHost: %s\r\n" + form + "Content-Length: 1000000\r\n\r\n", 413},
		"a long form that does not say so": {nil, "POST /sign-in HTTP/1.1\r\nHost: %s\r\n" + form + "Transfer-Encoding: chunked\r\n\r\n10001\r\ntoken=" +
			strings.Repeat("x", 0x10001-6) + "\r\n0\r\n\r\n", 413},
		"smuggled":     {nil, "POST /sign-in HTTP/1.1\r\nHost: %s\r\n" + form + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 401},
		"not HTTP":     {nil, "\x16\x03\x01\r\n\r\n", 400},
		"one too many": {func(l *doorLimits) { l.conns = 0 }, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPorch(t)
			limits := defaultDoorLimits()
			if tt.limits != nil {
				tt.limits(&limits)
			}
			config := p.config
			config.limits = limits
			p.Door = NewDoor(config)
			address, _ := serve(t, p, nil)
			c := dial(t, address)
			if strings.Contains(tt.send, "%s") {
				tt.send = strings.ReplaceAll(tt.send, "%s", address)
			}
			_, _ = io.WriteString(c, tt.send) // it may be refused before it was read
			status, frames, ends := answer(c)
			if status != tt.want {
				t.Errorf("answered with %d, want %d", status, tt.want)
			}
			if status == 408 && (frames != "DENY" || !ends) {
				t.Errorf("X-Frame-Options is %q, and it ends is %t", frames, ends)
			}
		})
	}
}

// When the process ends, open pages that are told of changes do not keep it.
func TestDoorEnds(t *testing.T) {
	p := newPorch(t)
	begun := make(chan struct{})
	p.config.Pages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
	})
	cookie := cookieOf(p)
	address, stop := serve(t, p, nil)
	c := dial(t, address)
	fmt.Fprintf(c, "GET /live HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", address, cookie)
	<-begun
	idle := dial(t, address)
	stop()
	for name, c := range map[string]net.Conn{"a stream": c, "an idle one": idle} {
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s goes on", name)
		}
	}
	if len(p.sessions.open) > 0 {
		t.Error("somebody is still signed in")
	}
}

func cookieOf(p *porch) string {
	c := p.sessions.begin()
	return c.Name + "=" + c.Value
}

// timed is a connection that knows until when it may be written to.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (d *timed) SetWriteDeadline(t time.Time) error {
	d.until = t
	return nil
}

// A stream goes on for as long as it is read: every write has the whole time that a browser may stall.
func TestDoorStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPorch(t)
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		p.config.Pages = http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			for step, write := range []func(){
				func() { out.WriteHeader(http.StatusOK) },
				func() { _, _ = io.WriteString(out, "x") },
				func() { out.(http.Flusher).Flush() },
				func() { _ = http.NewResponseController(out).Flush() },
			} {
				time.Sleep(time.Hour)
				write()
				if left := time.Until(w.until); left != p.config.limits.stall {
					t.Errorf("step %d has %v, want %v", step, left, p.config.limits.stall)
				}
			}
		})
		r := httptest.NewRequest("GET", "http://"+doorAddress+"/live", nil)
		r.Header.Set("Cookie", cookieOf(p))
		p.ServeHTTP(w, r)
		if !w.Flushed {
			t.Error("nothing was flushed")
		}
		p.sessions.end()
	})
}

// A listener that others can reach is refused.
func TestDoorOnlyLoopback(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Skip("this machine has no such address: ", err)
	}
	if err := newPorch(t).Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "is not loopback") {
		t.Errorf("Serve(%s) = %v", l.Addr(), err)
	}
}
