package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"patterngate/server/assembly"

	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
	"patterngate/server/cli/inbox"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"

	"github.com/lmittmann/tint"
)

// invocation holds what every command gets: the console, and the flags that name its configuration and its state file.
type invocation struct {
	console.Console

	config    string // --config
	state     string // --state
	logLevel  string
	logFormat string
	http      string
	tokenFile string
	inboxAt   string          // --inbox
	people    people          // returns people's names in texts; nil: ids only
	warned    map[string]bool // warnings that were already printed
	other     string          // note that the other usual state file exists too; "": none
}

// configFault returns the error of a configuration that does not load: all faults by place, with the exit code of usage.
func (a *invocation) configFault(err error) error {
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

// switchConfig returns the configuration for commands that change or show kill switches. A configuration with faults does
// not stop them. Then it returns the embedded one with the state file that the sources name, and prints a line. It never
// guesses the state file.
func (a *invocation) switchConfig(what string) (assembly.Loaded, error) {
	c, err := a.stateConfig(what, "switches need no configuration; this command uses the state file ")
	if err == nil {
		a.noteOther()
	}
	return c, err
}

// recordConfig returns the configuration of a command that needs only the state file. It ignores faults of the configuration file, and
// refuses a wrong flag and a --config that names no file, because the user typed these for this command.
func (a *invocation) recordConfig(what string) (assembly.Loaded, error) {
	if _, err := os.Stat(a.config); a.config != "" && errors.Is(err, os.ErrNotExist) {
		_, _, err := assembly.Load(a.sources(), assembly.LoadOptions{})
		return assembly.Loaded{}, a.configFault(err)
	}
	flags := settings.Sources{LogLevel: a.logLevel, LogFormat: a.logFormat, HTTP: a.http, TokenFile: a.tokenFile, State: a.state, Inbox: a.inboxAt}
	if _, _, err := assembly.Load(flags, assembly.LoadOptions{}); err != nil {
		return assembly.Loaded{}, a.configFault(err)
	}
	return a.stateConfig(what, "this command needs only the state file ")
}

// stateConfig is recordConfig without the check of flags. If the configuration file has faults, it prints a warning with
// needs and the name of the state file.
func (a *invocation) stateConfig(what, needs string) (assembly.Loaded, error) {
	sources := a.sources()
	loaded, warnings, err := assembly.Load(sources, assembly.LoadOptions{})
	faults, faulty := errors.AsType[*yamldoc.Error](err)
	if !faulty {
		a.warn(warnings)
		if err != nil {
			return assembly.Loaded{}, a.configFault(err)
		}
		return loaded, a.meant(loaded.Config)
	}
	loaded, _, err = assembly.Load(settings.Sources{}, assembly.LoadOptions{})
	if err != nil {
		return assembly.Loaded{}, a.configFault(err)
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
		return assembly.Loaded{}, console.Usage(what, fmt.Errorf("which state file is meant cannot be read: %s", ownReason(faults)), try)
	}
	fmt.Fprintln(a.Err, printable.Text("warning: "+ownReason(faults)+"; "+needs+c.State))
	return c, nil
}

// people returns the name under which texts show an id, such as "local:0 (root)" for "local:0". Records, JSON and signatures contain
// only the id.
type people func(id string) string

// systemPeople asks the operating system for the name of a user. It returns other ids, and ids of unknown users, unchanged.
func systemPeople(id string) string {
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

// named returns an id as texts show it, with the name of the user.
func (a *invocation) named(id string) string {
	if a.people == nil {
		return id
	}
	return a.people(id)
}

// loadState returns the configuration with a state file that exists and that no other user can write. Commands that look at recorded
// runs and decide about them need no more than that file, so a configuration with faults does not stop them.
func (a *invocation) loadState() (assembly.Loaded, error) {
	c, err := a.recordConfig("state")
	if err != nil {
		return assembly.Loaded{}, err
	}
	return a.existingState(c)
}

// existingState returns the configuration if its state file exists and no other user can write it.
func (a *invocation) existingState(c assembly.Loaded) (assembly.Loaded, error) {
	path := c.State
	if path == settings.MemoryState {
		return assembly.Loaded{}, console.Usage("state", errors.New("it is "+settings.MemoryState+": runs are in the process that serves them, and nowhere else"), "--state FILE")
	}
	if path != "" {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return assembly.Loaded{}, a.noState(path)
		}
	}
	return c, readyState(path, a.Environ)
}

// setupFault returns the error of a client's file with faults, or another error unchanged.
func (a *invocation) setupFault(err error) error {
	if faults, ok := errors.AsType[*yamldoc.Error](err); ok {
		return a.configFault(faults)
	}
	return err
}

// load reads the configuration and prints its warnings.
func (a *invocation) load() (assembly.Loaded, error) {
	loaded, warnings, err := assembly.Load(a.sources(), assembly.LoadOptions{})
	a.warn(warnings)
	if err != nil {
		return assembly.Loaded{}, a.configFault(err)
	}
	return loaded, nil
}

// loadDocument is load for commands that need only what the file says.
func (a *invocation) loadDocument() (settings.Document, error) {
	loaded, err := a.load()
	return loaded.Document, err
}

// warn prints warnings. It prints each once in a command, even if the command reads the configuration several times.
func (a *invocation) warn(warnings []yamldoc.Fault) {
	for _, w := range warnings {
		a.note(w.String())
	}
}

// note prints a line on standard error, once in a command.
func (a *invocation) note(line string) {
	if a.warned[line] {
		return
	}
	if a.warned == nil {
		a.warned = map[string]bool{}
	}
	a.warned[line] = true
	fmt.Fprintln(a.Err, line)
}

// sources returns the sources of this invocation's configuration.
func (a *invocation) sources() settings.Sources {
	return settings.Sources{
		Path: a.config, LogLevel: a.logLevel, LogFormat: a.logFormat, HTTP: a.http, TokenFile: a.tokenFile, State: a.state, Inbox: a.inboxAt,
		Environ: a.Environ,
	}
}

// logger returns a logger that writes to the given writer. Commands give it standard error, which is never part of a
// protocol.
func (a *invocation) logger(c settings.Log, to io.Writer) *slog.Logger {
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

// configPath returns the absolute path of the configuration that --config names, after it loaded without faults; "" if the flag is not set.
func (a *invocation) configPath() (string, error) {
	if a.config == "" {
		return "", nil
	}
	if _, err := a.load(); err != nil {
		return "", err
	}
	path, err := filepath.Abs(settings.Sources{Environ: a.Environ}.Home(a.config))
	if err != nil {
		return "", console.Fault("setup", err)
	}
	return path, nil
}

// inboxLine returns the command line that signs a person in to the page of this configuration.
func (a *invocation) inboxLine(c settings.Config) string { return inbox.Line(a.config, c, a.Environ) }
