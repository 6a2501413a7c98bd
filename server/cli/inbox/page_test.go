package inbox

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/server/web"
)

const (
	testState  = "sha256:aa"
	otherState = "sha256:bb"
	// patience is how long a test waits for what must come.
	patience = 10 * time.Second
)

// stateDesk is a state file of a test, as far as an inbox looks at one.
type stateDesk struct {
	patterns.Approvals // the rest of it is not asked
	mu                 sync.Mutex
	waiting            int
	looks              int
	changes            chan struct{}
}

func (d *stateDesk) WaitingApprovals() (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks++
	return d.waiting, nil
}

func (d *stateDesk) wait(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = n
}

func (d *stateDesk) StateID() (string, error)      { return testState, nil }
func (d *stateDesk) SignIn([32]byte) (bool, error) { return false, nil }

func (d *stateDesk) changed(ctx context.Context, since uint64) ([]string, uint64) {
	select {
	case <-d.changes:
		return []string{patterns.Everything}, since + 1
	case <-ctx.Done():
		return nil, since
	}
}

// heard is a log that a test waits on.
type heard struct {
	slog.Handler
	lines chan string
}

func (h heard) Enabled(context.Context, slog.Level) bool { return true }
func (h heard) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	h.lines <- line
	return nil
}

// watched is an inbox of a test with its log.
type watched struct {
	*Page
	t     *testing.T
	lines chan string
}

func watch(t *testing.T, d *stateDesk, address string) watched {
	t.Helper()
	lines := make(chan string, 100)
	log := slog.New(heard{lines: lines})
	i := newPage(pageConfig{
		address: address, approvals: d, changed: d.changed, log: log, look: time.Millisecond, next: time.Millisecond,
		door: func(address string) *web.Door {
			return web.NewDoor(web.DoorConfig{Pages: http.NotFoundHandler(), SignIns: d, Address: address, Version: "1", Log: log})
		},
	})
	t.Cleanup(i.Close)
	return watched{i, t, lines}
}

// says waits for a line of the log.
func (w watched) says(want string) {
	w.t.Helper()
	select {
	case got := <-w.lines:
		if !strings.Contains(got, want) {
			w.t.Fatalf("the log says %q, want %q", got, want)
		}
	case <-time.After(patience):
		w.t.Fatalf("the log says nothing, want %q", want)
	}
}

// freeAddress is a loopback address that nobody has now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// The page opens with the first question: one of before the start, one of here, one of another process. Before, nobody
// listens and nothing is looked at.
func TestInboxOpensWithTheFirstQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		waiting int
		ask     func(d *stateDesk, i *Page)
	}{
		"of before": {1, func(*stateDesk, *Page) {}},
		"of here":   {0, func(_ *stateDesk, i *Page) { i.Asked(patterns.Asked{}); i.Asked(patterns.Asked{}) }},
		"of another process": {0, func(d *stateDesk, _ *Page) {
			d.changes <- struct{}{} // of no interest
			d.wait(1)
			select {
			case d.changes <- struct{}{}:
			default: // it has not yet looked at the one before
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &stateDesk{waiting: tt.waiting, changes: make(chan struct{}, 1)}
			address := freeAddress(t)
			i := watch(t, d, address)
			if tt.waiting == 0 {
				if got := whoHolds(t.Context(), address, testState); got != heldByNobody {
					t.Errorf("before the first question the port is held by %d", got)
				}
			}
			tt.ask(d, i.Page)
			i.says("INFO inbox url=http://" + address + "/")
			if got := whoHolds(t.Context(), address, testState); got != heldBySame {
				t.Errorf("the port is held by %d, want %d", got, heldBySame)
			}
			if got := i.URL(); got != "http://"+address {
				t.Errorf("URL() = %q", got)
			}
			d.mu.Lock()
			if d.looks > 3 { // at the start, and after a change
				t.Errorf("it was looked %d times", d.looks)
			}
			d.waiting = 0
			d.mu.Unlock()
			if got := whoHolds(t.Context(), address, testState); got != heldBySame {
				t.Error("it did not stay open")
			}
			i.Close()
			if got := whoHolds(t.Context(), address, testState); got != heldByNobody {
				t.Errorf("after its end the port is held by %d", got)
			}
		})
	}
}

// What is asked for at once is known at once, wherever the page is.
func TestPageURL(t *testing.T) {
	d := &stateDesk{changes: make(chan struct{}, 1)}
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	for name, tt := range map[string]struct{ address, want string }{
		"served here": {"127.0.0.1:0", "http://127.0.0.1:"}, "a stranger's": {strings.TrimPrefix(stranger.URL, "http://"), ""},
	} {
		i := watch(t, d, tt.address)
		i.Asked(patterns.Asked{})
		if got := i.URL(); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" || strings.HasSuffix(got, ":0") {
			t.Errorf("%s: URL() = %q, want %q", name, got, tt.want)
		}
	}
	var off *Page
	off.Asked(patterns.Asked{})
	if got := off.URL(); got != "" {
		t.Errorf("the URL of no inbox is %q", got)
	}
	off.Close()
}

// Of two processes over one state one serves, and the other takes over when that one dies. Who comes while nothing waits
// sleeps.
func TestInboxTakesOver(t *testing.T) {
	d := &stateDesk{waiting: 1, changes: make(chan struct{}, 1)}
	address := freeAddress(t)
	first := watch(t, d, address)
	first.says("INFO inbox url")
	second := watch(t, d, address)
	second.says("INFO inbox is served by another process url=http://" + address)
	if got := second.URL(); got != first.URL() {
		t.Errorf("the second one names %q, want %q", got, first.URL())
	}
	first.Close()
	second.says("INFO inbox url=http://" + address)
	if got := whoHolds(t.Context(), address, testState); got != heldBySame {
		t.Errorf("after the first one's death the port is held by %d", got)
	}
}

// strangers answer on the inbox's port and are none of it.
func strangers() map[string]http.HandlerFunc {
	say := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
	}
	return map[string]http.HandlerFunc{
		"not found":        http.NotFound,
		"nothing":          say(""),
		"a page":           say("<html>"),
		"no members":       say("{}"),
		"another health":   say(`{"status":"ok","version":"1"}`),
		"a member more":    say(`{"patterngate":"1","state":"` + testState + `","admin":true}`),
		"a member twice":   say(`{"patterngate":"1","state":"` + otherState + `","state":"` + testState + `"}`),
		"another case":     say(`{"patterngate":"1","State":"` + testState + `"}`),
		"no version":       say(`{"patterngate":"","state":"` + testState + `"}`),
		"something behind": say(`{"patterngate":"1","state":"` + testState + `"} x`),
		"another status": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(201)
			fmt.Fprint(w, `{"patterngate":"1","state":"`+testState+`"}`)
		},
		"an endless answer": func(w http.ResponseWriter, r *http.Request) {
			endless(w, r, `{"patterngate":"1","state":"`+testState+`"}`)
		},
		"an endless head": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 100_000))
			fmt.Fprint(w, `{"patterngate":"1","state":"`+testState+`"}`)
		},
		"a broken answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
}

// endless writes until nobody reads.
func endless(w http.ResponseWriter, r *http.Request, begin string) {
	_, err := fmt.Fprint(w, begin)
	for err == nil && r.Context().Err() == nil {
		_, err = fmt.Fprint(w, strings.Repeat(" ", 1<<16))
	}
}

func TestInboxBesideAStranger(t *testing.T) {
	for name, answer := range strangers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{}, 1000)
			stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				answer(w, r)
			}))
			defer stranger.Close()
			address := strings.TrimPrefix(stranger.URL, "http://")
			if got := whoHolds(t.Context(), address, testState); got != heldByStranger {
				t.Errorf("it is taken for %d", got)
			}
			d := &stateDesk{waiting: 1, changes: make(chan struct{}, 1)}
			i := watch(t, d, address)
			i.says("WARN no inbox: " + address + " is used by another program try=--inbox 127.0.0.1:8767")
			if got := i.URL(); got != "" {
				t.Errorf("URL() = %q", got)
			}
			for range 5 {
				<-asked
			}
			stranger.Close()
			i.says("INFO inbox url") // and it was said once, however often it was tried
		})
	}
}

// A stranger that leads to a Patterngate is none, one that says nothing is waited for a second, and another state's is told.
func TestWhoHolds(t *testing.T) {
	t.Parallel()
	ours := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"patterngate":"1","state":"`+testState+`"}`)
	}))
	defer ours.Close()
	leads := httptest.NewServer(http.RedirectHandler(ours.URL+"/healthz", http.StatusFound))
	defer leads.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and no more
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	for name, tt := range map[string]struct {
		url, state string
		want       holder
	}{
		"ours": {ours.URL, testState, heldBySame}, "another state's": {ours.URL, otherState, heldByOther},
		"a redirect": {leads.URL, testState, heldByStranger}, "mute": {"http://" + mute.Addr().String(), testState, heldByStranger},
		"nobody": {"http://" + freeAddress(t), testState, heldByNobody},
	} {
		begun := time.Now()
		if got := whoHolds(t.Context(), strings.TrimPrefix(tt.url, "http://"), tt.state); got != tt.want {
			t.Errorf("%s: whoHolds = %d, want %d", name, got, tt.want)
		}
		if took := time.Since(begun); took > 5*holderTime {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

// An address that cannot be had for another reason is told with it.
func TestInboxWithoutAnAddress(t *testing.T) {
	d := &stateDesk{waiting: 1, changes: make(chan struct{}, 1)}
	for address, want := range map[string]string{"192.0.2.1:8766": "WARN no inbox: ", "0.0.0.0:0": "WARN no inbox: "} {
		i := watch(t, d, address)
		i.says(want)
		if got := i.URL(); got != "" {
			t.Errorf("%s: URL() = %q", address, got)
		}
		i.Close()
	}
}
