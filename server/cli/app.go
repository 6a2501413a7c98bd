package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
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
		Use:           "patterngate",
		Short:         rootShort,
		Long:          rootLong,
		Example:       rootExample,
		Args:          cobra.NoArgs,
		Version:       buildinfo.Read().Line(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.Given = givenFlags(cmd)
			return a.CheckColor()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.AtTerminal() {
				return cmd.Help()
			}
			serve.hints = cmd.Flags().NFlag() == 0
			return serve.serve(cmd.Context())
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(flagFault)
	flags := root.PersistentFlags()
	flags.StringVar(&a.Config, "config", "", "`FILE` with the configuration (default: PATTERNGATE_CONFIG, or patterngate/config.yaml in your config directory)")
	flags.StringVar(&a.State, "state", "", "`FILE` that records the runs, or :memory: (default: PATTERNGATE_STATE, or the key state, or state.db in your state directory; demo.db while all tools are demo tools)")
	flags.BoolVar(&a.JSON, "json", false, "print one JSON document instead of text")
	flags.StringVar(&a.Color, "color", "auto", "`WHEN` to use colour: auto, always or never; NO_COLOR turns auto off")
	flags.StringVar(&a.LogLevel, "log-level", "", "`LEVEL` of the log: debug, info, warn or error")
	flags.StringVar(&a.LogFormat, "log-format", "", "`FORMAT` of the log: text or json")
	root.AddCommand(a.commands(serve, sign)...)
	group(root)
	root.SetHelpFunc(a.showHelp)
	strictHelpers(root)
	suggest(root)
	return root
}

// givenFlags returns --config and --state as they were given, for the command lines that tips suggest.
func givenFlags(cmd *cobra.Command) string {
	given := ""
	for _, name := range []string{"config", "state"} {
		if f := cmd.Root().PersistentFlags().Lookup(name); f.Changed {
			given += " --" + name + " " + console.ShellWord(runtime.GOOS, f.Value.String())
		}
	}
	return given
}

// commands returns the commands of the program. Each package of commands gets what it needs as values and functions.
func (a *app) commands(serve *serveCommands, sign *signing.Signer) []*cobra.Command {
	service := serve.serviceOpener
	state, opener := service.StateFile, &service.Opener
	clients := &setup.Commands{Console: &a.Console, Config: a.ConfigPath, Loads: a.Loads, Direct: importer.DirectServers, Fault: a.SetupFault}
	shown := &inspect.Commands{
		Console: &a.Console, Load: a.LoadDocument, Sources: a.Sources, Path: &a.Config,
		Listed: state.Listed, Offered: a.Patterns, Loaded: a.NoteUnused, Fault: a.ConfigFault,
	}
	trials := &trial.Commands{Console: &a.Console, Inbox: &a.Inbox, Open: service.hookedServer}
	imports := &importer.Commands{Console: &a.Console, Config: &a.Config, Fault: a.SetupFault, ConfigFault: a.ConfigFault, Logger: a.Logger}
	checks := &doctor.Commands{Console: &a.Console, Sources: a.Sources}
	policies := &policycheck.Commands{Console: &a.Console, Opener: opener, Sources: a.Sources, Warn: a.Warn, Fault: a.ConfigFault, Loaded: a.NoteUnused}
	catalog := &catalogcmd.Commands{StateFile: state, Signer: sign, Call: service.callTool}
	operator := &operations.Commands{StateFile: state, Signer: sign}
	records := &runs.Commands{Console: &a.Console, Opener: opener, Signer: sign, People: a.People, NoteOther: a.NoteOther}
	decisions := &approvals.Commands{Console: &a.Console, Opener: opener, Signer: sign, People: a.People, NoteOther: a.NoteOther}
	if a.desks == nil {
		decisions.Held = func(keys func() (gateway.Ring, error)) approvals.HeldAcceptances { return catalog.Held(keys) }
	}
	page := &inbox.Commands{Console: &a.Console, Address: &a.Inbox, Load: state.Settings, Open: state.OpenEngine, Options: service.inboxOptions}
	return []*cobra.Command{
		trials.Demo(), clients.Command(), imports.Command(), checks.Command(), service.callCommands(a.Load).Command(), shown.Tools(),
		records.Command(), serve.serveCommand(), decisions.Command(), page.Command(), policies.Command(), catalog.Command(), shown.StopReasons(),
		operator.KillSwitch(), operator.Reload(), operator.StateCommand(), shown.Validate(), shown.Config(), shown.Schema(),
		(&versionCommands{a.Invocation}).versionCommand(), flagsPage(), trials.Prove(), trials.ProveLife(), trials.Ledger(),
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
			cmd.Short, cmd.Long = "Print the completion script for your shell", completionPage("")
			for _, shell := range cmd.Commands() {
				shell.Short, shell.Long = "Print the completion script for "+shell.Name(), completionPage(shell.Name())
			}
		case "help":
			cmd.Use, cmd.Short, cmd.Long, cmd.Example = "help [COMMAND]", helpShort, helpLong, "  patterngate help runs show\n  patterngate help flags"
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err == nil && len(rest) == 0 {
					return nil
				}
				unknown, near := errors.New(noCommand(strings.Join(args, " "))), ""
				if len(rest) > 0 {
					near = nearCommand(found, rest[0])
				}
				return console.Usage("patterngate", nearestOf(unknown, near), "patterngate --help")
			}
		}
	}
}
