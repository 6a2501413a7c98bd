//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a program in its own process group, which is killed as a whole. Otherwise a wrapper's children would keep
// its output open. An interrupt of Patterngate does not reach the group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
