//go:build !unix

package machine

import "os/exec"

// OwnGroup does nothing: this system has no process groups that can be ended together.
func OwnGroup(*exec.Cmd) {}
