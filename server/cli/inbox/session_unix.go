//go:build unix

package inbox

import (
	"os/exec"
	"syscall"
)

// ownSession starts a program in its own session, so that Ctrl-C at the terminal does not end the browser.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
