package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns/llm/offline"
	"patterngate/patterns/local"
)

// serveAsChild is the test binary as a server of one pattern whose tool prints to standard output. The streams are
// set up as a program should: what is printed by accident goes to standard error.
func serveAsChild() int {
	out := os.Stdout
	os.Stdout = os.Stderr
	input, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		return 2
	}
	list, err := builtinsOver(catalog.Tool{Name: "noisy", Effect: catalog.Read, Input: input, Do: func(context.Context, catalog.Call) (any, error) {
		fmt.Println("a line that is no JSON-RPC")
		return "said", nil
	}})
	if err != nil {
		return 2
	}
	list[0].Spec.Policy = []string{"noisy"}
	list[0].Spec.Execution = list[0].Spec.Policy
	list[0].Spec.Budget.MinPlanSteps = 1
	s, err := New(Config{Patterns: list, Engine: &local.Engine{}, Model: offline.New()})
	if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := s.ServeStdio(ctx, os.Stdin, out); err != nil {
		return 1
	}
	return 0
}

const noisyCall = `{"goal":"x","plan":{"steps":[{"id":"a","title":"Say","tool":"noisy"}]}}`

func child(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=1")
	return cmd
}

// A process of its own: nothing but JSON-RPC on standard output, all answered at the end of the input, exit 0.
func TestCleanStdout(t *testing.T) {
	cmd := child(t)
	cmd.Stdin = strings.NewReader(initialize + "\n" + initialized + "\n" + callLine(1, td, noisyCall) + "\n" + callLine(2, td, strings.Replace(noisyCall, "{", `{"idempotency_key":"2",`, 1)) + "\n")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	answers := 0
	for line := range strings.Lines(out.String()) {
		m := parseMessage(line)
		if m.Error != nil || m.Method != "" {
			t.Errorf("the server wrote %q", line)
		}
		answers++
	}
	if answers != 3 || strings.Count(errs.String(), "no JSON-RPC") != 2 {
		t.Errorf("%d answers, want 3; standard error:\n%s", answers, errs.String())
	}
}

// SIGTERM ends an idle process at once, with its input still open.
func TestSIGTERM(t *testing.T) {
	cmd := child(t)
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
	if _, err := io.WriteString(in, callLine(1, td, noisyCall)+"\n"); err != nil {
		t.Fatal(err)
	}
	scan := lineScanner(out)
	if !scan.Scan() {
		t.Fatal("no answer")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if scan.Scan() {
		t.Errorf("after SIGTERM the server wrote %s", scan.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v, want exit 0", err)
	}
}
