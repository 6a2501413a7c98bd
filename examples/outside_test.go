package examples

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// heldKey is where a session keeps what tells that an effect is held.
type heldKey struct{}

// outside starts a world of its own, in which the demo's effects happen from now on and whose file is named: outside FILE
// [plain]. It enters the first payment and never answers it. A plain world acts again when a call is made again.
func outside(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: outside FILE [plain]")
	}
	dir, _, _ := strings.Cut(ts.Getenv("PATH"), string(filepath.ListSeparator))
	world := exec.Command(filepath.Join(dir, "patterngate"), "ledger", ts.MkAbs(args[0]), "--hold", "issue_refund")
	stdin, err := world.StdinPipe()
	ts.Check(err)
	stdout, err := world.StdoutPipe()
	ts.Check(err)
	ts.Check(world.Start())
	ts.Defer(func() {
		_ = stdin.Close() // it ends with its input
		_ = world.Wait()
	})
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		ts.Fatalf("the world outside said no address: %v", lines.Err())
	}
	book := lines.Text() + "/demo"
	if len(args) == 2 {
		book += "?" + args[1]
	}
	ts.Setenv("PATTERNGATE_LEDGER", book)
	told := make(chan struct{})
	go func() {
		lines.Scan()
		close(told)
	}()
	worlds(ts)[book] = told
}

// held waits until the world outside has entered a payment that it does not answer.
func held(ts *testscript.TestScript, _ bool, _ []string) {
	<-worlds(ts)[ts.Getenv("PATTERNGATE_LEDGER")]
}

// worlds are the session's worlds outside, by their books.
func worlds(ts *testscript.TestScript) map[string]chan struct{} {
	return ts.Value(heldKey{}).(map[string]chan struct{})
}
