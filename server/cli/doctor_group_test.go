//go:build unix

package cli

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

// A wrapper that never answers is ended with what it started.
func TestDoctorEndsWhatItStarted(t *testing.T) {
	dir := t.TempDir()
	wrapper, child := filepath.Join(dir, "patterngate"), filepath.Join(dir, "child")
	putFile(t, wrapper, "#!/bin/sh\nsleep 600 &\necho $! >'"+child+"'\nwait\n")
	if err := os.Chmod(wrapper, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // as the time that it has does
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
	pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, file)))
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

// zombie reports a process that has ended and that nobody has asked about.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}
