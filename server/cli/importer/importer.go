package importer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"patterngate/server/assembly"

	"github.com/spf13/cobra"

	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// initFlags are the flags of init.
type initFlags struct {
	out, from          string
	chosen             chosenTools
	yes, undo          bool
	replace, noReplace bool
}

// Commands has what the command needs that writes a configuration. All fields are needed.
type Commands struct {
	*console.Console
	Config      *string                                    // --config
	Fault       func(error) error                          // makes the error of a client's file
	ConfigFault func(error) error                          // makes the error of a configuration that does not load
	Logger      func(settings.Log, io.Writer) *slog.Logger // makes a log
}

// Command returns the command that writes a first configuration, from nothing or from the servers of a client:
//
//	client's file ──▶ servers ──start once──▶ tools ──a person decides──▶ file, lock, secrets ──asks──▶ client's file: Patterngate instead
func (a *Commands) Command() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create a configuration: a new one, or from the MCP servers of a client",
		Long: "Writes a commented configuration that works unchanged. It never overwrites a file.\n\n" +
			"--import takes the MCP servers from " + strings.Join(clientfile.Names(), ", ") + " or a file. " +
			"It starts each server once and asks you at the terminal what each tool does. " +
			"Without a terminal, or with --yes, --read or --allow, only tools that --read or --allow name are enabled.\n\n" +
			"It writes a lock file with the tool definitions, and secrets into secrets/ (mode 0600). " +
			"Last it offers to replace the servers in the client's file by Patterngate, and makes a backup.",
		Example: "  patterngate init\n" +
			"  patterngate init --import claude-desktop\n" +
			"  patterngate init --import .mcp.json -o team.yaml --read files/read_text_file --no-replace\n" +
			"  patterngate init --import cursor --allow crm/add_note --replace\n" +
			"  patterngate init --import cursor --undo",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.init(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write this `FILE` (default: the file that Patterngate reads)")
	flags.StringVar(&f.from, "import", "", "take the servers from this `CLIENT` or file")
	flags.StringSliceVar(&f.chosen.read, "read", nil, "enable `SERVER/TOOL,...` as tools that only read")
	flags.StringSliceVar(&f.chosen.allow, "allow", nil, "enable `SERVER/TOOL,...` as tools that write")
	flags.BoolVar(&f.yes, "yes", false, "ask nothing")
	flags.BoolVar(&f.replace, "replace", false, "replace the servers in the client's file without asking")
	flags.BoolVar(&f.noReplace, "no-replace", false, "leave the client's file unchanged")
	flags.BoolVar(&f.undo, "undo", false, "undo what --replace did to the client's file")
	_ = cmd.RegisterFlagCompletionFunc("import", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return clientfile.Names(), cobra.ShellCompDirectiveDefault
	})
	return cmd
}

func (f initFlags) check() error {
	const example = "patterngate init --import claude-desktop"
	switch {
	case f.replace && f.noReplace:
		return console.Usage("init", errors.New(replaceOrNot), useOne)
	case f.from == "" && (f.undo || f.replace || f.noReplace || len(f.chosen.read)+len(f.chosen.allow) > 0):
		return console.Usage("init", errors.New(needsImport), example)
	case f.undo && (f.replace || f.noReplace || f.out != "" || len(f.chosen.read)+len(f.chosen.allow) > 0):
		return console.Usage("init --undo", errors.New(undoAlone), example+" --undo")
	}
	return nil
}

// again returns the command line with the client and the new file.
func (f initFlags) again() string {
	line := "patterngate init --import " + console.ShellWord(runtime.GOOS, f.from)
	if f.out != "" {
		line += " -o " + console.ShellWord(runtime.GOOS, f.out)
	}
	return line
}

// enables returns a command line that enables a tool, or "" if no server has a tool or if a person said which to enable. It
// names only a tool that its server says only reads. Otherwise the person fills in the name.
func (f initFlags) enables(a *Commands, servers []Server) string {
	flag := ""
	for _, s := range servers {
		if s.problem != "" || len(s.tools) == 0 {
			continue
		}
		if i := slices.IndexFunc(s.tools, importedTool.saysReads); i >= 0 {
			flag = " --read " + console.ShellWord(runtime.GOOS, s.Name+"/"+s.tools[i].Name)
		} else if flag == "" {
			flag = " --allow " + anyTool
		}
	}
	if flag == "" || !f.silent(a) {
		return ""
	}
	return f.again() + flag
}

// silent reports whether init asks no questions about tools.
func (f initFlags) silent(a *Commands) bool {
	return f.yes || a.JSON || len(f.chosen.read)+len(f.chosen.allow) > 0 || !a.AtTerminal()
}

// init runs the command.
func (a *Commands) init(ctx context.Context, f initFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	var from ClientFile
	if f.from != "" {
		var err error
		if from, err = a.importFile("init --import", f.from); err != nil {
			return err
		}
	}
	if f.undo {
		return a.initUndo(from)
	}
	path, there, err := a.initPath(f.out)
	switch {
	case err != nil:
		return err
	case there && f.replace && len(f.chosen.read)+len(f.chosen.allow) == 0:
		return a.initReplaceOnly(f, from, path)
	case there && f.from != "":
		return console.Usage("init", errors.New(importAgain(path)), f.again()+" --replace   # "+onlyReplaces)
	case there:
		return console.Usage("init", errors.New(alreadyExists(path)), anotherFile)
	}
	if f.from != "" {
		return a.initImport(ctx, f, from, path)
	}
	file := initFile{path: path}
	if err := file.write([]byte(starterText)); err != nil {
		return console.Fault("init", err)
	}
	return a.tellInit(initReport{File: path, usual: a.isUsual(path), Next: []string{
		a.initCommandLine("config show", path), a.initCommandLine("setup claude-code --write", path),
	}})
}

// initPath returns the absolute path of the file to write. there reports whether the
// file exists.
func (a *Commands) initPath(out string) (path string, there bool, err error) {
	sources := settings.Sources{Path: *a.Config, Environ: a.Environ}
	if out != "" {
		sources.Path = out
	}
	path, _, err = settings.Path(sources)
	if err != nil {
		return "", false, a.ConfigFault(err)
	}
	if path == "" {
		return "", false, console.Usage("init", errors.New(noDirectoryHere), "patterngate init -o FILE")
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", false, console.Fault("init", err)
	}
	switch _, err = os.Lstat(path); {
	case err == nil:
		return path, true, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", false, console.Fault("init", err)
	}
	return path, false, nil
}

// initImport writes the file from a client's servers.
func (a *Commands) initImport(ctx context.Context, f initFlags, from ClientFile, path string) error {
	servers, err := a.imported(ctx, f, from, path)
	if err != nil {
		return err
	}
	keys := initQuestions{bufio.NewReader(a.In), a.Err, a.Paint}
	if !f.silent(a) {
		if err := keys.choose(ctx, servers); err != nil {
			fmt.Fprintln(a.Err, nothingWritten)
			return err
		}
	}
	noteNetworks(servers)
	file := initFile{path: path}
	file.keepSecrets(servers)
	report, err := a.writeImported(from, &file, servers)
	if err != nil {
		return err
	}
	if len(file.older) > 0 {
		report.Warnings = append(report.Warnings, olderSecrets(file.older))
	}
	if !report.enabled() && slices.ContainsFunc(servers, func(s Server) bool { return len(s.tools) > 0 }) {
		report.Warnings = append(report.Warnings, noneEnabled(report.File, f.enables(a, servers)))
	}
	if err := a.initReplace(ctx, f, keys, from, servers, &report); err != nil {
		return errors.Join(a.tellInit(report), err)
	}
	return a.tellInit(report)
}

// imported starts each of the client's servers once, and marks the tools that the flags name. It returns the servers with
// names that the file can use.
func (a *Commands) imported(ctx context.Context, f initFlags, from ClientFile, path string) ([]Server, error) {
	self, _ := os.Executable() // without it only the name identifies the entry
	found, err := from.servers(self)
	if err != nil {
		return nil, a.Fault(err)
	}
	if len(found) == 0 {
		return nil, console.Usage("init --import", fmt.Errorf("%s: %w", from.File.Path, errNoServers), "patterngate init")
	}
	if len(found) > maxImported {
		return nil, console.Usage("init --import", errors.New(tooManyServers(from.File.Path, len(found), maxImported)), fewerServers)
	}
	translate := translator{runtime.GOOS, a.Environ}
	servers := make([]Server, len(found))
	for i, s := range found {
		servers[i] = translate.entry(s)
	}
	NameServers(servers)
	if err := f.chosen.check(servers, f.again()); err != nil {
		return nil, err
	}
	for i := range servers {
		servers[i].reaches(settings.Sources{Environ: a.Environ}, filepath.Dir(path), a.stateDirectory())
	}
	fmt.Fprintln(a.Err, starting(console.Plural(int64(len(servers)), "server"), console.OtherText(from.title(), 300), startWithin))
	progress := a.Spin(waitingForServers)
	defer progress.Stop()
	a.startServers(ctx, servers, func(s Server) {
		words := console.Plural(int64(len(s.tools)), "tool")
		if s.problem != "" {
			words = notStarted // the report gives the reason
		}
		progress.Pause(func() { fmt.Fprintf(a.Err, "  %s: %s\n", console.OtherName(s.Name), words) })
	})
	progress.Stop()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := f.chosen.apply(servers, f.again()); err != nil {
		return nil, err
	}
	reserved, err := a.reservedNames()
	if err != nil {
		return nil, err
	}
	nameTools(servers, reserved)
	return servers, nil
}

// stateDirectory returns the default directory of the state file, or "" if there is none.
func (a *Commands) stateDirectory() string {
	path, f := settings.DefaultState(runtime.GOOS, a.Environ, settings.StateFile)
	if f.Reason != "" || path == "" {
		return ""
	}
	return filepath.Dir(path)
}

// reservedNames returns the names of the demo's tools and of Patterngate's own. The file's tools need other names.
func (a *Commands) reservedNames() ([]string, error) {
	loaded, _, err := assembly.Load(settings.Sources{}, assembly.LoadOptions{})
	if err != nil {
		return nil, console.Fault("init", err)
	}
	d, err := assembly.Declare(loaded, nil)
	if err != nil {
		return nil, console.Fault("init", err)
	}
	names := slices.Clone(d.Tools.Names())
	s, err := loaded.Server(a.Environ, a.Logger(settings.Log{Level: "error"}, a.Err))
	if err != nil {
		return nil, console.Fault("init", err)
	}
	for _, t := range s.Tools() {
		names = append(names, t.Name)
	}
	return names, nil
}
