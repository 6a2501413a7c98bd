package trial

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/catalog/demo/ledger"
	"patterngate/server/cli/console"
)

// Ledger returns the command that runs a ledger. Its first line is its address, and it prints "held TOOL" when it
// holds an entry. It ends with its input, so it does not outlive the program that started it.
func (a *Commands) Ledger() *cobra.Command {
	var hold string
	cmd := &cobra.Command{
		Use: "ledger FILE", Short: ledgerShort, Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := ledger.Open(args[0])
			if err != nil {
				return console.Fault("ledger", err)
			}
			l.Hold, l.Held = hold, func(e ledger.Entry) { _, _ = fmt.Fprintln(a.Out, "held "+e.Tool) } // if this fails, the waiting process gives up
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return console.Fault("ledger", err)
			}
			if _, err := fmt.Fprintln(a.Out, listener.Addr()); err != nil {
				return console.Fault("ledger", err)
			}
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() {
				_, _ = io.Copy(io.Discard, a.In) // wait for the end of the input
				cancel()
			}()
			if err := l.Serve(ctx, listener); err != nil {
				return console.Fault("ledger", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&hold, "hold", "", holdFlag)
	return cmd
}

// ledgerProcess is a running ledger.
type ledgerProcess struct {
	address string
	held    chan struct{} // closed when it holds an entry
	cmd     *exec.Cmd
	stdin   io.Closer
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

// startLedger starts this program as a ledger over a file.
func (a *Commands) startLedger(file string, flags ...string) (*ledgerProcess, error) {
	cmd, err := a.own(append([]string{"ledger", file}, flags...)...)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = a.Err
	stdin, stdout, err := startPiped(cmd)
	if err != nil {
		return nil, err
	}
	p := &ledgerProcess{held: make(chan struct{}), cmd: cmd, stdin: stdin}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		return nil, errors.Join(errNoLedger, lines.Err(), p.end())
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

// book returns a book of the ledger.
func (p *ledgerProcess) book(name string) ledger.Client {
	return ledger.Client{Address: p.address, Book: name}
}

// end ends the ledger.
func (p *ledgerProcess) end() error {
	return errors.Join(p.stdin.Close(), p.cmd.Wait())
}

// own returns this program as a child process, with only the variables that programs need to start.
func (a *Commands) own(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = systemEnvironment(a.Environ)
	return cmd, nil
}
