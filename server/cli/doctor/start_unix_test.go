//go:build unix

package doctor

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"patterngate/patterns/store/processtest"
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
	processtest.EndsSoon(t, child)
}
