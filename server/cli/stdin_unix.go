//go:build unix

package cli

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// polled makes reading a pipe or socket wait in the runtime's poller instead of in the kernel, until undo is called.
//
// With Go 1.26 a goroutine that enters a read which blocks, just as another one stops the world for the garbage
// collector, can keep the world stopped for as long as it reads or 60 s: reentersyscall looks whether a stop is asked
// for before it says that it is in a call, so the stop sees it run and waits for it. A server's reader does so once a
// request; one call in some hundred thousand hung. A read that never blocks is out again at once.
//
// The mode belongs to the pipe's end and not to this process alone, so everything else is left as it is: a terminal is
// shared with a shell, and a socket that is output too would refuse writes.
func polled(in io.Reader, out io.Writer) (r io.Reader, undo func()) {
	leave := func() {}
	file, ok := in.(*os.File)
	if !ok {
		return in, leave
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return in, leave
	}
	if f, ok := out.(*os.File); ok {
		if other, err := f.Stat(); err != nil || os.SameFile(info, other) {
			return in, leave
		}
	}
	own, err := syscall.Dup(int(file.Fd())) // the mode is that of both; the runtime asks for it only when a file is made
	if err != nil {
		return in, leave
	}
	syscall.CloseOnExec(own)
	if syscall.SetNonblock(own, true) != nil {
		_ = syscall.Close(own)
		return in, leave
	}
	polled := os.NewFile(uintptr(own), file.Name())
	return polled, func() {
		_ = syscall.SetNonblock(own, false) // as it was; nobody is left to tell
		_ = polled.Close()
	}
}
