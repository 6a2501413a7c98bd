//go:build unix

package trial

import (
	"os"
	"syscall"
)

// suspend stops a process at any point; resume continues it.
func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error  { return p.Signal(syscall.SIGCONT) }
