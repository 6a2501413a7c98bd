//go:build unix

package console

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// blocking is both ends of a pipe or socket as a client leaves them to a child.
func blocking(t *testing.T, open func() ([2]int, error)) (a, b *os.File) {
	t.Helper()
	fds, err := open()
	if err != nil {
		t.Fatal(err)
	}
	a, b = os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func pipe() (fds [2]int, err error) {
	err = syscall.Pipe(fds[:])
	return fds, err
}

func sockets() ([2]int, error) { return syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0) }

// What is polled knows deadlines; a read that blocks in the kernel has none.
func polls(t *testing.T, r io.Reader) bool {
	t.Helper()
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	switch err := f.SetReadDeadline(time.Now().Add(-time.Second)); {
	case errors.Is(err, os.ErrNoDeadline):
		return false
	case err != nil:
		t.Fatal(err)
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read past its deadline gave %v", err)
	}
	return true
}

func TestStandardInputIsPolled(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fromPipe, _ := blocking(t, pipe)
	socket, other := blocking(t, sockets)
	for name, tt := range map[string]struct {
		in   io.Reader
		out  io.Writer
		want bool
	}{
		"pipe":               {fromPipe, file, true},
		"socket":             {socket, file, true},
		"input and output":   {other, other, false},
		"file":               {file, socket, false},
		"no file":            {new(io.LimitedReader), file, false},
		"pipe, no file out":  {fromPipe, io.Discard, true},
		"output that closed": {fromPipe, closed(t), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, undo := Polled(tt.in, tt.out)
			if polls(t, got) != tt.want {
				t.Errorf("polled gave %T that polls: %v, want %v", got, !tt.want, tt.want)
			}
			undo()
			if f, ok := tt.in.(*os.File); ok && nonblocking(t, f) {
				t.Error("what was changed was not undone")
			}
		})
	}
}

// nonblocking reports the mode of a pipe's or socket's end: the runtime polls what it finds not to block.
func nonblocking(t *testing.T, f *os.File) bool {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	again := os.NewFile(uintptr(fd), f.Name())
	defer again.Close()
	return again.SetReadDeadline(time.Time{}) == nil
}

func closed(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	return f
}
