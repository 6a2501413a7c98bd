//go:build unix

package console

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Polled makes reading a pipe or socket wait in the runtime's poller instead of in the kernel, until undo is called.
//
// With Go 1.26, a goroutine can enter a blocking read while another goroutine stops the world for the garbage collector. Then the world can
// stay stopped until the read returns, or for 60 s: reentersyscall checks for a stop before it marks the goroutine as in a call. A server
// reads once for each request, and one call in some hundred thousand hung. A read that never blocks returns at once.
//
// The mode belongs to the end of the pipe, which other processes may share. So Polled changes nothing else: a terminal is shared with a shell,
// and a socket that is also the output would refuse writes.
func Polled(in io.Reader, out io.Writer) (r io.Reader, undo func()) {
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
	own, err := syscall.Dup(int(file.Fd())) // both share the mode; the runtime reads it only when a file is made
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
		_ = syscall.SetNonblock(own, false) // restores the mode; an error here has no use
		_ = polled.Close()
	}
}
