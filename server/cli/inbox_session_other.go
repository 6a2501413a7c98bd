//go:build !unix

package cli

import "os/exec"

// ownSession has nothing to do: a console's Ctrl-C does not reach programs with windows.
func ownSession(*exec.Cmd) {}
