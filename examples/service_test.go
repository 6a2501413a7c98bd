package examples

import (
	"bufio"
	"os"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"
)

// service builds the HTTP service in refunds and runs it for as long as the session lasts: service LEDGER [FLAG]... It sets
// SERVICE to the address that it listens on. Its token is what the session has in PAY_TOKEN.
func service(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: service LEDGER [FLAG]...")
	}
	program := ts.MkAbs("refunds-service.exe")
	build := exec.Command("go", "build", "-o", program, "patterngate/examples/refunds")
	build.Dir, build.Env = repository, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		ts.Fatalf("go build: %v\n%s", err, out)
	}
	run := exec.Command(program, append([]string{"--addr", "127.0.0.1:0", "--ledger", ts.MkAbs(args[0])}, args[1:]...)...)
	run.Env = []string{"PAY_TOKEN=" + ts.Getenv("PAY_TOKEN")}
	stdout, err := run.StdoutPipe()
	ts.Check(err)
	ts.Check(run.Start())
	ts.Defer(func() {
		_ = run.Process.Kill()
		_ = run.Wait() // killed
	})
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		ts.Fatalf("the service said no address: %v", lines.Err())
	}
	ts.Setenv("SERVICE", lines.Text())
}
