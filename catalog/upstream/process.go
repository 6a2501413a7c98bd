package upstream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// These are the times that a child may take to end: after its input closes, and after it is asked to end.
const (
	endGrace  = 3 * time.Second
	termGrace = 2 * time.Second
)

// lastWords is how long the output of a child is read after the child has ended.
const lastWords = time.Second

// Program is an MCP server that is started as a child. The client uses its standard input and output.
type Program struct {
	Command string // path of the executable, or its name in PATH
	Args    []string
	Env     []string  // the child's whole environment, NAME=value; nothing is inherited
	Dir     string    // empty: the current directory
	Stderr  io.Writer // nil: discarded
}

// child is a running program. It has its own process group on systems that have process groups. So an interrupt at the
// terminal reaches only Patterngate, which then cancels its calls, and processes that the child left behind can be
// killed.
type child struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	ended  chan struct{} // closed when the child has ended, with state set
	state  error
}

// start starts a program.
func start(p Program) (*child, error) {
	cmd := exec.Command(p.Command, p.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = append([]string{}, p.Env...), p.Dir, p.Stderr
	cmd.WaitDelay = termGrace // for files that its own children hold open
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
		kill(cmd.Process) // processes that it left behind would hold its pipes open
		close(c.ended)
	}()
	return c, nil
}

// wire returns a transport over the child's pipes. It ends when they end, and soon after the child has ended even if
// another process holds the pipes.
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

// why returns how the child ended.
func (c *child) why() error {
	if !c.within(termGrace) { // its output is over, so it will end soon
		return nil
	}
	if c.state != nil {
		return fmt.Errorf(serverEnded, c.state)
	}
	return errors.New(serverEndedCleanly)
}

// close waits for the child, whose input is closed. If the child does not end, close asks it to end, and then kills it.
// Nothing that the child started in its process group is left.
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

// abort kills the child and the processes in its group.
func (c *child) abort() error {
	defer c.stdout.Close()
	select {
	case <-c.ended: // its process id may belong to another process now
		return nil
	default:
	}
	kill(c.cmd.Process)
	if !c.within(termGrace) {
		return errors.New(serverNotEnding)
	}
	return nil
}

// within reports whether the child ends within d.
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
