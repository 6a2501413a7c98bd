//go:build unix

package upstream

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate gives a child a process group of its own.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate tells a child's group to end.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill ends what is left of a child's group; mostly nothing.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
