package upstream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// How long a child may take to end: after its input was closed, and after it was told to.
const (
	endGrace  = 3 * time.Second
	termGrace = 2 * time.Second
)

// Program is an MCP server that is started as a child and spoken to over its standard input and output.
type Program struct {
	Command string // path of the executable, or its name in PATH
	Args    []string
	Env     []string  // the child's whole environment, NAME=value; nothing is inherited
	Dir     string    // empty: the present directory
	Stderr  io.Writer // nil: discarded
}

// child is a running program. It has a process group of its own where there are such: an interrupt at the terminal is
// for us, who then cancel what runs, and what the child left behind is found.
type child struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	lines  *boundedLines
	ended  chan struct{} // closed when it has, with state set
	state  error
}

// start starts a program.
func start(p Program) (*child, error) {
	cmd := exec.Command(p.Command, p.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = append([]string{}, p.Env...), p.Dir, p.Stderr
	cmd.WaitDelay = termGrace // of what its own children hold open
	isolate(cmd)
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	defer out.Close()
	cmd.Stdin, cmd.Stdout = in, out
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	c := &child{cmd: cmd, stdin: stdin, stdout: stdout, lines: newBoundedLines(stdout, maxMessage), ended: make(chan struct{})}
	go func() {
		c.state = cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// why is a fault of what it wrote, else how it ended.
func (c *child) why() error {
	if err := c.lines.fault(); err != nil {
		return err
	}
	if !c.within(termGrace) { // its output is over, so it is about to end
		return nil
	}
	if c.state != nil {
		return fmt.Errorf("the server ended: %w", c.state)
	}
	return errors.New("the server ended")
}

// close waits for the child, whose input is closed; it is told to end, then killed. Nothing it started is left behind.
func (c *child) close() error {
	defer c.stdout.Close()
	ended := c.within(endGrace)
	if !ended {
		terminate(c.cmd.Process)
		ended = c.within(termGrace)
	}
	kill(c.cmd.Process) // or what it left behind
	if !ended && !c.within(termGrace) {
		return errors.New("the server does not end")
	}
	return nil
}

// within reports whether the child has ended after at most d.
func (c *child) within(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.ended:
		return true
	case <-timer.C:
		return false
	}
}
