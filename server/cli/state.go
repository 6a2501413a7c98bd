package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// The state's names in the state directory.
const (
	stateFile     = "state.db"
	demoStateFile = "demo.db" // where all tools are the demo's
)

// defaultState is the path of that name in the state directory; empty, with the reason, where there is no such place.
func defaultState(goos string, environ []string, name string) (string, Fault) {
	dir, f := stateDir(goos, environ)
	if f.Reason != "" {
		return "", f
	}
	return filepath.Join(dir, "patterngate", name), Fault{}
}

// stateDir is the user's directory for state: that of the XDG base directory specification, and the like of it on macOS
// and Windows (design: $XDG_STATE_HOME, else ~/.local/state; ~/Library/Application Support; %LOCALAPPDATA%).
func stateDir(goos string, environ []string) (string, Fault) {
	none := func(variable string) Fault {
		return Fault{Reason: "no place for it: " + variable + " is not set", Want: "give --state FILE, or --state " + memoryState + " to keep nothing"}
	}
	home := homeDir(goos, environ)
	switch goos {
	case "windows":
		if dir := windowsVariable(environ, "LocalAppData"); dir != "" {
			return dir, Fault{}
		}
		return "", none("LOCALAPPDATA")
	case "darwin", "ios":
		if home == "" {
			return "", none("HOME")
		}
		return home + "/Library/Application Support", Fault{}
	}
	switch dir := lookup(environ, "XDG_STATE_HOME"); {
	case dir != "" && !strings.HasPrefix(dir, "/"):
		return "", Fault{Reason: "XDG_STATE_HOME is a relative path", Want: "write an absolute path there, or give --state FILE"}
	case dir != "":
		return dir, Fault{}
	case home == "":
		return "", none("HOME")
	case !strings.HasPrefix(home, "/"):
		return "", Fault{Reason: "HOME is a relative path", Want: "write an absolute path there, or give --state FILE"}
	}
	return home + "/.local/state", Fault{}
}

// readyState makes the state directory where it is not there, and refuses a place that others can change or read. An
// error ends the program with the exit code of usage.
func readyState(path string, environ []string) error {
	if path == memoryState {
		return nil
	}
	usual, f := defaultState(runtime.GOOS, environ, stateFile)
	if path != "" {
		f = Fault{}
		if path == usual || otherUsual(path, environ) == usual {
			f = makeDir(filepath.Dir(path))
		}
		if f.Reason == "" {
			f = faultOfState(path)
		}
	}
	if f.Reason == "" {
		return nil
	}
	f.File, f.Path, f.Severity = path, "state", SeverityFault
	if path == "" {
		f.File, f.Path = "state", ""
	}
	return &commandError{code: exitUsage, cause: &ConfigError{Faults: []Fault{f}}}
}

func makeDir(dir string) Fault {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Fault{Reason: "cannot make " + dir + ": " + causeOf(err), Want: "let this user write there, or give --state FILE"}
	}
	return Fault{}
}

// faultOfState looks at the file and what lies about it. SQLite keeps two files beside it while it is open.
func faultOfState(path string) Fault {
	if strings.HasPrefix(path, "~/") {
		return Fault{Reason: "there is no home directory for ~", Want: "write the whole path"}
	}
	dirs := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(target) != dirs[0] {
		dirs = append(dirs, filepath.Dir(target))
	}
	const owners = ".owners" // who carries runs on, as locked files
	if _, err := os.Stat(path + owners); err == nil {
		dirs = append(dirs, path+owners)
	}
	for _, dir := range dirs {
		if f := faultOfStateDir(dir); f.Reason != "" {
			return f
		}
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if f := faultOfStateFile(path + suffix); f.Reason != "" {
			return f
		}
	}
	return Fault{}
}

func faultOfStateDir(dir string) Fault {
	const others = 0o022
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Fault{Reason: "no directory " + dir, Want: "make it: mkdir -m 700 " + dir}
	case err != nil:
		return Fault{Reason: "the directory " + dir + " cannot be read: " + causeOf(err), Want: "let this user read it"}
	case !info.IsDir():
		return Fault{Reason: dir + " is no directory", Want: "write the path of a file in a directory"}
	case runtime.GOOS == "windows":
		return Fault{}
	case info.Mode().Perm()&others != 0 && info.Mode()&fs.ModeSticky == 0:
		return Fault{Reason: fmt.Sprintf("others may write to the directory %s (mode %04o)", dir, info.Mode().Perm()), Want: "chmod go-w " + dir}
	case foreign(info) && !ownedByRoot(info):
		return Fault{Reason: "the directory " + dir + " belongs to another user", Want: "write a path in a directory of your own"}
	}
	return Fault{}
}

func faultOfStateFile(path string) Fault {
	const others = 0o077
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Fault{}
	case err != nil:
		return Fault{Reason: path + " cannot be read: " + causeOf(err), Want: "let this user read it"}
	case info.IsDir():
		return Fault{Reason: "a directory", Want: "write the path of a file: " + filepath.Join(path, stateFile)}
	case !info.Mode().IsRegular():
		return Fault{Reason: path + " is not a regular file", Want: "write the path of a file"}
	case runtime.GOOS == "windows":
		return Fault{}
	case info.Mode().Perm()&others != 0:
		return Fault{Reason: fmt.Sprintf("mode %04o of %s lets others at it", info.Mode().Perm(), path), Want: "chmod 600 " + path}
	case foreign(info):
		return Fault{Reason: path + " belongs to another user", Want: "write the path of a file of your own"}
	}
	return Fault{}
}

// causeOf is an error about a file without its path, which is told elsewhere.
func causeOf(err error) string {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return "a part of the path is no directory"
	}
	return err.Error()
}
