package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/doctor"
	"patterngate/server/cli/inbox"
	"patterngate/server/settings"
)

// serveCommands is the command that serves MCP.
type serveCommands struct {
	*serviceOpener
	hints  bool                                           // started without arguments: print on standard error what it waits for
	after  func(time.Duration, func()) (stop func() bool) // starts a timer; nil: a real one
	starts func() (begun func())                          // called when serve starts; it returns what is called when serve has started; nil: nothing
}

func (a *serveCommands) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP on standard input and output, or over HTTP",
		Long: "Serves MCP on standard input and output for a client that starts this program. Logs go " +
			"to standard error. It is also what \"patterngate\" does without a command when standard input is not a terminal.\n\n" +
			"Runs are recorded in the state file (--state). After a crash, the next start continues them. Several servers " +
			"can share the file.\n\n" +
			"If the policy asks for a person, the call waits in the state file. You decide with \"patterngate approvals\" or " +
			"on a page: \"patterngate inbox\" opens it. Nothing that a client sends can approve.\n\n" +
			"--http serves Streamable HTTP at http://ADDR/mcp instead, and http://ADDR/healthz. On a loopback address on Linux " +
			"only your user can connect. Everywhere else --token-file is required: a file of mode 0600 with a line \"name: token\" " +
			"for each caller, who sends it as a bearer token. Use a TLS proxy on networks that others can read.",
		Example: "  patterngate serve\n" +
			"  patterngate serve --http 127.0.0.1:8765\n" +
			"  echo \"ci: $(openssl rand -hex 32)\" > tokens && chmod 600 tokens\n" +
			"  patterngate serve --http 0.0.0.0:8765 --token-file tokens",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	cmd.Flags().StringVar(&a.HTTP, "http", "", "serve HTTP at this `ADDR` (default: PATTERNGATE_HTTP, or http.listen)")
	cmd.Flags().StringVar(&a.TokenFile, "token-file", "", "`FILE` with tokens (default: PATTERNGATE_TOKEN_FILE, or http.token_file)")
	inbox.Flag(cmd, &a.Inbox)
	return cmd
}

func (a *serveCommands) serve(ctx context.Context) error {
	console.KeepOnBrokenPipe()
	begun := func() {}
	if a.starts != nil {
		begun = a.starts()
	}
	loaded, err := a.Load()
	if err != nil {
		return err
	}
	tokens, err := tokensOf(loaded.HTTP)
	if err != nil {
		return err
	}
	out := a.Out
	if out == os.Stdout {
		os.Stdout = os.Stderr // a stray print must not break the protocol
	}
	direct := a.Logger(loaded.Log, a.Err)
	errs := console.NewErrOut(a.Err, func(lost int64) {
		direct.Warn(logLinesDropped, "lines", lost)
	})
	defer func() {
		if !errs.End() {
			a.Err = io.Discard // the failure would not reach standard error either
		}
	}()
	s, err := a.service("serve", loaded, a.Logger(loaded.Log, errs))
	if err != nil {
		return err
	}
	defer s.Close()
	stop := a.reloads(ctx, s, loaded)
	defer stop()
	s.CarryOn()
	begun()
	if loaded.HTTP.Listen != "" {
		return serveHTTP(ctx, s.Server, loaded.HTTP, tokens)
	}
	in, undo := console.Polled(a.In, out)
	defer undo()
	if a.hints {
		hinted, stop := hinting(in, errs, a.after)
		defer stop()
		in = hinted
	}
	if err := s.ServeStdio(ctx, in, out); err != nil {
		return console.Fault("serve", err)
	}
	return nil
}

// reloads starts what reloads the configuration on request, announces changed files, and logs servers that clients can call
// around Patterngate. The returned function stops it.
func (a *serveCommands) reloads(ctx context.Context, s *assembly.Service, loaded assembly.Loaded) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	r := &reloader{from: a.Invocation, service: s, log: s.Log(), loaded: loaded, seen: filesSeen(loaded.Files())}
	s.Engine().Reload = r.requested
	hangups := make(chan os.Signal, 1)
	console.NotifyHangup(hangups)
	var all sync.WaitGroup
	all.Go(func() { r.listen(ctx, hangups) })
	all.Go(func() { r.watch(ctx) })
	all.Go(func() { a.warnOfBypasses(loaded.Config, s.Log()) })
	return func() {
		cancel()
		signal.Stop(hangups)
		all.Wait()
	}
}

// warnOfBypasses logs the servers of the catalog that a client also has directly. An agent can call them around
// Patterngate.
func (a *serveCommands) warnOfBypasses(c settings.Config, log *slog.Logger) {
	for _, b := range doctor.Bypasses(a.Environ, c.Catalog) {
		log.Warn(logBypass, "path", b.File, "server", b.Server, "behind", b.Ours, "try", "patterngate doctor")
	}
}
