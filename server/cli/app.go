package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/server/buildinfo"
	"patterngate/server/cli/approvals"
	"patterngate/server/cli/catalogcmd"
	"patterngate/server/cli/console"
	"patterngate/server/cli/doctor"
	"patterngate/server/cli/importer"
	"patterngate/server/cli/inbox"
	"patterngate/server/cli/inspect"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/operations"
	"patterngate/server/cli/policycheck"
	"patterngate/server/cli/runs"
	"patterngate/server/cli/setup"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
	"patterngate/server/cli/trial"
	"patterngate/server/settings/machine"
)

// app is one invocation of the program, with functions that tests can replace.
type app struct {
	*invocation.Invocation

	opens  func() (statefile.Runs, func(), error)         // opens the runs for commands; nil: from the state file
	desks  func() (statefile.Questions, func(), error)    // opens the approvals for commands; nil: from the state file
	after  func(time.Duration, func()) (stop func() bool) // starts a timer; nil: a real one
	starts func() (begun func())                          // called when serve starts; serve calls the result when it has started; nil: none

	// secret reads a passphrase that a person types. nil: from the terminal that controls this process.
	secret func(ctx context.Context, prompt string) (string, error)
}

// Main runs a command line and returns the exit code. Only Main reads the environment.
func Main(args []string, in io.Reader, out, err io.Writer) int {
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: in, Out: out, Err: err, Environ: os.Environ()}, People: invocation.SystemPeople}}
	a.starts = func() func() { return leaveGarbage(a.Environ) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := a.root()
	root.SetArgs(args)
	return a.Exit(ctx, root.ExecuteContext(ctx))
}

// opener returns what opens the state file of this invocation, and a server over it, for the commands.
func (a *app) opener() *serviceOpener {
	s := &serviceOpener{StateFile: invocation.NewStateFile(a.Invocation, a.opens, a.desks)}
	if a.opens == nil {
		s.Serving = s.openService
	}
	return s
}

// startGarbage is the percentage by which the heap can grow before a garbage collection while the server starts. Most of
// what a start allocates stays in use, so a collection frees little.
const startGarbage = 400

// leaveGarbage reduces garbage collection until the returned function is called. It changes nothing if GOGC is set.
func leaveGarbage(environ []string) (until func()) {
	if machine.Lookup(environ, "GOGC") != "" {
		return func() {}
	}
	usual := debug.SetGCPercent(startGarbage)
	return func() { debug.SetGCPercent(usual) }
}

// root returns the command without a subcommand. It serves MCP on standard input and output. At a terminal it prints help.
func (a *app) root() *cobra.Command {
	sign := &signing.Signer{Console: &a.Console, Secret: a.secret}
	serve := &serveCommands{serviceOpener: a.opener(), after: a.after, starts: a.starts}
	root := &cobra.Command{
		Use:   "patterngate",
		Short: "An MCP server whose tools are whole agent patterns behind a policy gate",
		Long: "Patterngate is an MCP server whose tools are whole agent patterns: task decomposition, orchestrator, routing,\n" +
			"supervisor, planning. A model proposes, the gate decides, the catalog acts, the journal remembers.\n\n" +
			"Without a command it serves MCP on standard input and output when that is no terminal.",
		Args:              cobra.NoArgs,
		Version:           buildinfo.Read().Line(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.CheckColor() },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.AtTerminal() {
				return cmd.Help()
			}
			serve.hints = cmd.Flags().NFlag() == 0
			return serve.serve(cmd.Context())
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print what \"patterngate version\" prints")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &console.Error{Code: console.ExitUsage, What: cmd.CommandPath(), Cause: err, Try: cmd.CommandPath() + " --help"}
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.Config, "config", "", "the configuration file (else PATTERNGATE_CONFIG, else patterngate/config.yaml in your config directory)")
	flags.StringVar(&a.State, "state", "", "the file in which runs are recorded, or :memory: (else PATTERNGATE_STATE, else state, else state.db in your state directory, or demo.db while all tools are the demo's)")
	flags.BoolVar(&a.JSON, "json", false, "print one JSON document")
	flags.StringVar(&a.Color, "color", "auto", "auto, always or never; NO_COLOR is honoured")
	flags.StringVar(&a.LogLevel, "log-level", "", "debug, info, warn or error")
	flags.StringVar(&a.LogFormat, "log-format", "", "text or json")
	root.AddCommand(a.commands(serve, sign)...)
	strictHelpers(root)
	return root
}

// commands returns the commands of the program. Each package of commands gets what it needs as values and functions.
func (a *app) commands(serve *serveCommands, sign *signing.Signer) []*cobra.Command {
	service := serve.serviceOpener
	state, opener := service.StateFile, &service.Opener
	clients := &setup.Commands{Console: &a.Console, Config: a.ConfigPath, Fault: a.SetupFault}
	shown := &inspect.Commands{
		Console: &a.Console, Load: a.LoadDocument, Sources: a.Sources, Path: &a.Config,
		Listed: state.Listed, Offered: a.Patterns, Fault: a.ConfigFault,
	}
	trials := &trial.Commands{Console: &a.Console, Inbox: &a.Inbox, Open: service.hookedServer}
	imports := &importer.Commands{Console: &a.Console, Config: &a.Config, Fault: a.SetupFault, ConfigFault: a.ConfigFault, Logger: a.Logger}
	checks := &doctor.Commands{Console: &a.Console}
	policies := &policycheck.Commands{Console: &a.Console, Opener: opener, Sources: a.Sources, Warn: a.Warn, Fault: a.ConfigFault}
	catalog := &catalogcmd.Commands{StateFile: state, Signer: sign, Call: service.callTool}
	operator := &operations.Commands{StateFile: state, Signer: sign}
	records := &runs.Commands{Console: &a.Console, Opener: opener, Signer: sign, People: a.People, NoteOther: a.NoteOther}
	decisions := &approvals.Commands{Console: &a.Console, Opener: opener, Signer: sign, People: a.People, NoteOther: a.NoteOther}
	if a.desks == nil {
		decisions.Held = func(keys func() (gateway.Ring, error)) approvals.HeldAcceptances { return catalog.Held(keys) }
	}
	page := &inbox.Commands{Console: &a.Console, Address: &a.Inbox, Load: state.Settings, Open: state.OpenEngine, Options: service.inboxOptions}
	return []*cobra.Command{
		serve.serveCommand(), trials.Demo(), service.callCommands(a.Load).Command(), clients.Command(), shown.Tools(), shown.StopReasons(), shown.Config(),
		shown.Validate(), shown.Schema(), imports.Command(), checks.Command(), catalog.Command(), policies.Command(),
		operator.KillSwitch(), operator.Reload(), records.Command(), decisions.Command(), page.Command(), operator.StateCommand(),
		(&versionCommands{a.Invocation}).versionCommand(), trials.Prove(), trials.ProveLife(), trials.Ledger(),
	}
}

// strictHelpers makes cobra's own commands refuse unknown arguments. By default they print help and succeed.
func strictHelpers(root *cobra.Command) {
	root.InitDefaultCompletionCmd("completion")
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args = cobra.NoArgs
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return fmt.Errorf("no command %q", strings.Join(args, " "))
				}
				return nil
			}
		}
	}
}
