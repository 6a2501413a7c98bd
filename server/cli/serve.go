package cli

import (
	"context"
	"os"

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
	loaded, err := a.load()
	if err != nil {
		return err
	}
	out := a.out
	if out == os.Stdout {
		os.Stdout = os.Stderr // a stray print must not break the protocol
	}
	s, err := a.server(loaded.Config, a.logger(loaded.Log, a.err))
	if err != nil {
		return fault("serve", err)
	}
	if err := s.ServeStdio(ctx, a.in, out); err != nil {
		return fault("serve", err)
	}
	return nil
}
