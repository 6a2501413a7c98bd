//go:build !unix

package cli

import "os/exec"

// ownGroup does nothing: this system has no process groups that can be ended together.
func ownGroup(*exec.Cmd) {}
