package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP on stdio",
		Long: "Serves the patterns as MCP tools on standard input and output, for a client that starts this program. Logs go to\n" +
			"standard error. It ends when the input ends or on SIGTERM, after the running calls had limits.grace_seconds.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
}

func (a *app) serve(ctx context.Context) error {
	keepOnBrokenPipe()
	loaded, err := a.load()
	if err != nil {
		return err
	}
	out := a.out
	if out == os.Stdout {
		os.Stdout = os.Stderr // a stray print must not break the protocol
	}
	direct := a.logger(loaded.Log, a.err)
	errs := newErrOut(a.err, func(lost int64) {
		direct.Warn("log lines dropped, standard error was not read", "lines", lost)
	})
	defer func() {
		if !errs.end() {
			a.err = io.Discard // nor would the failure get out
		}
	}()
	s, err := a.server(loaded.Config, a.logger(loaded.Log, errs))
	if err != nil {
		return fault("serve", err)
	}
	in, undo := polled(a.in, out)
	defer undo()
	if err := s.ServeStdio(ctx, in, out); err != nil {
		return fault("serve", err)
	}
	return nil
}

// keepOnBrokenPipe makes a write to a closed standard output or error an error, where Go would end the process by
// SIGPIPE: running calls have their grace, and a client that does not want the log is served all the same.
func keepOnBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
