package doctor

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"patterngate/patterns"
	"patterngate/server/assembly"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/importer"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// slowStart is the time to the first answer from which doctor reports a slow start. Clients wait for 30 seconds or more.
const slowStart = 5 * time.Second

// clientStart is how a client starts a program: command, arguments, whole environment and directory.
type clientStart struct {
	command string
	args    []string
	environ []string
	dir     string
}

// passedOn are the variables that clients pass on to a server (the official SDKs and Codex). A client that is not listed
// passes on all.
var passedOn = map[string][]string{
	"claude-desktop": {}, "vscode": {}, "cursor": {},
	"codex":     {"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"},
	"inspector": {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"},
}

// windowsPassed are the variables that programs on Windows need to start.
var windowsPassed = []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "SYSTEMDRIVE", "SYSTEMROOT", "SystemRoot", "TEMP", "USERNAME", "USERPROFILE"}

// startAs returns how a client starts an entry on this machine. A desktop client does not have the PATH of a shell.
func startAs(host clientfile.Host, client clientfile.Client, s importer.ClientServer) clientStart {
	start := clientStart{command: s.Command, args: s.Args, dir: s.Dir}
	names, limited := passedOn[client.Name]
	switch {
	case !limited:
		start.environ = append(start.environ, host.Environ...)
	case host.Goos == "windows":
		names = windowsPassed
	case len(names) == 0:
		names = []string{"HOME"}
		start.environ = append(start.environ, "PATH="+importer.DesktopPath)
	}
	for _, name := range append(names, s.Passes...) {
		if v := host.Variable(name); v != "" {
			start.environ = append(start.environ, name+"="+v)
		}
	}
	for _, v := range s.Env {
		start.environ = append(start.environ, v.Name+"="+v.Text)
	}
	if start.dir == "" && limited && len(passedOn[client.Name]) == 0 && host.Goos != "windows" {
		start.dir = "/"
		if home := machine.HomeDir(host.Goos, host.Environ); client.Name != "claude-desktop" && home != "" {
			start.dir = home
		}
	}
	if start.dir == "" {
		start.dir, _ = os.Getwd()
	}
	return start
}

// examineEntry starts the entry and checks what it serves. It returns the served catalog and the configuration's
// file. Without a file, or if it cannot be read, they are zero.
func (a *Commands) examineEntry(ctx context.Context, host clientfile.Host, client clientfile.Client, s importer.ClientServer, f *findings) (tools.Catalog, string) {
	setup := setupFix(client.Name)
	if s.Name != "patterngate" {
		setup += " --name " + console.ShellWord(host.Goos, s.Name)
	}
	switch {
	case s.Problem != "":
		f.fail("entry", setup, entryProblem(s.Name, s.Problem))
		return tools.Catalog{}, ""
	case s.Off:
		f.fail("entry", fixDisabled, disabled(s.Name))
	default:
		f.ok("entry", starts(s.Name, clientfile.CommandLine(host.Goos, clientfile.Entry{Command: s.Command, Args: s.Args})))
	}
	start := startAs(host, client, s)
	path := machine.Lookup(start.environ, "PATH")
	if start.command = commandIn(start, host.Goos); start.command == "" {
		f.fail("start", setup, noProgram(s.Command, path, client.Title))
		return tools.Catalog{}, ""
	}
	as := servedBy(start)
	f.uses(as.from(), host.Environ)
	loaded := as.examineConfig(start.dir, f)
	if loaded != nil {
		examineNames(ctx, &loaded.Catalog, f)
	}
	a.examineServer(ctx, start, s.Name, loaded != nil, f)
	if loaded == nil {
		return tools.Catalog{}, ""
	}
	defer loaded.Close() // ends the servers
	if _, limited := passedOn[client.Name]; !limited {
		examineShell(&loaded.Catalog, s.Env, host.Environ, f)
	}
	examineBehind(ctx, loaded, variables{start.environ, host.Environ}, f)
	as.examineState(loaded.State, f)
	return loaded.Catalog, loaded.Path
}

// commandIn returns the path of the program that the client starts, or "" if there is none.
func commandIn(start clientStart, goos string) string {
	if strings.ContainsAny(start.command, `/\`) {
		return importer.ProgramAt(start.command, goos)
	}
	return importer.ProgramIn(start.command, machine.Lookup(start.environ, "PATH"), goos)
}

// entryProgram is this program with the flags and the environment of a client's entry.
type entryProgram struct{ *invocation.StateFile }

// servedBy returns the program as the client starts it. It prints nothing.
func servedBy(start clientStart) entryProgram {
	as := entryProgram{invocation.NewStateFile(&invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Environ: start.environ, Color: "never"}}, nil, nil)}
	flags := map[string]*string{"--config": &as.Config, "--state": &as.State, "--http": &as.HTTP, "--token-file": &as.TokenFile, "--inbox": &as.Inbox}
	for i, arg := range start.args {
		name, value, given := strings.Cut(arg, "=")
		target, ours := flags[name]
		switch {
		case !ours:
		case given:
			*target = value
		case i+1 < len(start.args):
			*target = start.args[i+1]
		}
	}
	return as
}

// examineConfig loads the configuration as the program does that is started in dir. It returns nil if it does not load.
// examineServer reports the held tools, each with its fix.
func (a entryProgram) examineConfig(dir string, f *findings) *assembly.Loaded {
	loaded, _ := examineConfig(a.from(), dir, f)
	return loaded
}

// from returns where the program takes its configuration from.
func (a entryProgram) from() settings.Sources {
	return settings.Sources{Path: a.Config, State: a.State, HTTP: a.HTTP, TokenFile: a.TokenFile, Inbox: a.Inbox, Environ: a.Environ}
}

// examineConfig loads a configuration whose programs start in dir. It returns the held tools, which it does not report. It
// returns nil if the configuration does not load.
func examineConfig(from settings.Sources, dir string, f *findings) (*assembly.Loaded, []heldRow) {
	loaded, warnings, err := assembly.Load(from, assembly.LoadOptions{Dir: dir, StartWithin: startsWithin})
	if faults, ok := errors.AsType[*yamldoc.Error](err); ok {
		for i, fault := range faults.Faults {
			switch {
			case i < 3:
				f.fail("config", cmp.Or(fault.Want, fixConfig), fault.String())
			case i == 3:
				f.fail("config", fixMoreFault+f.with, moreFaults(len(faults.Faults)-i))
			}
		}
		return nil, nil
	}
	if err != nil {
		f.fail("config", fixConfig, err.Error())
		return nil, nil
	}
	var held []heldRow
	shown := 0
	for _, w := range warnings {
		switch known := slices.ContainsFunc(held, func(h heldRow) bool { return h.name == w.Held }); {
		case w.Held != "" && !known:
			held = append(held, heldRow{w.Held, "held", strings.TrimPrefix(w.Reason, "held: ")})
		case w.Held == "" && shown < 5:
			shown++
			f.warn("config", "", w.String())
		}
	}
	f.ok("config", cmp.Or(loaded.Path, embedded))
	return &loaded, held
}

// examineHere checks the configuration that the shell would use, and the servers behind it. It does not open the state file.
func (a *Commands) examineHere(ctx context.Context, f *findings) {
	dir, _ := os.Getwd() // without it the servers' own directories count
	from := a.Sources()
	f.uses(from, a.Environ)
	loaded, held := examineConfig(from, dir, f)
	if loaded == nil {
		return
	}
	defer loaded.Close() // ends the servers
	examineNames(ctx, &loaded.Catalog, f)
	tellHeld(held, f)
	examineBehind(ctx, loaded, variables{from.Environ, from.Environ}, f)
}

// examineNames looks up the names of the hosts of tools and servers.
func examineNames(ctx context.Context, c *tools.Catalog, f *findings) {
	for _, closed := range c.ClosedNames(ctx) {
		f.warn("networks", fixNetworks, closed.Place+": "+closed.Why)
	}
}

// examineState opens the state file as commands do. It checks the approver keys and the kill switches.
func (a entryProgram) examineState(path string, f *findings) {
	if path == settings.MemoryState {
		f.warn("state", fixMemory, inMemory)
		return
	}
	if err := invocation.ReadyState(path, a.Environ); err != nil {
		f.fail("state", fixNoState, err.Error())
		return
	}
	if a.State != "" {
		f.with += withState(console.ShellWord(runtime.GOOS, path))
	}
	a.State = path // the state file is known now, and no other is possible
	err := a.WithNewApprovals("doctor", func(d statefile.Questions) error {
		ring, err := d.Keys()
		if err != nil {
			return err
		}
		f.ok("state", writable(path))
		switch keys := ring.Keys(); {
		case ring.Counts(console.Now()):
			f.ok("approvers", enrolled(len(keys)))
		default:
			f.ok("approvers", noKeys)
		}
		return examineSwitches(d, f)
	})
	if err != nil {
		f.fail("state", fixState, err.Error())
	}
}

// switchboard lists the kill switches that are on.
type switchboard interface {
	KillSwitches() ([]patterns.Switch, error)
}

// examineSwitches reports the kill switches that are on, if the state has any.
func examineSwitches(d statefile.Questions, f *findings) error {
	var board switchboard
	for _, part := range []any{d.Owner, d.Approvals} {
		if b, ok := part.(switchboard); ok {
			board = b
		}
	}
	if board == nil {
		return nil
	}
	list, err := board.KillSwitches()
	if err != nil {
		return err
	}
	for _, s := range list {
		what, flag := stoppedAll, ""
		switch {
		case s.Tool != "":
			what, flag = stoppedTool(s.Tool), " --tool "+console.ShellWord(runtime.GOOS, s.Tool)
		case s.Pattern != "":
			what, flag = stoppedPattern(s.Pattern), " --pattern "+console.ShellWord(runtime.GOOS, s.Pattern)
		}
		f.warn("kill switch", fixSwitches+flag+f.with, stopped(what, console.ClockText(s.At), s.By, s.Reason))
	}
	if len(list) == 0 {
		f.ok("kill switch", noSwitch)
	}
	return nil
}

// heldRow is a tool that cannot be called, from describe_catalog.
type heldRow struct{ name, state, why string }

// tellHeld adds the findings about tools that cannot be called: one for all held tools, and one for each other tool.
func tellHeld(rows []heldRow, f *findings) {
	var held []string
	for _, r := range rows {
		if r.state == "held" {
			held = append(held, r.name)
		}
	}
	for _, r := range rows {
		switch {
		case r.state != "held":
			f.warn("tools", fixTool+f.with, cannotBeCalled(r.name, r.state, r.why))
		case len(held) == 1:
			f.warn("tools", fixHeld+f.with, cannotBeCalled(r.name, r.state, r.why))
		case r.name == held[0]:
			f.warn("tools", fixHeld+f.with, allHeld(held))
		}
	}
}
