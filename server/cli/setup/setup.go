package setup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/ijson/printable"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
)

// setupFlags holds the flags of the command.
type setupFlags struct {
	write, undo, dryRun bool
	file, name          string
}

// Commands is the command that edits a client's file.
type Commands struct {
	*console.Console
	// Config returns the absolute path of the configuration from --config, after it has loaded. It returns "" if the
	// flag is not set.
	Config func() (string, error)
	// Loads returns the error of the configuration at a path if it does not load with that environment.
	Loads func(path string, environ []string) error
	// Direct returns the names of a file's enabled entries that do not start Patterngate.
	Direct func(entries map[string]any) []string
	// Fault returns the failure of a command for an error about a client's file.
	Fault func(error) error
}

// Command returns the command setup, which adds this program to a client's configuration:
//
//	CLIENT ──▶ its file here ──▶ read, bounded ──▶ merge or remove ──▶ nothing else differs? ──▶ backup ──▶ rename
//	                └─ without a flag: block, file and checks are printed, nothing is read
func (a *Commands) Command() *cobra.Command {
	var f setupFlags
	names := clientfile.Names()
	cmd := &cobra.Command{
		Use:   "setup CLIENT",
		Short: "Connect an MCP client to Patterngate, or show how",
		Long: "Shows the block that makes CLIENT start this program, its file, and how to check it. It writes nothing.\n\n" +
			"CLIENT is " + strings.Join(names, ", ") + ".\n\n" +
			"--write adds the block to the client's file. Every other byte stays, and a backup is made beside the file. " +
			"An existing entry keeps what you added to it, such as env and time-outs.\n\n" +
			"--undo restores the backup if the file has not changed since. Otherwise it removes only the entry. " +
			"--config FILE also goes into the block.",
		Example: "  patterngate setup claude-code\n" +
			"  patterngate setup vscode --dry-run\n" +
			"  patterngate setup claude-desktop --write\n" +
			"  patterngate setup codex --config refunds.yaml --name refunds --write\n" +
			"  patterngate setup cursor --file .cursor/mcp.json --write   # one project only\n" +
			"  patterngate setup claude-desktop --undo",
		ValidArgs: names,
		Args:      oneClient,
		RunE:      func(_ *cobra.Command, args []string) error { return a.setup(args[0], f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.write, "write", false, "add the block to the file, with a backup")
	flags.BoolVar(&f.undo, "undo", false, "undo what --write did")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what --write or --undo would change")
	flags.StringVar(&f.file, "file", "", "use this `FILE` and not the client's usual one")
	flags.StringVar(&f.name, "name", "patterngate", "`NAME` of the server in the file")
	return cmd
}

// oneClient checks that the only argument is the name of a client.
func oneClient(_ *cobra.Command, args []string) error {
	names := strings.Join(clientfile.Names(), ", ")
	if len(args) == 1 {
		if _, ok := clientfile.Find(args[0]); ok {
			return nil
		}
		return console.Usage("setup", errors.New(noClient(args[0], clientfile.Meant(args[0]), names)), "patterngate setup "+cmp.Or(clientfile.Meant(args[0]), "claude-code"))
	}
	return console.Usage("setup", errors.New(wantsOneClient(len(args), names)), "patterngate setup claude-code")
}

// serverName matches the server names that every client accepts.
var serverName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (f setupFlags) check() error {
	switch {
	case f.write && f.undo:
		return console.Usage("setup", errors.New(writeOrUndo), useOne)
	case !serverName.MatchString(f.name):
		return console.Usage("setup --name", fmt.Errorf("got %q, want 1 to 64 of a-z, A-Z, 0-9, _ and -", f.name), "--name patterngate")
	}
	return nil
}

// setup prints the entry, or changes the file. See [Commands.Command].
func (a *Commands) setup(name string, f setupFlags) error {
	client, _ := clientfile.Find(name)
	if err := f.check(); err != nil {
		return err
	}
	host := clientfile.ThisHost(a.Environ)
	path, err := a.setupPath(client, host, f.file)
	if err != nil {
		return err
	}
	report := SetupReport{Client: client.Name, Title: client.Title, File: path, Name: f.name}
	report.Format, report.Key = client.Holds()
	if f.undo {
		return a.setupUndo(client, f, report)
	}
	e, err := a.setupEntry(f.name, &report)
	if err != nil {
		return err
	}
	if f.write || f.dryRun {
		return a.setupWrite(client, host, f, e, report)
	}
	report.describe(client, host, e)
	return a.printSetup(f, report)
}

// setupPath returns the absolute path of the file to edit.
func (a *Commands) setupPath(client clientfile.Client, host clientfile.Host, named string) (string, error) {
	path, err := named, error(nil)
	if path == "" {
		if path, err = client.Path(host); err != nil {
			return "", err
		}
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", console.Fault("setup", err)
	}
	return path, nil
}

// setupEntry returns the entry for this program. A named configuration must load, otherwise the client could not start
// the server.
func (a *Commands) setupEntry(name string, report *SetupReport) (clientfile.Entry, error) {
	command, err := clientfile.ProgramPath(a.Environ)
	if err != nil {
		return clientfile.Entry{}, err
	}
	e := clientfile.Entry{Name: name, Command: command, Args: []string{"serve"}}
	path, err := a.Config()
	if err != nil {
		return clientfile.Entry{}, err
	}
	if path == "" {
		if path := machine.Lookup(a.Environ, settings.PathVariable); path != "" {
			report.warn(mayNotPass(settings.PathVariable))
		}
		return e, nil
	}
	e.Args = append(e.Args, "--config", path)
	return e, nil
}

// setupWrite adds the entry, or shows what that would change.
func (a *Commands) setupWrite(client clientfile.Client, host clientfile.Host, f setupFlags, e clientfile.Entry, report SetupReport) error {
	file, err := clientfile.Read(report.File)
	if err != nil {
		return a.Fault(err)
	}
	if len(e.Args) == 1 { // without --config
		if err := a.keepConfig(client.Format, file, f.name, &report); err != nil {
			return err
		}
	}
	if report.kept != "" {
		e.Args = append(e.Args, "--config", report.kept)
	}
	report.describe(client, host, e)
	c, err := clientfile.PlanWrite(client.Format, file, e)
	if err != nil {
		return a.Fault(err)
	}
	if line, column, loose := client.Refuses(file.Text); loose {
		report.warn(notStrict(file.Path, line, column, client.Title))
	}
	if entries, _, err := client.Format.Decode(file.Text); err == nil { // PlanWrite reports what cannot be read
		delete(entries, f.name)
		report.direct = a.Direct(entries)
	}
	report.Action = "write"
	return a.carryOut(c, clientfile.ShownWordsOf(client.Format, e, file.Text), f, file, report)
}

// keepConfig sets the configuration that the entry keeps. It warns if there is no such file. It returns an error if the file
// does not load with the variables of the entry, like a file that --config names.
func (a *Commands) keepConfig(f clientfile.Format, file clientfile.File, name string, report *SetupReport) error {
	entry, _ := clientfile.EntryOf(f, file.Text, name)
	members, _ := entry.(map[string]any)
	path := configOf(members)
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err != nil || !filepath.IsAbs(path) || info.IsDir() {
		report.warn(notKept(path))
		return nil
	}
	var environ []string
	variables, _ := members["env"].(map[string]any)
	for name, value := range variables {
		if text, ok := value.(string); ok {
			environ = append(environ, name+"="+text)
		}
	}
	if err := a.Loads(path, slices.Concat(a.Environ, environ)); err != nil {
		fmt.Fprintln(a.Err, "warning: "+printable.Text(keepsNoFaults(name, path)))
		return err
	}
	report.kept = path
	return nil
}

// configOf returns the configuration that an entry of Patterngate names. It returns "" if it names none.
func configOf(members map[string]any) string {
	command, _ := members["command"].(string)
	args, _ := members["args"].([]any)
	if base := command[strings.LastIndexAny(command, `/\`)+1:]; strings.TrimSuffix(base, ".exe") != "patterngate" {
		return "" // another program: its words belong to the user
	}
	if len(args) != 3 || args[0] != "serve" || args[1] != "--config" {
		return ""
	}
	path, _ := args[2].(string)
	return path
}

// setupUndo removes the entry, or shows what that would change.
func (a *Commands) setupUndo(client clientfile.Client, f setupFlags, report SetupReport) error {
	file, err := clientfile.Read(report.File)
	if err != nil {
		return a.Fault(err)
	}
	c, err := clientfile.PlanUndo(client.Format, file, f.name)
	if err != nil {
		return a.Fault(err)
	}
	report.Action, report.Sources = "undo", client.Sources
	if c.Result == clientfile.Restored {
		_, report.stays = clientfile.EntryOf(client.Format, c.After, f.name)
	}
	return a.carryOut(c, clientfile.ShownWordsOf(client.Format, clientfile.Entry{Name: f.name}, file.Text, c.After), f, file, report)
}

// carryOut applies a change unless this is a dry run, and prints the result. own says which words the difference may
// show.
func (a *Commands) carryOut(c clientfile.Change, own clientfile.ShownWords, f setupFlags, file clientfile.File, report SetupReport) error {
	if c.Changes() && file.ReadOnly() {
		return a.Fault(file.Refused("read-only", writableOrOther))
	}
	if !f.dryRun {
		var err error
		if c, err = c.Apply(file, time.Now()); err != nil {
			return err
		}
	}
	report.DryRun, report.Result, report.Changed = f.dryRun, c.Result, c.Changes() && !f.dryRun
	report.Exists, report.Backup = file.Info != nil, c.Backup
	if c.Changes() {
		report.Diff = clientfile.UnifiedDiff(file.Path, file.Text, c.After, own.Masked)
	}
	return a.tellSetup(f, report)
}
