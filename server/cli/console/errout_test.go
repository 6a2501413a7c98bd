package console

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
)

// held is a writer that holds every write until it is let go.
type held struct {
	let chan struct{}
	got bytes.Buffer
}

func (h *held) Write(p []byte) (int, error) {
	<-h.let
	return h.got.Write(p)
}

// Writing never waits; what finds no place is counted, and the count is told once somebody reads again.
func TestErrOutNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &held{let: make(chan struct{})}
		told := int64(0)
		e := NewErrOut(to, func(lost int64) { told += lost })
		_, _ = e.Write([]byte("first\n"))
		synctest.Wait() // it is being written, for as long as nobody reads
		line := []byte("line\n")
		for range maxErrLines + 7 {
			_, _ = e.Write(line)
		}
		copy(line, "gone\n") // the caller's own again
		close(to.let)
		if !e.End() {
			t.Error("end() = false, want all written")
		}
		if got := to.got.String(); strings.Count(got, "line\n") != maxErrLines || !strings.HasPrefix(got, "first\n") || told != 7 {
			t.Errorf("%d bytes written and %d lines told lost, want %d lines and 7", len(got), told, maxErrLines+1)
		}
	})
}

// The end waits for lines that get out, and not long for those that do not.
func TestErrOutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &held{let: make(chan struct{})}
		e := NewErrOut(to, func(int64) {})
		_, _ = e.Write([]byte("stuck\n"))
		if e.End() {
			t.Error("end() = true while a line is stuck")
		}
		close(to.let)
		if !e.End() {
			t.Error("end() = false after the line got out")
		}
	})
}
