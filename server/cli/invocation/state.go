package invocation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// ReadyState creates the usual state directory if it is missing, and refuses a place that other users can change or read. An
// error ends the program with the exit code of usage.
func ReadyState(path string, environ []string) error {
	if path == settings.MemoryState {
		return nil
	}
	usual, f := settings.DefaultState(runtime.GOOS, environ, settings.StateFile)
	if path != "" {
		f = yamldoc.Fault{}
		if path == usual || settings.OtherUsual(path, environ) == usual {
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

// faultOfState checks the state file, its directories and the files next to it. SQLite keeps two files there while the
// state file is open.
func faultOfState(path string) yamldoc.Fault {
	if strings.HasPrefix(path, "~/") {
		return yamldoc.Fault{Reason: "there is no home directory for ~", Want: "write the whole path"}
	}
	dirs := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(target) != dirs[0] {
		dirs = append(dirs, filepath.Dir(target))
	}
	const owners = ".owners" // the processes that continue runs, as locked files
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
		return yamldoc.Fault{Reason: dir + " is not a directory", Want: "write the path of a file in a directory"}
	case runtime.GOOS == "windows":
		return yamldoc.Fault{}
	case info.Mode().Perm()&others != 0 && info.Mode()&fs.ModeSticky == 0:
		return yamldoc.Fault{Reason: fmt.Sprintf("other users can write to the directory %s (mode %04o)", dir, info.Mode().Perm()), Want: "chmod go-w " + dir}
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
		return yamldoc.Fault{Reason: "a directory", Want: "write the path of a file: " + filepath.Join(path, settings.StateFile)}
	case !info.Mode().IsRegular():
		return yamldoc.Fault{Reason: path + " is not a regular file", Want: "write the path of a file"}
	case runtime.GOOS == "windows":
		return yamldoc.Fault{}
	case info.Mode().Perm()&others != 0:
		return yamldoc.Fault{Reason: fmt.Sprintf("mode %04o of %s lets other users open it", info.Mode().Perm(), path), Want: "chmod 600 " + path}
	case machine.IsForeign(info):
		return yamldoc.Fault{Reason: path + " belongs to another user", Want: "write the path of a file of your own"}
	}
	return yamldoc.Fault{}
}

// causeOf returns the text of an error about a file without its path, which the message contains elsewhere.
func causeOf(err error) string {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return "a part of the path is not a directory"
	}
	return err.Error()
}

// thereIs reports whether a file exists.
func thereIs(path string) bool {
	_, err := os.Stat(path)
	return path != "" && !errors.Is(err, fs.ErrNotExist)
}

// noState returns the error of a command whose state file does not exist. It names the other usual file if that exists.
func (a *Invocation) noState(path string) error {
	try := "--state FILE, if runs are recorded elsewhere"
	if other := settings.OtherUsual(path, a.Environ); thereIs(other) {
		holds := "runs with your own tools"
		if filepath.Base(other) == settings.DemoStateFile {
			holds = "runs of the demo"
		}
		try = "--state " + console.ShellWord(runtime.GOOS, other) + ", which exists and has " + holds
	}
	return console.Usage("state", fmt.Errorf("there is no file %s: no run has been recorded", path), try)
}

// meant checks the state file of a command that needs nothing else of the configuration. Without --config such a command
// uses the demo's file, while a server with its own configuration records in the other one. If only the other one exists,
// meant returns an error. If both exist, [Invocation.NoteOther] can print it.
func (a *Invocation) meant(c settings.Config) error {
	other := settings.OtherUsual(c.State, a.Environ)
	if !c.StateUsual || !c.OnlyDemo() || !thereIs(other) {
		return nil
	}
	if !thereIs(c.State) {
		return a.noState(c.State)
	}
	a.other = printable.Text("note: this is " + c.State + ", the state file of the demo. For runs with your own tools, give --config FILE or --state " +
		console.ShellWord(runtime.GOOS, other))
	return nil
}

// NoteOther prints that the other usual state file exists too. Commands call it before a change, or if the file that they read
// does not have what they searched for.
func (a *Invocation) NoteOther() {
	if a.other != "" {
		a.note(a.other)
	}
}

// missed calls NoteOther if a command failed because of its arguments, since they could name a run or an approval of the
// other file.
func (a *Invocation) missed(err error) error {
	if failed, ok := errors.AsType[*console.Error](err); ok && failed.Code == console.ExitUsage {
		a.NoteOther()
	}
	return err
}
