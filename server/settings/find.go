package settings

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// Path returns the path of the configuration file: --config, else PATTERNGATE_CONFIG, else patterngate/config.yaml in the
// user's config directory (that of os.UserConfigDir, from the given environment). If named is true, a flag or variable
// names the file, so it must exist. An empty path means that there is no config directory. Path never searches the working
// directory: a cloned repository could then start any program.
func Path(in Sources) (path string, named bool, err error) {
	faults := &yamldoc.Faults{}
	path, named, _ = in.path(faults)
	return path, named, faults.Err()
}

// path is Path that also returns the flag or variable that names the file, or "" for an argument.
func (in Sources) path(faults *yamldoc.Faults) (path string, named bool, by string) {
	if in.Path != "" {
		if in.Argument {
			return in.Home(in.Path), true, ""
		}
		return in.Home(in.Path), true, "--config"
	}
	if path := machine.Lookup(in.Environ, PathVariable); path != "" {
		return in.Home(path), true, PathVariable
	}
	dir, relative := machine.ConfigDir(runtime.GOOS, in.Environ)
	if relative != "" {
		faults.Add(yamldoc.Place{Source: "XDG_CONFIG_HOME"}, nil, yamldoc.Fault{Reason: relativePath, Got: yamldoc.Quoted(relative), Want: wantAbsolutePath})
	}
	if dir == "" {
		return "", false, ""
	}
	return filepath.Join(dir, "patterngate", "config.yaml"), false, ""
}

// Home replaces ~/ with the home directory.
func (in Sources) Home(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if home := machine.HomeDir(runtime.GOOS, in.Environ); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// file reads the configuration file. An empty path means that there is none. If text is nil and path is not, a fault says
// why.
func (in Sources) file(faults *yamldoc.Faults) (text []byte, path string) {
	path, named, by := in.path(faults)
	if path == "" {
		return nil, ""
	}
	if text, written := in.Texts[path]; written {
		return text, path
	}
	text, f := machine.ReadTrusted(path)
	switch {
	case f.Reason == "":
		return text, path
	case f.Reason == machine.NoSuchFile && !named:
		return nil, ""
	case f.Reason == machine.NoSuchFile:
		f.Want = wantFile
		if by != "" {
			f.Want = wantFileOrNone(by)
		}
	}
	faults.Unread = !strings.HasPrefix(f.Reason, machine.EveryoneMayWrite)
	faults.Add(yamldoc.Place{Source: path}, nil, f)
	return nil, path
}

// StatePath returns the path of the state file, even if the configuration has faults. The flag, the variable or the file
// names it, else it is the usual file. The usual file depends on whether a configuration exists, since one that does not
// load can declare tools. known is false if the part that can name another path could not be read.
func (in Sources) StatePath() (path string, known bool) {
	faults := &yamldoc.Faults{}
	read := newLoader(faults, in.Home)
	key := stateKey("state", &path)
	at := (*yamldoc.Path)(nil).Key(key.Name)
	text, found := in.file(faults)
	known = found == ""
	usual := StateFile
	if known && len(faults.Found) == 0 { // no file: all tools are the demo's
		usual = DemoStateFile
	}
	if text != nil {
		root := yamldoc.Read(found, text, faults)
		known = root.Kind == yamldoc.Mapping || root.Kind == yamldoc.Null // an empty file names no state
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
		path, _ = DefaultState(runtime.GOOS, in.Environ, usual)
	}
	return path, known
}
