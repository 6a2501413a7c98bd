package cli

import (
	"path/filepath"
	"runtime"
	"strings"

	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// ConfigPath is where the configuration is looked for: --config, else PATTERNGATE_CONFIG, else patterngate/config.yaml
// in the user's config directory (that of os.UserConfigDir, from the given environment). Named says that somebody
// named the file, so that it must exist. An empty path means that there is no such directory; the working directory
// is never searched, since a cloned repository could then start what it likes.
func ConfigPath(in ConfigSources) (path string, named bool, err error) {
	faults := &yamldoc.Faults{}
	path, named, _ = in.path(faults)
	return path, named, faults.Err()
}

// path also says who named the file.
func (in ConfigSources) path(faults *yamldoc.Faults) (path string, named bool, by string) {
	if in.Path != "" {
		return in.home(in.Path), true, "--config"
	}
	if path := machine.Lookup(in.Environ, configVariable); path != "" {
		return in.home(path), true, configVariable
	}
	dir, relative := machine.ConfigDir(runtime.GOOS, in.Environ)
	if relative != "" {
		faults.Add(yamldoc.Place{Source: "XDG_CONFIG_HOME"}, nil, yamldoc.Fault{Reason: "a relative path", Got: yamldoc.Quoted(relative), Want: "write an absolute path"})
	}
	if dir == "" {
		return "", false, ""
	}
	return filepath.Join(dir, "patterngate", "config.yaml"), false, ""
}

// home replaces ~/ by the home directory.
func (in ConfigSources) home(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if home := machine.HomeDir(runtime.GOOS, in.Environ); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// file reads the file. An empty path means that there is none; a nil text that a fault says why.
func (in ConfigSources) file(faults *yamldoc.Faults) (text []byte, path string) {
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
		f.Want = "write the path of a file, or leave " + by + " out"
	}
	faults.Unread = !strings.HasPrefix(f.Reason, machine.EveryoneMayWrite)
	faults.Add(yamldoc.Place{Source: path}, nil, f)
	return nil, path
}

const ()
