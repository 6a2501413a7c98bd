//go:build unix

package upstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
)

// A child sees just what it is given; nothing of ours.
func TestServerEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	key := &secret{texts: []string{"first key", "second key"}}
	s := keep(t, "plain", upstream.ServerConfig{Program: &upstream.ProgramConfig{
		Args: []upstream.Argument{{Text: "--flag"}, {Secret: key}},
		Env:  []upstream.Variable{{Name: "GIVEN", Text: "yes"}, {Name: "KEY", Secret: key}},
	}})
	for i, want := range []string{"first key", "second key"} {
		got := call(t, s, "environment", nil).(map[string]any)["text"]
		if want := fmt.Sprintf("GIVEN=yes\nKEY=%s\n%s=plain\n--flag|%s", want, asHostile, want); got != want {
			t.Errorf("start %d: the child sees %q, want %q", i+1, got, want)
		}
		s.Forget()
	}
}

// Secrets are put in just before sending, and stand in no error and no log, whatever the server says.
func TestServerSecrets(t *testing.T) {
	var out safeBuffer
	key := &secret{texts: []string{"p4ssw0rd-of-the-test"}}
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := keep(t, "plain", upstream.ServerConfig{Log: log})
	args := map[string]any{"text": "***", "other": "kept"}
	got, err := s.Call(within(t, long), "echo", args, map[string]catalog.Secret{"text": key})
	if want := (map[string]any{"text": "p4ssw0rd-of-the-test", "other": "kept"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the server got %v, %v", got, err)
	}
	if args["text"] != "***" {
		t.Error("the caller's arguments were changed")
	}
	_, err = s.Call(within(t, long), "says", args, map[string]catalog.Secret{"text": key})
	wantFault(t, err, catalog.NoAnswer, true)
	if text := fmt.Sprintf("%v %+v %v", err, err, errors.Unwrap(err)); strings.Contains(text, "p4ssw0rd") || !strings.Contains(text, "I was told: ***") {
		t.Errorf("the error says %s", text)
	}
	until(t, "the child is heard", func() bool { return strings.Contains(out.String(), "line=***") })
	if strings.Contains(out.String(), "p4ssw0rd") {
		t.Errorf("logged: %s", out.String())
	}
	_, err = s.Call(within(t, long), "echo", nil, map[string]catalog.Secret{"x": &secret{err: errors.New("gone")}})
	wantFault(t, err, catalog.NotSent, false)
	_, _ = s.Call(within(t, long), "says", map[string]any{"text": "a\x1b[2Jb\u202e" + strings.Repeat("y", 2000)}, nil)
	until(t, "the child is heard", func() bool { return strings.Contains(out.String(), `a\u001b[2Jb\u202e`) })
	if strings.Contains(out.String(), strings.Repeat("y", 600)) {
		t.Error("a long line is logged whole")
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Nothing that a child started outlives it, even where it holds the child's output and the child died without a word.
func TestServerLeavesNothing(t *testing.T) {
	for name, end := range map[string]func(*upstream.Server, int){
		"closed": func(s *upstream.Server, _ int) { _ = s.Close() },
		"killed": func(_ *upstream.Server, pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			s := keep(t, "plain", upstream.ServerConfig{Program: &upstream.ProgramConfig{Env: []upstream.Variable{{Name: "PATH", Text: os.Getenv("PATH")}}}})
			pid := pidOf(t, s)
			left, err := strconv.Atoi(call(t, s, "leave", nil).(map[string]any)["text"].(string))
			if err != nil {
				t.Fatal(err)
			}
			end(s, pid)
			until(t, "the grandchild ended", func() bool { return gone(left) })
			until(t, "the end is noticed", func() bool { running, _ := s.Status(); return !running })
		})
	}
}

// A server that is closed may end what it does when its input ends, and is waited for.
func TestServerMayEnd(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "marker")
	s := keep(t, "writes at its end", upstream.ServerConfig{Program: &upstream.ProgramConfig{Env: []upstream.Variable{{Name: "MARKER", Text: marker}}}})
	call(t, s, "echo", nil)
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if text, err := os.ReadFile(marker); err != nil || string(text) != "whole" {
		t.Errorf("it wrote %q, %v", text, err)
	}
}

// gone reports whether a process has ended, if nobody waited for it yet.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// A closed server takes no calls and leaves no goroutines.
func TestServerClosed(t *testing.T) {
	before := runtime.NumGoroutine()
	s := keep(t, "plain", upstream.ServerConfig{})
	hanging := make(chan error, 1)
	call(t, s, "echo", nil)
	go func() {
		_, err := s.Call(within(t, long), "hang", nil, nil)
		hanging <- err
	}()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-hanging; err == nil {
		t.Error("a call outlived the server")
	}
	_, err := s.Call(within(t, long), "echo", nil, nil)
	wantFault(t, err, catalog.NotSent, false)
	until(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before+1 })
	if err := upstream.NewServer(upstream.ServerConfig{}).Close(); err != nil {
		t.Errorf("Close of one that never ran: %v", err)
	}
}
