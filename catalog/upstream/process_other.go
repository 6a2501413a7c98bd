//go:build !unix

package upstream

import (
	"os"
	"os/exec"
)

func isolate(*exec.Cmd) {}

// terminate kills a child: this system has no signal that asks it to end.
func terminate(p *os.Process) { _ = p.Kill() }

func kill(p *os.Process) { _ = p.Kill() } // an error means that it has ended
