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

// lastWords is how long the output of a child that has ended is still read.
const lastWords = time.Second

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
	c := &child{cmd: cmd, stdin: stdin, stdout: stdout, ended: make(chan struct{})}
	go func() {
		c.state = cmd.Wait()
		kill(cmd.Process) // what it left behind would hold its pipes open
		close(c.ended)
	}()
	return c, nil
}

// wire is a transport over the child's pipes. It ends when they do, and soon after the child did, whoever else may hold
// them.
func (c *child) wire() *pipes {
	p := newPipes(c.stdout, c.stdin)
	go func() {
		<-c.ended
		timer := time.NewTimer(lastWords)
		defer timer.Stop()
		select {
		case <-p.done:
		case <-timer.C:
			p.fail(errEnded)
		}
	}()
	return p
}

// why is how the child ended.
func (c *child) why() error {
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
	if c.within(endGrace) {
		return nil
	}
	terminate(c.cmd.Process)
	if c.within(termGrace) {
		return nil
	}
	return c.abort()
}

// abort ends the child and what it started, without asking.
func (c *child) abort() error {
	defer c.stdout.Close()
	select {
	case <-c.ended: // its number may be another's by now
		return nil
	default:
	}
	kill(c.cmd.Process)
	if !c.within(termGrace) {
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
