//go:build !unix

package inbox

import "os/exec"

// ownSession does nothing: on these systems Ctrl-C in a console does not reach programs with windows.
func ownSession(*exec.Cmd) {}
