package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"patterngate/server/cli/console"
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
	if path := console.Lookup(in.Environ, configVariable); path != "" {
		return in.home(path), true, configVariable
	}
	dir, relative := console.ConfigDir(runtime.GOOS, in.Environ)
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
	if home := console.HomeDir(runtime.GOOS, in.Environ); ok && home != "" {
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
	text, f := readConfigFile(path)
	switch {
	case f.Reason == "":
		return text, path
	case f.Reason == noSuchFile && !named:
		return nil, ""
	case f.Reason == noSuchFile:
		f.Want = "write the path of a file, or leave " + by + " out"
	}
	faults.Unread = !strings.HasPrefix(f.Reason, everyoneMayWrite)
	faults.Add(yamldoc.Place{Source: path}, nil, f)
	return nil, path
}

const (
	noSuchFile       = "no such file"
	everyoneMayWrite = "everyone may write to "
)

// readConfigFile reads a file that nobody else can have written.
func readConfigFile(path string) ([]byte, yamldoc.Fault) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, yamldoc.Fault{Reason: noSuchFile}
	}
	if err != nil {
		return nil, cannotRead(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, cannotRead(err)
	}
	if info.IsDir() {
		return nil, yamldoc.Fault{Reason: "a directory", Want: "write the path of a file"}
	}
	if f := openToAll(path, info); f.Reason != "" {
		return nil, f
	}
	text, err := io.ReadAll(io.LimitReader(file, yamldoc.MaxBytes+1)) // one more says that it is too large
	if err != nil {
		return nil, cannotRead(err)
	}
	return text, yamldoc.Fault{}
}

func cannotRead(err error) yamldoc.Fault {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return yamldoc.Fault{Reason: "cannot be read: " + err.Error(), Want: "let this user read it"}
}

// openToAll refuses a file that everyone may write to, or may replace because its directory is so (a sticky one
// is not). Where the path is a link, the directory of its target counts too. Windows has no such modes.
func openToAll(path string, info fs.FileInfo) yamldoc.Fault {
	const all = 0o002
	if runtime.GOOS == "windows" {
		return yamldoc.Fault{}
	}
	if info.Mode().Perm()&all != 0 {
		return yamldoc.Fault{Reason: everyoneMayWrite + "this file", Want: "chmod o-w it"}
	}
	dirs := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(target) != dirs[0] {
		dirs = append(dirs, filepath.Dir(target))
	}
	for _, dir := range dirs {
		at, err := os.Stat(dir)
		if err != nil {
			return cannotRead(err)
		}
		if at.Mode().Perm()&all != 0 && at.Mode()&fs.ModeSticky == 0 {
			return yamldoc.Fault{Reason: everyoneMayWrite + "its directory " + dir, Want: "chmod o-w the directory"}
		}
	}
	return yamldoc.Fault{}
}
