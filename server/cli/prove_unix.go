//go:build unix

package cli

import (
	"os"
	"syscall"
)

// suspend stops a process in the middle of what it does; resume lets it go on.
func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error  { return p.Signal(syscall.SIGCONT) }
