//go:build unix

package machine

import (
	"os/exec"
	"syscall"
)

// OwnGroup starts a program in its own process group, which is killed as a whole. Otherwise a wrapper's children would keep
// its output open. An interrupt of Patterngate does not reach the group.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
