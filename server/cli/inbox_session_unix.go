//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// ownSession keeps a program that we start from what ends us: Ctrl-C at the terminal must not end the browser.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
