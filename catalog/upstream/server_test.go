//go:build unix

package upstream_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
)

// secret is a [catalog.Secret] that counts how often it was read.
type secret struct {
	mu        sync.Mutex
	texts     []string // one for each reading, the last for all that follow
	reads     int
	forgotten int
	err       error
	known     bool
}

func (s *secret) Text(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return "", s.err
	}
	if !s.known {
		s.reads++
		s.known = true
	}
	return s.texts[min(s.reads, len(s.texts))-1], nil
}

func (s *secret) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = false
	s.forgotten++
}

func (s *secret) String() string { return "***" }

// keep makes a server of the test program as a hostile child.
func keep(t testing.TB, mode string, c upstream.ServerConfig) *upstream.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if c.Program == nil {
		c.Program = &upstream.ProgramConfig{}
	}
	c.Name, c.Who = "hostile", me
	c.Program.Command = self
	c.Program.Env = append(c.Program.Env, upstream.Variable{Name: asHostile, Text: mode})
	s := upstream.NewServer(c)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// within is a context that ends before the test does.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), d)
	t.Cleanup(end)
	return ctx
}

// long is more than any call needs that comes back.
const long = 20 * time.Second

func call(t testing.TB, s *upstream.Server, tool string, args map[string]any) any {
	t.Helper()
	v, err := s.Call(within(t, long), tool, args, nil)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return v
}

func wantFault(t testing.TB, err error, kind catalog.FaultKind, again bool) {
	t.Helper()
	fault, ok := errors.AsType[*catalog.Fault](err)
	if !ok || fault.Kind != kind || fault.Again != again || fault.Cause == nil {
		t.Errorf("got %v (%+v), want %v, again %v", err, fault, kind, again)
	}
}

func pidOf(t testing.TB, s *upstream.Server) int {
	t.Helper()
	pid, err := strconv.Atoi(call(t, s, "pid", nil).(map[string]any)["text"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// until polls for what happens elsewhere.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ctx := within(t, long); !done(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

func TestServerIsLazy(t *testing.T) {
	s := keep(t, "plain", upstream.ServerConfig{})
	if running, why := s.Status(); running || why != nil {
		t.Errorf("before the first call it runs: %v, %v", running, why)
	}
	if _, known := s.Present("echo"); known {
		t.Error("tools are known before the first list")
	}
	got := call(t, s, "echo", map[string]any{"n": 1.5, "s": "ü"})
	if want := (map[string]any{"n": 1.5, "s": "ü"}); !reflect.DeepEqual(got, want) {
		t.Errorf("echo = %v, want %v", got, want)
	}
	d, known := s.Present("echo")
	want := upstream.Definition{Name: []byte(`"echo"`), Description: []byte(`"Tests."`), Input: []byte(`{"type":"object","oneOf":[{}]}`)}
	if !known || !reflect.DeepEqual(d, want) || d.Tool() != "echo" {
		t.Errorf("Present(echo) = %s, %v; want %s", d, known, want)
	}
	if d, known := s.Present("absent"); !known || d.Name != nil {
		t.Errorf("Present(absent) = %s, %v; want nothing, and that this is known", d, known)
	}
	all, err := s.Tools(t.Context())
	if err != nil || len(all) < 10 || all[0].Tool() != "echo" {
		t.Errorf("Tools() = %d tools, %v", len(all), err)
	}
	_, err = s.Call(within(t, long), "absent", nil, nil)
	wantFault(t, err, catalog.NotSent, false)
	if running, why := s.Status(); !running || why != nil {
		t.Errorf("after calls it runs: %v, %v", running, why)
	}
}

// Whatever a server does in a call, the call ends as what is known of it, and others go on.
func TestServerHostile(t *testing.T) {
	for tool, tt := range map[string]struct {
		kind     catalog.FaultKind
		again    bool
		patience time.Duration
		restarts bool
	}{
		"die":          {catalog.NoAnswer, true, long, true},
		"close output": {catalog.NoAnswer, true, long, true},
		"hang":         {catalog.TimedOut, true, 50 * time.Millisecond, false},
		"other id":     {catalog.TimedOut, true, 50 * time.Millisecond, false},
		"huge":         {catalog.Unreadable, false, long, false},
		"nameless":     {catalog.Unreadable, false, long, true},
		"endless":      {catalog.Unreadable, false, long, true},
		"no result":    {catalog.Unreadable, false, long, false},
		"refuse":       {catalog.Declined, false, long, false},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			s := keep(t, "plain", upstream.ServerConfig{})
			before := pidOf(t, s)
			_, err := s.Call(within(t, tt.patience), tool, nil, nil)
			wantFault(t, err, tt.kind, tt.again)
			if after := pidOf(t, s); (after != before) != tt.restarts {
				t.Errorf("process %d, then %d; want another: %v", before, after, tt.restarts)
			}
		})
	}
	for _, tool := range []string{"progress", "junk", "ask", "flood of changes"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			s := keep(t, "plain", upstream.ServerConfig{})
			before := pidOf(t, s)
			if got := call(t, s, tool, nil); !reflect.DeepEqual(got, map[string]any{"text": "done"}) {
				t.Errorf("%s = %v", tool, got)
			}
			if after := pidOf(t, s); after != before {
				t.Error("it was started again")
			}
		})
	}
}

// A second answer to a call is nobody's.
func TestServerStutters(t *testing.T) {
	s := keep(t, "plain", upstream.ServerConfig{})
	for range 3 {
		if got := call(t, s, "stutter", nil); !reflect.DeepEqual(got, map[string]any{"text": "first"}) {
			t.Errorf("got %v", got)
		}
	}
}

// A server that cannot be started says why, is left alone for a while, and costs no call more than its own time.
func TestServerDoesNotStart(t *testing.T) {
	for name, tt := range map[string]struct {
		mode    string
		program upstream.ProgramConfig
		again   bool
		want    string
	}{
		"dies":   {"dies", upstream.ProgramConfig{}, true, "the server ended: exit status 3"},
		"silent": {"silent", upstream.ProgramConfig{}, false, "did not answer within 1s"},
		"dies, explains": {"explains", upstream.ProgramConfig{Env: []upstream.Variable{{Name: "KEY", Secret: &secret{texts: []string{"a secret key"}}}}},
			true, `the server ended: exit status 3; the last line on its standard error: no \u001b[31mdatabase for ***`},
		"silent, explains": {"explains", upstream.ProgramConfig{Args: []upstream.Argument{{Text: "stay"}}},
			false, `did not answer within 1s; the last line on its standard error: no \u001b[31mdatabase for`},
		"no directory": {"plain", upstream.ProgramConfig{Dir: "/nowhere/at/all"}, false, "/nowhere/at/all"},
		"no secret": {"plain", upstream.ProgramConfig{Env: []upstream.Variable{{Name: "TOKEN", Secret: &secret{err: errors.New("env:T is not set")}}}},
			false, "variable TOKEN: env:T is not set"},
		"no secret, argument": {"plain", upstream.ProgramConfig{Args: []upstream.Argument{{Secret: &secret{err: errors.New("env:T is not set")}}}},
			false, "argument 1: env:T is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := keep(t, tt.mode, upstream.ServerConfig{StartTimeout: time.Second, Program: &tt.program})
			_, err := s.Call(within(t, long), "echo", nil, nil)
			wantFault(t, err, catalog.NotSent, tt.again)
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the call says %v, want %q", err, tt.want)
			}
			if running, why := s.Status(); running || why == nil || !strings.Contains(why.Error(), tt.want) {
				t.Errorf("Status() = %v, %v; want %q", running, why, tt.want)
			}
			_, err = s.Call(within(t, time.Millisecond), "echo", nil, nil)
			if wantFault(t, err, catalog.NotSent, tt.again); !strings.Contains(err.Error(), tt.want) {
				t.Errorf("while it is left alone a call says %v, want %q", err, tt.want)
			}
		})
	}
}

// All who call at first wait for one start, and it does not end with one of them.
func TestServerStartsOnce(t *testing.T) {
	key := &secret{texts: []string{"a secret key"}}
	s := keep(t, "plain", upstream.ServerConfig{Program: &upstream.ProgramConfig{Env: []upstream.Variable{{Name: "KEY", Secret: key}}}})
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := s.Call(gone, "echo", nil, nil)
	wantFault(t, err, catalog.NotSent, false)
	pids := make(chan int, 20)
	for range cap(pids) {
		go func() { pids <- pidOf(t, s) }()
	}
	first := <-pids
	for range cap(pids) - 1 {
		if pid := <-pids; pid != first {
			t.Errorf("processes %d and %d", first, pid)
		}
	}
}

// Killed from outside, a server is started again; what was in flight is told as unknown, at once.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	s := keep(t, "plain", upstream.ServerConfig{})
	pid := pidOf(t, s)
	failed := make(chan error, 8)
	for range cap(failed) {
		go func() {
			_, err := s.Call(within(t, long), "hang", nil, nil)
			failed <- err
		}()
	}
	until(t, "all hang", func() bool { return call(t, s, "hanging", nil).(map[string]any)["text"] == "8" })
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range cap(failed) {
		err := <-failed
		if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.NoAnswer && fault.Kind != catalog.NotSent || !fault.Again {
			t.Errorf("got %v, want no answer, again", err)
		}
	}
	if again := pidOf(t, s); again == pid {
		t.Error("it was not started again")
	}
}

// One call that hangs holds up no other.
func TestServerManyCalls(t *testing.T) {
	s := keep(t, "plain", upstream.ServerConfig{})
	hanging := make(chan error, 1)
	ctx, end := context.WithCancel(within(t, long))
	go func() {
		_, err := s.Call(ctx, "hang", nil, nil)
		hanging <- err
	}()
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			want := map[string]any{"i": float64(i), "s": strings.Repeat("x", 5000)}
			if got, err := s.Call(within(t, long), "echo", want, nil); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	all.Wait()
	end()
	if err := <-hanging; err == nil {
		t.Error("the call that hangs came back")
	}
}

// A child that stops reading holds nobody beyond his time: it is killed, and who was not written yet may call again.
func TestServerDeaf(t *testing.T) {
	t.Parallel()
	s := keep(t, "plain", upstream.ServerConfig{})
	before := pidOf(t, s)
	call(t, s, "deaf", nil)
	load := map[string]any{"s": strings.Repeat("x", 1<<20)} // more than a pipe holds
	waiting := make(chan error, 8)
	begins := 1500 * time.Millisecond // time enough to begin a write
	if os.Getenv("CI") != "" {
		begins *= 2
	}
	short := within(t, begins)
	for range cap(waiting) {
		go func() {
			_, err := s.Call(short, "echo", load, nil)
			waiting <- err
		}()
	}
	for range cap(waiting) {
		err := <-waiting
		if err == nil { // it began after the deaf child was replaced: only another child can have answered
			continue
		}
		if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.NotSent {
			t.Errorf("got %v, want not sent: no request was written whole", err)
		}
	}
	if after := pidOf(t, s); after == before {
		t.Error("the deaf child still runs")
	}
}

// A server that declares other tools, at once or after a restart, is listed again, and listeners are told.
func TestServerChanges(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	s := keep(t, "plain", upstream.ServerConfig{Changed: func(server string) { told <- server }})
	if err := s.Ensure(within(t, long)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Call(within(t, long), "new", nil, nil)
	wantFault(t, err, catalog.NotSent, false)
	call(t, s, "change", nil)
	if name := <-told; name != "hostile" {
		t.Errorf("told of %q", name)
	}
	if d, known := s.Present("new"); !known || d.Tool() != "new" {
		t.Errorf("Present(new) = %s, %v", d, known)
	}
	call(t, s, "new", map[string]any{})
	if err := syscall.Kill(pidOf(t, s), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the end is noticed", func() bool { running, _ := s.Status(); return !running })
	if _, known := s.Present("new"); known {
		t.Error("what a dead server declared is still known")
	}
	if err := s.Ensure(within(t, long)); err != nil {
		t.Fatal(err)
	}
	<-told // it has forgotten the new tool
}

// What a session declares is judged just before a call goes to it.
func TestServerAdmits(t *testing.T) {
	var seen []string
	s := keep(t, "plain", upstream.ServerConfig{Admit: func(d upstream.Definition) error {
		seen = append(seen, d.Tool())
		if d.Tool() == "pid" {
			return errors.New("held")
		}
		return nil
	}})
	call(t, s, "echo", nil)
	_, err := s.Call(within(t, long), "pid", nil, nil)
	if wantFault(t, err, catalog.NotSent, false); !strings.Contains(err.Error(), "held") || !reflect.DeepEqual(seen, []string{"echo", "pid"}) {
		t.Errorf("%v, judged were %q", err, seen)
	}
}
