// Package processtest lets a test start its own program again as another process, which plays a role and can be killed.
//
//	func TestMain(m *testing.M) { processtest.Main(m) }
//	var _ = processtest.Role("own", func(path string, ready func()) error { ... })
//	c := processtest.Spawn(t, "own", path); c.Kill(t)
package processtest

import (
	"bufio"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"testing"
)

// roleVariable is set in processes that tests start.
const roleVariable = "PATTERNGATE_TEST_CHILD"

var roles = map[string]func(path string, ready func()) error{}

// Role names what such a process does with a path. It calls ready once it got so far; that returns when the test ends the process.
// Role is called in a variable declaration, before [Main].
func Role(name string, f func(path string, ready func()) error) bool {
	roles[name] = f
	return true
}

// Main runs the tests, or the role if the process has one. A TestMain calls it.
func Main(m *testing.M) {
	role, ok := roles[os.Getenv(roleVariable)]
	if !ok {
		if err := flag.Set("test.parallel", "4"); err != nil { // tests mostly wait, for the file to be synced and for processes
			panic(err)
		}
		if f := flag.Lookup("rapid.checks"); f != nil && os.Getenv("CI") == "" { // a quarter of the random cases
			if err := f.Value.Set("25"); err != nil {
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

// Child is a process in a role.
type Child struct {
	*exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
}

// Spawn starts a process and waits until it is ready. It is killed with the test.
func Spawn(t *testing.T, role, path string) *Child {
	t.Helper()
	c := SpawnAlone(t, role, path)
	c.Ready(t)
	return c
}

// SpawnAlone starts a process and does not wait for it. It is killed with the test.
func SpawnAlone(t *testing.T, role, path string) *Child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, path)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
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
	c := &Child{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { c.Kill(t) })
	return c
}

// Ready waits until the process is ready.
func (c *Child) Ready(t *testing.T) {
	t.Helper()
	if line, err := c.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("process %d said %q, %v", c.Process.Pid, line, err)
	}
}

// End lets the process end by itself.
func (c *Child) End(t *testing.T) {
	t.Helper()
	_ = c.stdin.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("process %d: %v", c.Process.Pid, err)
	}
}

// Kill ends the process as kill -9 does, and returns when it is gone.
func (c *Child) Kill(t *testing.T) {
	t.Helper()
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	_ = c.Wait()
}
