//go:build unix

package notify

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate gives a program a process group of its own.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a program and all of its group.
func kill(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
