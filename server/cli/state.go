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

	"patterngate/server/cli/console"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// The state's names in the state directory.
const (
	stateFile     = "state.db"
	demoStateFile = "demo.db" // where all tools are the demo's
)

// defaultState is the path of that name in the state directory; empty, with the reason, where there is no such place.
func defaultState(goos string, environ []string, name string) (string, yamldoc.Fault) {
	dir, f := stateDir(goos, environ)
	if f.Reason != "" {
		return "", f
	}
	return filepath.Join(dir, "patterngate", name), yamldoc.Fault{}
}

// stateDir is the user's directory for state: that of the XDG base directory specification, and the like of it on macOS
// and Windows (design: $XDG_STATE_HOME, else ~/.local/state; ~/Library/Application Support; %LOCALAPPDATA%).
func stateDir(goos string, environ []string) (string, yamldoc.Fault) {
	none := func(variable string) yamldoc.Fault {
		return yamldoc.Fault{Reason: "no place for it: " + variable + " is not set", Want: "give --state FILE, or --state " + memoryState + " to keep nothing"}
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
		return "", yamldoc.Fault{Reason: "XDG_STATE_HOME is a relative path", Want: "write an absolute path there, or give --state FILE"}
	case dir != "":
		return dir, yamldoc.Fault{}
	case home == "":
		return "", none("HOME")
	case !strings.HasPrefix(home, "/"):
		return "", yamldoc.Fault{Reason: "HOME is a relative path", Want: "write an absolute path there, or give --state FILE"}
	}
	return home + "/.local/state", yamldoc.Fault{}
}

// readyState makes the state directory where it is not there, and refuses a place that others can change or read. An
// error ends the program with the exit code of usage.
func readyState(path string, environ []string) error {
	if path == memoryState {
		return nil
	}
	usual, f := defaultState(runtime.GOOS, environ, stateFile)
	if path != "" {
		f = yamldoc.Fault{}
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
	f.File, f.Path, f.Severity = path, "state", yamldoc.SeverityFault
	if path == "" {
		f.File, f.Path = "state", ""
	}
	return &console.Error{Code: console.ExitUsage, Cause: &yamldoc.Error{Faults: []yamldoc.Fault{f}}}
}

func makeDir(dir string) yamldoc.Fault {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return yamldoc.Fault{Reason: "cannot make " + dir + ": " + causeOf(err), Want: "let this user write there, or give --state FILE"}
	}
	return yamldoc.Fault{}
}

// faultOfState looks at the file and what lies about it. SQLite keeps two files beside it while it is open.
func faultOfState(path string) yamldoc.Fault {
	if strings.HasPrefix(path, "~/") {
		return yamldoc.Fault{Reason: "there is no home directory for ~", Want: "write the whole path"}
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
	return yamldoc.Fault{}
}

func faultOfStateDir(dir string) yamldoc.Fault {
	const others = 0o022
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return yamldoc.Fault{Reason: "no directory " + dir, Want: "make it: mkdir -m 700 " + dir}
	case err != nil:
		return yamldoc.Fault{Reason: "the directory " + dir + " cannot be read: " + causeOf(err), Want: "let this user read it"}
	case !info.IsDir():
		return yamldoc.Fault{Reason: dir + " is no directory", Want: "write the path of a file in a directory"}
	case runtime.GOOS == "windows":
		return yamldoc.Fault{}
	case info.Mode().Perm()&others != 0 && info.Mode()&fs.ModeSticky == 0:
		return yamldoc.Fault{Reason: fmt.Sprintf("others may write to the directory %s (mode %04o)", dir, info.Mode().Perm()), Want: "chmod go-w " + dir}
	case machine.IsForeign(info) && !machine.OwnedByRoot(info):
		return yamldoc.Fault{Reason: "the directory " + dir + " belongs to another user", Want: "write a path in a directory of your own"}
	}
	return yamldoc.Fault{}
}

func faultOfStateFile(path string) yamldoc.Fault {
	const others = 0o077
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return yamldoc.Fault{}
	case err != nil:
		return yamldoc.Fault{Reason: path + " cannot be read: " + causeOf(err), Want: "let this user read it"}
	case info.IsDir():
		return yamldoc.Fault{Reason: "a directory", Want: "write the path of a file: " + filepath.Join(path, stateFile)}
	case !info.Mode().IsRegular():
		return yamldoc.Fault{Reason: path + " is not a regular file", Want: "write the path of a file"}
	case runtime.GOOS == "windows":
		return yamldoc.Fault{}
	case info.Mode().Perm()&others != 0:
		return yamldoc.Fault{Reason: fmt.Sprintf("mode %04o of %s lets others at it", info.Mode().Perm(), path), Want: "chmod 600 " + path}
	case machine.IsForeign(info):
		return yamldoc.Fault{Reason: path + " belongs to another user", Want: "write the path of a file of your own"}
	}
	return yamldoc.Fault{}
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
