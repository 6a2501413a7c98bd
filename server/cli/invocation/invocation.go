package invocation

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lmittmann/tint"

	"patterngate/ijson/printable"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// Invocation holds what every command gets: the console, and the values of the flags that name its configuration and its state
// file. An empty flag is not set. It is for one command at a time, and not safe for concurrent use.
type Invocation struct {
	console.Console

	Config    string                 // --config
	State     string                 // --state
	LogLevel  string                 // --log-level
	LogFormat string                 // --log-format
	HTTP      string                 // --http
	TokenFile string                 // --token-file
	Inbox     string                 // --inbox
	People    func(id string) string // returns the name that texts show for an id, such as "local:0 (root)"; nil: ids only
	warned    map[string]bool        // warnings that were already printed
	other     string                 // note that the other usual state file exists too; "": none
}

// ConfigFault returns the error of a configuration that does not load: all faults by place, with the exit code of usage.
func (a *Invocation) ConfigFault(err error) error {
	faults, ok := errors.AsType[*yamldoc.Error](err)
	if !ok {
		return console.Fault("config", err)
	}
	if a.JSON {
		if err := console.WriteJSON(a.Out, faults.Faults); err != nil {
			return err
		}
	}
	return &console.Error{Code: console.ExitUsage, Cause: faults}
}

// recordConfig is [Invocation.StateConfig] that refuses a wrong flag and a --config that names no file, because the user typed
// these for this command.
func (a *Invocation) recordConfig(what string) (assembly.Loaded, error) {
	if _, err := os.Stat(a.Config); a.Config != "" && errors.Is(err, os.ErrNotExist) {
		_, _, err := assembly.Load(a.Sources(), assembly.LoadOptions{})
		return assembly.Loaded{}, a.ConfigFault(err)
	}
	flags := settings.Sources{LogLevel: a.LogLevel, LogFormat: a.LogFormat, HTTP: a.HTTP, TokenFile: a.TokenFile, State: a.State, Inbox: a.Inbox}
	if _, _, err := assembly.Load(flags, assembly.LoadOptions{}); err != nil {
		return assembly.Loaded{}, a.ConfigFault(err)
	}
	return a.StateConfig(what, "this command needs only the state file ")
}

// StateConfig returns the configuration of a command that needs only the state file. Faults of the configuration file do not stop
// such a command. Then StateConfig returns the embedded configuration with the state file that the sources name, and prints a
// warning with needs and the name of that file. It never guesses the state file: if no source names it, it returns an error.
// what names the command in errors.
func (a *Invocation) StateConfig(what, needs string) (assembly.Loaded, error) {
	sources := a.Sources()
	loaded, warnings, err := assembly.Load(sources, assembly.LoadOptions{})
	faults, faulty := errors.AsType[*yamldoc.Error](err)
	if !faulty {
		a.Warn(withoutAdvice(warnings))
		if err != nil {
			return assembly.Loaded{}, a.ConfigFault(err)
		}
		return loaded, a.meant(loaded.Config)
	}
	loaded, _, err = assembly.Load(settings.Sources{}, assembly.LoadOptions{})
	if err != nil {
		return assembly.Loaded{}, a.ConfigFault(err)
	}
	c := loaded
	var known bool
	c.StateUsual = false
	c.State, known = sources.StatePath()
	if !known { // a switch in another file would stop nothing, and its runs would look like the right ones
		try := "--state FILE"
		if c.State != "" {
			try += ", which is " + c.State + " where the configuration names none"
		}
		return assembly.Loaded{}, console.Usage(what, fmt.Errorf("the path of the state file cannot be read: %s", Reason(faults)), try)
	}
	fmt.Fprintln(a.Err, printable.Text("warning: "+Reason(faults)+"; "+needs+c.State))
	return c, nil
}

// SystemPeople asks the operating system for the name of a user. It returns other ids, and ids of unknown users, unchanged.
func SystemPeople(id string) string {
	digits, local := strings.CutPrefix(id, "local:")
	uid, err := strconv.Atoi(digits)
	if !local || err != nil || strconv.Itoa(uid) != digits {
		return id
	}
	u, err := user.LookupId(digits)
	if uid == os.Getuid() {
		u, err = user.Current()
	}
	if err != nil || u.Username == "" {
		return id
	}
	return id + " (" + u.Username + ")"
}

// Named returns an id as texts show it, with the name of the user.
func (a *Invocation) Named(id string) string {
	if a.People == nil {
		return id
	}
	return a.People(id)
}

// loadState returns the configuration with a state file that exists and that no other user can write. Commands that look at
// recorded runs and decide about them need only that file, so a configuration with faults does not stop them.
func (a *Invocation) loadState() (assembly.Loaded, error) {
	c, err := a.recordConfig("state")
	if err != nil {
		return assembly.Loaded{}, err
	}
	return a.ExistingState(c)
}

// ExistingState returns the configuration if its state file exists and no other user can write it.
func (a *Invocation) ExistingState(c assembly.Loaded) (assembly.Loaded, error) {
	path := c.State
	if path == settings.MemoryState {
		return assembly.Loaded{}, console.Usage("state", errors.New("it is "+settings.MemoryState+": runs are only in the memory of the server"), "--state FILE")
	}
	if path != "" {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return assembly.Loaded{}, a.noState(path)
		}
	}
	return c, ReadyState(path, a.Environ)
}

// SetupFault returns the error of a client's file with faults, or another error unchanged.
func (a *Invocation) SetupFault(err error) error {
	if faults, ok := errors.AsType[*yamldoc.Error](err); ok {
		return a.ConfigFault(faults)
	}
	return err
}

// Load reads the configuration and prints its warnings, without those for commands that check a configuration.
func (a *Invocation) Load() (assembly.Loaded, error) {
	loaded, warnings, err := assembly.Load(a.Sources(), assembly.LoadOptions{})
	a.Warn(withoutAdvice(warnings))
	if err != nil {
		return assembly.Loaded{}, a.ConfigFault(err)
	}
	a.NoteUnused(loaded)
	return loaded, nil
}

// localFile is the name that the documentation gives to a configuration file in a project's directory.
const localFile = "patterngate.yaml"

// NoteUnused prints a note if no configuration file was found, and this directory has one that nothing names.
func (a *Invocation) NoteUnused(c assembly.Loaded) {
	if c.Path != "" || a.Config != "" {
		return
	}
	if info, err := os.Stat(localFile); err == nil && info.Mode().IsRegular() {
		a.note(unusedFile(localFile))
	}
}

// unusedFile returns the note about a configuration file that is not in use.
func unusedFile(name string) string {
	return fmt.Sprintf("note: %s in this directory is not in use. This is the embedded configuration; to use the file, give --config %[1]s", name)
}

// LoadToAccept is [Invocation.Load] for the command that accepts tools. It does not warn that tools are held.
func (a *Invocation) LoadToAccept() (assembly.Loaded, error) {
	loaded, warnings, err := assembly.Load(a.Sources(), assembly.LoadOptions{})
	a.Warn(slices.DeleteFunc(withoutAdvice(warnings), func(w yamldoc.Fault) bool { return w.Held != "" }))
	if err != nil {
		return assembly.Loaded{}, a.ConfigFault(err)
	}
	return loaded, nil
}

// LoadDocument is [Invocation.Load] for commands that need only what the file says.
func (a *Invocation) LoadDocument() (settings.Document, error) {
	loaded, err := a.Load()
	return loaded.Document, err
}

// Warn prints warnings. It prints each once in a command, even if the command reads the configuration several times. All held
// tools are one warning.
func (a *Invocation) Warn(warnings []yamldoc.Fault) {
	for _, w := range Gathered(warnings) {
		a.note(w.String())
	}
}

// withoutAdvice returns the warnings that commands print which do not check the configuration.
func withoutAdvice(warnings []yamldoc.Fault) []yamldoc.Fault {
	return slices.DeleteFunc(warnings, func(w yamldoc.Fault) bool { return w.Advice })
}

// Gathered returns the warnings with one for all held tools of a file, in place of the first of them.
func Gathered(warnings []yamldoc.Fault) []yamldoc.Fault {
	held := map[string][]string{} // by file
	for _, w := range warnings {
		if w.Held != "" && !slices.Contains(held[w.File], w.Held) {
			held[w.File] = append(held[w.File], w.Held)
		}
	}
	var list []yamldoc.Fault
	for _, w := range warnings {
		names, first := held[w.File]
		switch {
		case w.Held == "":
			list = append(list, w)
		case first:
			delete(held, w.File)
			list = append(list, yamldoc.Fault{File: w.File, Severity: yamldoc.SeverityWarning, Reason: heldTools(names), Want: wantAccept})
		}
	}
	return list
}

const (
	shownHeld  = 8 // names in the warning about held tools
	wantAccept = "run patterngate catalog accept"
)

// heldTools returns the warning about held tools.
func heldTools(names []string) string {
	if len(names) == 1 {
		return "1 tool is held until you accept it: " + names[0]
	}
	list := strings.Join(names[:min(len(names), shownHeld)], ", ")
	if more := len(names) - shownHeld; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d tools are held until you accept them: %s", len(names), list)
}

// note prints a line on standard error, once in a command.
func (a *Invocation) note(line string) {
	if a.warned[line] {
		return
	}
	if a.warned == nil {
		a.warned = map[string]bool{}
	}
	a.warned[line] = true
	fmt.Fprintln(a.Err, line)
}

// Sources returns the sources of this invocation's configuration.
func (a *Invocation) Sources() settings.Sources {
	return settings.Sources{
		Path: a.Config, LogLevel: a.LogLevel, LogFormat: a.LogFormat, HTTP: a.HTTP, TokenFile: a.TokenFile, State: a.State, Inbox: a.Inbox,
		Environ: a.Environ,
	}
}

// Logger returns a logger that writes to the given writer. Commands give it standard error, which is never part of a
// protocol.
func (a *Invocation) Logger(c settings.Log, to io.Writer) *slog.Logger {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(c.Level)) // checked when it was read; empty stays info
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: shownAttr}))
	}
	return slog.New(tint.NewTextHandler(to, &tint.Options{Level: level, NoColor: !a.Colored(), ReplaceAttr: shownAttr}))
}

// shownAttr replaces control and bidi characters in log values with visible text. Most handlers write some of them
// unchanged.
func shownAttr(_ []string, attr slog.Attr) slog.Attr {
	switch v := attr.Value.Any().(type) {
	case string:
		attr.Value = slog.StringValue(printable.Text(v))
	case error:
		attr.Value = slog.StringValue(printable.Text(v.Error()))
	}
	return attr
}

// ConfigPath returns the absolute path of the configuration that --config names, after it loaded without faults. It returns "" if
// the flag is not set.
func (a *Invocation) ConfigPath() (string, error) {
	if a.Config == "" {
		return "", nil
	}
	if _, err := a.Load(); err != nil {
		return "", err
	}
	path, err := filepath.Abs(settings.Sources{Environ: a.Environ}.Home(a.Config))
	if err != nil {
		return "", console.Fault("setup", err)
	}
	return path, nil
}

// Loads returns the error of the configuration at a path if it does not load with that environment. It reads no flags.
func (a *Invocation) Loads(path string, environ []string) error {
	if _, _, err := assembly.Load(settings.Sources{Path: path, Environ: environ}, assembly.LoadOptions{}); err != nil {
		return a.ConfigFault(err)
	}
	return nil
}

// Reason returns an error in one line, without details that only the log contains.
func Reason(err error) string {
	if faults, ok := errors.AsType[*yamldoc.Error](err); ok && len(faults.Faults) > 0 {
		text := faults.Faults[0].String()
		if more := len(faults.Faults) - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		return text
	}
	return err.Error()
}

// WholePath returns an absolute path, which is the same in every working directory; "" stays "".
func WholePath(path string) string {
	if path == "" {
		return ""
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
