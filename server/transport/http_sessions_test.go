package transport

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Principals who flood the table push out each other's sessions, not the one session that was idle longest of all.
func TestFloodedSessions(t *testing.T) {
	table := newSessions(Limits{Sessions: 5, SessionsEach: 3}, time.Hour, func(string) {})
	begin := func(principal, id string) {
		if !table.reserve(principal) {
			t.Fatalf("no place for %s of %s", id, principal)
		}
		table.bind(id, principal, "2025-11-25")
	}
	begin("victim", "first")
	for i := range 20 {
		begin(fmt.Sprint("flood", i%2), fmt.Sprint(i))
		if s, _ := table.enter("first", "victim", ""); s == nil {
			t.Fatalf("the victim's only session is gone after %d others", i+1)
		} else {
			s.busy = 0 // left, and still idle longest
		}
	}
}

// Idle sessions end; one with a call or a stream under way is not idle, however long that takes.
func TestSweeperSparesRunningCalls(t *testing.T) {
	h := newSite(t, HTTPConfig{SessionIdle: time.Minute, OwnSocket: anySocket})
	calling, streaming, idle := h.begin(), h.begin(), h.begin()
	answers := make(chan string, 1)
	go func() {
		_, _, body := h.ask(http.MethodPost, calling, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","arguments":{}}}`)
		answers <- body
	}()
	came(t, h.begun, "the call begins")
	stream := h.request(t.Context(), http.MethodGet, streaming, "")
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("the stream: status %d", stream.StatusCode)
	}
	table := h.e.sessions
	table.sweep(time.Now().Add(59 * time.Second))
	if n := len(table.all); n != 3 {
		t.Errorf("after 59 s there are %d sessions, want 3", n)
	}
	table.sweep(time.Now().Add(time.Hour))
	if h.inUse(idle) {
		t.Error("an idle session is still there")
	}
	close(h.let)
	if answer := <-answers; !strings.Contains(answer, "held") {
		t.Errorf("the call was answered by %s", answer)
	}
	if !h.inUse(calling) || !h.inUse(streaming) {
		t.Error("a session with a call or a stream was ended")
	}
}

// anySocket takes each connection for one of this user's.
func anySocket(netip.AddrPort, netip.AddrPort) bool { return true }

// heap is what lives, after everything that does not is gone.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A session costs less than 16 KB, and all of it is free when it ends: by its client, by its age, or to make way.
func TestSessionMemory(t *testing.T) {
	const most = 16 << 10
	n := 500
	if os.Getenv("CI") != "" {
		n = 2000
	}
	limits := DefaultLimits()
	limits.SessionsEach = n
	h := newSite(t, HTTPConfig{SessionIdle: time.Minute, OwnSocket: anySocket, Limits: limits})
	h.begin()
	h.e.sessions.sweep(time.Now().Add(time.Hour))
	before := heap()
	begin := func() []string {
		t.Helper()
		list := make([]string, n)
		for i := range list {
			list[i] = h.begin()
		}
		return list
	}
	free := func(how string) {
		t.Helper()
		if left := heap() - before; left > 1<<20 {
			t.Errorf("%s: %d sessions leave %d KiB behind", how, n, left>>10)
		}
	}
	list := begin()
	each := (heap() - before) / int64(n)
	if each > most {
		t.Errorf("a session costs %d bytes, want at most %d", each, most)
	}
	t.Logf("a session costs %d bytes", each)
	begin() // all before make way
	if grown := heap() - before; grown > int64(n)*most {
		t.Errorf("%d more sessions: %d KiB in all", n, grown>>10)
	}
	if h.inUse(list[0]) {
		t.Error("a session that made way is still there")
	}
	h.e.sessions.sweep(time.Now().Add(time.Hour))
	free("by age")
	for _, id := range begin() {
		if status, _, _ := h.ask(http.MethodDelete, id, ""); status != http.StatusOK {
			t.Fatalf("DELETE: status %d", status)
		}
	}
	free("by DELETE")
	if left := fmt.Sprint(len(h.e.sessions.all), h.e.sessions.places.n, len(h.e.sessions.places.each)); left != "0 0 0" {
		t.Errorf("sessions, places and principals left: %s", left)
	}
}
