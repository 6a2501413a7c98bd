//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// ownGroup has a program run in a process group of its own, which ends whole: a wrapper's children would hold its output, and
// an interrupt of ours is not theirs.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
