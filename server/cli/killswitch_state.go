package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// switchConfig is the configuration by which switches are turned and shown. One that does not load keeps nobody from that: then
// it is the embedded one over the state file that can still be known, and a line says so. Which one is meant is never guessed.
func (a *app) switchConfig(what string) (Loaded, error) {
	c, err := a.stateConfig(what, "switches need no configuration; this command uses the state file ")
	if err == nil {
		a.noteOther()
	}
	return c, err
}

// recordConfig returns the configuration of a command that needs only the state file. It ignores faults of the configuration file, and
// refuses a wrong flag and a --config that names no file, because the user typed these for this command.
func (a *app) recordConfig(what string) (Loaded, error) {
	if _, err := os.Stat(a.config); a.config != "" && errors.Is(err, os.ErrNotExist) {
		_, _, err := Load(a.sources(), LoadOptions{})
		return Loaded{}, a.configFault(err)
	}
	flags := ConfigSources{LogLevel: a.logLevel, LogFormat: a.logFormat, HTTP: a.http, TokenFile: a.tokenFile, State: a.state, Inbox: a.inboxAt}
	if _, _, err := Load(flags, LoadOptions{}); err != nil {
		return Loaded{}, a.configFault(err)
	}
	return a.stateConfig(what, "this command needs only the state file ")
}

// stateConfig is recordConfig without the check of flags. If the configuration file has faults, it prints a warning, in which needs
// stands before the name of the state file.
func (a *app) stateConfig(what, needs string) (Loaded, error) {
	sources := a.sources()
	loaded, warnings, err := Load(sources, LoadOptions{})
	faults, faulty := errors.AsType[*yamldoc.Error](err)
	if !faulty {
		a.warn(warnings)
		if err != nil {
			return Loaded{}, a.configFault(err)
		}
		return loaded, a.meant(loaded.Config)
	}
	loaded, _, err = Load(ConfigSources{}, LoadOptions{})
	if err != nil {
		return Loaded{}, a.configFault(err)
	}
	c := loaded
	var known bool
	c.StateUsual = false
	c.State, known = sources.statePath()
	if !known { // a switch in another one would stop nobody, and runs of another one would look like these
		try := "--state FILE"
		if c.State != "" {
			try += ", which is " + c.State + " where the configuration names none"
		}
		return Loaded{}, console.Usage(what, fmt.Errorf("which state file is meant cannot be read: %s", ownReason(faults)), try)
	}
	fmt.Fprintln(a.Err, printable.Text("warning: "+ownReason(faults)+"; "+needs+c.State))
	return c, nil
}

// statePath returns where runs are recorded, as far as a configuration with faults can say: the flag, the variable or the file names it.
// Otherwise it is the usual file. A file that does not load may declare tools of its own. known is false if the part that may name
// another path could not be read.
func (in ConfigSources) statePath() (path string, known bool) {
	faults := &yamldoc.Faults{}
	read := newLoader(faults, in.home)
	key := stateKey("state", &path)
	at := (*yamldoc.Path)(nil).Key(key.Name)
	text, found := in.file(faults)
	known = found == ""
	usual := stateFile
	if known && len(faults.Found) == 0 { // no file: all tools are the demo's
		usual = demoStateFile
	}
	if text != nil {
		root := yamldoc.Read(found, text, faults)
		known = root.Kind == yamldoc.Mapping || root.Kind == yamldoc.Null // a file that says nothing names no state
		if n := root.Member(key.Name); n != nil && n.Kind != yamldoc.Null && n.Kind != yamldoc.Unreadable {
			key.Read(read.Reader, n, at)
		}
		if slices.ContainsFunc(faults.Found, func(f yamldoc.Fault) bool { return f.Path == at.String() }) {
			path, known = "", false
		}
	}
	for _, o := range []struct{ source, text string }{{stateVariable, machine.Lookup(in.Environ, stateVariable)}, {"--state", in.State}} {
		if before := len(faults.Found); o.text != "" {
			read.override(o.source, key.Name, o.text, []grammar.Key{key})
			known = len(faults.Found) == before
		}
	}
	if path == "" {
		path, _ = defaultState(runtime.GOOS, in.Environ, usual)
	}
	return path, known
}
