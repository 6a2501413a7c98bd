package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
)

// onlyDemo reports that every tool is make-believe: the demo is on, and the file has no catalog and no pattern of its own.
func (c Config) onlyDemo() bool {
	return c.DemoOn() && !c.Catalog.Declared && !slices.ContainsFunc(c.Patterns, PatternConfig.own)
}

// usualState returns the state file of a configuration that names none. Runs of the demo and runs with real tools have different ones.
// It returns "" if there is no state directory; [readyState] says why.
func (c Config) usualState(environ []string) string {
	name := stateFile
	if c.onlyDemo() {
		name = demoStateFile
	}
	path, _ := defaultState(runtime.GOOS, environ, name)
	return path
}

// otherUsual is the second one of the two usual files where path is one of them, else empty.
func otherUsual(path string, environ []string) string {
	for name, other := range map[string]string{stateFile: demoStateFile, demoStateFile: stateFile} {
		if usual, _ := defaultState(runtime.GOOS, environ, name); usual != "" && usual == path {
			return filepath.Join(filepath.Dir(path), other)
		}
	}
	return ""
}

// thereIs reports whether there is such a file.
func thereIs(path string) bool {
	_, err := os.Stat(path)
	return path != "" && !errors.Is(err, fs.ErrNotExist)
}

// noState is the failure of a command whose state file is not there. It names the other usual file where that is there.
func (a *invocation) noState(path string) error {
	try := "--state FILE, where runs are recorded elsewhere"
	if other := otherUsual(path, a.Environ); thereIs(other) {
		holds := "runs with your own tools"
		if filepath.Base(other) == demoStateFile {
			holds = "runs of the demo"
		}
		try = "--state " + console.ShellWord(runtime.GOOS, other) + ", which exists and holds " + holds
	}
	return console.Usage("state", fmt.Errorf("there is no file %s: no run was recorded yet", path), try)
}

// meant checks the state file of a command that needs nothing else of the configuration. Without --config such a command sees
// the demo's file, while a server with a configuration of its own records in the other one. Where only the other one is there,
// the command makes none; where both are, [invocation.noteOther] can say so.
func (a *invocation) meant(c Config) error {
	other := otherUsual(c.State, a.Environ)
	if !c.StateUsual || !c.onlyDemo() || !thereIs(other) {
		return nil
	}
	if !thereIs(c.State) {
		return a.noState(c.State)
	}
	a.other = printable.Text("note: this is " + c.State + ", the state file of the demo. For runs with your own tools, give --config FILE or --state " +
		console.ShellWord(runtime.GOOS, other))
	return nil
}

// noteOther prints that the other usual state file exists too. Commands call it before a change, or if the file that they read does not
// have what they searched for.
func (a *invocation) noteOther() {
	if a.other != "" {
		a.note(a.other)
	}
}

// missed calls noteOther where a command failed by what was typed: it may name a run or an approval of the other file.
func (a *invocation) missed(err error) error {
	if failed, ok := errors.AsType[*console.Error](err); ok && failed.Code == console.ExitUsage {
		a.noteOther()
	}
	return err
}

// movedState returns an error for a reload that adds the first tool or pattern of the file's own, or removes the last one, if the state
// file has no explicit name. Without it, runs with real tools would be recorded beside those of the demo until the restart.
func movedState(from, to Config) error {
	if from.State == to.State || !from.StateUsual || !to.StateUsual {
		return nil
	}
	return fmt.Errorf("the changed file records runs in %s, and this program records in %s. Restart the program", to.State, from.State)
}
