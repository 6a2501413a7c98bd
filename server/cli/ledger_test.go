package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"patterngate/catalog/demo/ledger"
)

// ledgerProcess is a running ledger, a child of a test.
type ledgerProcess struct {
	address string
	held    chan struct{} // closed when it holds an entry
	cmd     *exec.Cmd
	stdin   io.Closer
}

// startLedger starts the program as a ledger over a file, as demo and prove do.
func startLedger(errs io.Writer, file string, flags ...string) (*ledgerProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{"ledger", file}, flags...)...)
	cmd.Env, cmd.Stderr = []string{"SystemRoot=" + os.Getenv("SystemRoot")}, errs
	stdin, stdout, err := startPiped(cmd)
	if err != nil {
		return nil, err
	}
	p := &ledgerProcess{held: make(chan struct{}), cmd: cmd, stdin: stdin}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		return nil, errors.Join(errors.New("the ledger did not start"), lines.Err(), p.end())
	}
	p.address = lines.Text()
	go func() {
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "held ") {
				close(p.held)
				return // it holds only one entry
			}
		}
	}()
	return p, nil
}

// book is a book of the ledger.
func (p *ledgerProcess) book(name string) ledger.Client {
	return ledger.Client{Address: p.address, Book: name}
}

// end ends the ledger.
func (p *ledgerProcess) end() error {
	return errors.Join(p.stdin.Close(), p.cmd.Wait())
}

// startPiped starts a child and returns its standard input and output.
func startPiped(cmd *exec.Cmd) (stdin io.WriteCloser, stdout io.ReadCloser, err error) {
	if stdin, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, nil, err
	}
	return stdin, stdout, cmd.Start()
}

// refundOf returns the actions of a refund: look, pay, mail, close.
func refundOf(usd float64) []any {
	tool := func(name string, args map[string]any) any {
		return map[string]any{"kind": "tool", "name": name, "args": args}
	}
	return []any{
		tool("get_refund_context", map[string]any{"user_id": 42}),
		tool("issue_refund", map[string]any{"user_id": 42, "amount_usd": usd, "reason": "Refund within policy"}),
		tool("send_refund_email", map[string]any{"user_id": 42, "amount_usd": usd, "message": "Your refund is on its way."}),
		map[string]any{"kind": "final", "answer": "Refunded and confirmed."},
	}
}
