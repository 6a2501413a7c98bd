package local

import (
	"bufio"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// childRole is set in processes that tests start of their own program.
const childRole = "PATTERNGATE_TEST_CHILD"

// children are what such a process does with a state file. It says ready when it is so far; its input ends when it shall
// end.
var children = map[string]func(path string, ready func()) error{
	"write": func(path string, ready func()) error { // a run of its own in a file that may be new
		j, err := openJournal(path, nil)
		if err != nil {
			return err
		}
		defer j.close()
		err = j.alter(insertRun(int64(os.Getpid()), 1, "running"))
		ready()
		return err
	},
	"lock": func(path string, ready func()) error { // in the middle of a transaction
		j, err := openJournal(path, nil)
		if err != nil {
			return err
		}
		defer j.close()
		return j.alter(func(*session) error { ready(); return nil })
	},
	"own": func(path string, ready func()) error {
		o, err := newOwner(path)
		if err != nil {
			return err
		}
		defer o.close()
		ready()
		return nil
	},
}

func TestMain(m *testing.M) {
	role, ok := children[os.Getenv(childRole)]
	if !ok {
		if err := flag.Set("test.parallel", "4"); err != nil { // tests mostly wait, for the file to be synced and for processes
			panic(err)
		}
		if os.Getenv("CI") == "" { // what chance draws, a quarter of it
			if err := flag.Set("rapid.checks", "25"); err != nil {
				panic(err)
			}
		}
		os.Exit(m.Run())
	}
	err := role(os.Args[1], func() {
		_, _ = os.Stdout.WriteString("ready\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
	})
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

// child is a process that does something with a state file.
type child struct {
	*exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
}

// spawn starts a child; it is killed with the test.
func spawn(t *testing.T, role, path string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, path)
	cmd.Env = append(os.Environ(), childRole+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { c.kill(t) })
	return c
}

// ready waits until it says so.
func (c *child) ready(t *testing.T) {
	t.Helper()
	if line, err := c.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("process %s said %q, %v", strconv.Itoa(c.Process.Pid), line, err)
	}
}

// end lets it end by itself.
func (c *child) end(t *testing.T) {
	t.Helper()
	_ = c.stdin.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("process %d: %v", c.Process.Pid, err)
	}
}

// kill ends it as kill -9 does, and returns when it is gone.
func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	_ = c.Wait()
}

// Role lets processes that tests start do something else with a state file.
func Role(name string, f func(path string, ready func()) error) bool {
	children[name] = f
	return true
}

// Child is a process in a role.
type Child struct{ *child }

// Spawn starts a child and waits until it says that it is ready; it is killed with the test.
func Spawn(t *testing.T, role, path string) Child {
	t.Helper()
	c := spawn(t, role, path)
	c.ready(t)
	return Child{c}
}

// Kill ends it as kill -9 does.
func (c Child) Kill(t *testing.T) { c.kill(t) }

// End lets it end by itself.
func (c Child) End(t *testing.T) { c.end(t) }
