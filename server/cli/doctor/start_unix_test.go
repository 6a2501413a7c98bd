//go:build unix

package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A wrapper that never answers is ended, with the processes that it started.
func TestDoctorEndsWhatItStarted(t *testing.T) {
	dir := t.TempDir()
	wrapper, child := filepath.Join(dir, "patterngate"), filepath.Join(dir, "child")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nsleep 600 &\necho $! >'"+child+"'\nwait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // as the time limit does
		for text, err := os.ReadFile(child); err != nil || len(text) == 0; text, err = os.ReadFile(child) {
			time.Sleep(10 * time.Millisecond)
			if ctx.Err() != nil {
				return
			}
		}
		cancel()
	}()
	defer cancel()
	if p, err := startProgram(ctx, clientStart{command: wrapper, environ: os.Environ(), dir: dir}); err == nil {
		p.end()
		t.Fatal("a program that says nothing is served")
	}
	endsSoon(t, child)
}

// endsSoon waits until the process whose number a file holds is over.
func endsSoon(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); {
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the program's child is still there")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// zombie reports whether a process has ended and waits for its parent.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}
