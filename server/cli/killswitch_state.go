package cli

import (
	"runtime"
	"slices"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

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
