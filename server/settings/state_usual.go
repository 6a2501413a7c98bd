package settings

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// OnlyDemo reports whether all tools are the demo's: the demo is on, and the file has no catalog and no pattern of its own.
func (c Config) OnlyDemo() bool {
	return c.DemoOn() && !c.Catalog.Declared && !slices.ContainsFunc(c.Patterns, Pattern.IsOwn)
}

// UsualState returns the state file of a configuration that names none. Runs of the demo and runs with real tools have
// different files. It returns "" if there is no state directory; [DefaultState] says why.
func (c Config) UsualState(environ []string) string {
	name := StateFile
	if c.OnlyDemo() {
		name = DemoStateFile
	}
	path, _ := DefaultState(runtime.GOOS, environ, name)
	return path
}

// OtherUsual returns the other of the two usual state files if path is one of them, else "".
func OtherUsual(path string, environ []string) string {
	for name, other := range map[string]string{StateFile: DemoStateFile, DemoStateFile: StateFile} {
		if usual, _ := DefaultState(runtime.GOOS, environ, name); usual != "" && usual == path {
			return filepath.Join(filepath.Dir(path), other)
		}
	}
	return ""
}

// StateFile is the name of the usual state file of runs with real tools.
const StateFile = "state.db"

// DemoStateFile is the name of the usual state file while all tools are the demo's.
const DemoStateFile = "demo.db" // used while all tools are the demo's

// DefaultState returns the path of that name in the state directory. If there is no such directory, it returns "" and the
// reason.
func DefaultState(goos string, environ []string, name string) (string, yamldoc.Fault) {
	dir, f := stateDir(goos, environ)
	if f.Reason != "" {
		return "", f
	}
	return filepath.Join(dir, "patterngate", name), yamldoc.Fault{}
}

// stateDir returns the user's state directory. It is that of the XDG base directory specification ($XDG_STATE_HOME, else
// ~/.local/state), or its equivalent on macOS (~/Library/Application Support) and Windows (%LOCALAPPDATA%).
func stateDir(goos string, environ []string) (string, yamldoc.Fault) {
	none := func(variable string) yamldoc.Fault {
		return yamldoc.Fault{Reason: noDefaultPlace(variable), Want: wantState(MemoryState)}
	}
	home := machine.HomeDir(goos, environ)
	switch goos {
	case "windows":
		if dir := machine.WindowsVariable(environ, "LocalAppData"); dir != "" {
			return dir, yamldoc.Fault{}
		}
		return "", none("LOCALAPPDATA")
	case "darwin", "ios":
		if home == "" {
			return "", none("HOME")
		}
		return home + "/Library/Application Support", yamldoc.Fault{}
	}
	switch dir := machine.Lookup(environ, "XDG_STATE_HOME"); {
	case dir != "" && !strings.HasPrefix(dir, "/"):
		return "", yamldoc.Fault{Reason: stateHomeRelative, Want: wantAbsoluteOrState}
	case dir != "":
		return dir, yamldoc.Fault{}
	case home == "":
		return "", none("HOME")
	case !strings.HasPrefix(home, "/"):
		return "", yamldoc.Fault{Reason: homeRelative, Want: wantAbsoluteOrState}
	}
	return home + "/.local/state", yamldoc.Fault{}
}
