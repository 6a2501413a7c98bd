//go:build unix

package upstream_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"patterngate/catalog/upstream"
)

// Nothing that a child started outlives the session.
func TestNothingIsLeftBehind(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := start(t, upstream.Program{Stderr: w, Env: []string{asParent + "=1", "PATH=" + os.Getenv("PATH")}})
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	_ = w.Close()
	if text, err := io.ReadAll(r); err != nil || string(text) != "child is up\n" { // ends when all writers are gone
		t.Errorf("standard error holds %q, %v", text, err)
	}
}

// A child that ends is told by how it ended; one that listens to nothing is killed.
func TestChildEnds(t *testing.T) {
	_, err := upstream.Start(t.Context(), upstream.Program{Command: "/bin/sh", Args: []string{"-c", "read line; exit 3"}}, me)
	if err == nil || !strings.Contains(err.Error(), "the server ended: exit status 3") {
		t.Errorf("Start = %v, want the exit status", err)
	}
	if os.Getenv("CI") == "" {
		t.Skip("the graces of a child that does not end take 5 s: CI only")
	}
	c := start(t, upstream.Program{Env: []string{asStubborn + "=1"}})
	if err := c.Close(); err != nil {
		t.Errorf("Close of a child that listens to nothing: %v", err)
	}
}
