package machine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"patterngate/server/settings/yamldoc"
)

// Reasons of faults by which callers tell one case from another.
const (
	NoSuchFile       = noFile           // the whole reason
	EveryoneMayWrite = everyoneCanWrite // the reason begins with it
)

// ReadTrusted reads a file that only its owner and root can have written. It reads one byte more than [yamldoc.MaxBytes] of a longer file.
// The zero Fault means that the file was read.
func ReadTrusted(path string) ([]byte, yamldoc.Fault) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, yamldoc.Fault{Reason: NoSuchFile}
	}
	if err != nil {
		return nil, CannotRead(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, CannotRead(err)
	}
	if info.IsDir() {
		return nil, yamldoc.Fault{Reason: isDirectory, Want: wantFile}
	}
	if f := FaultOfWriters(path, info); f.Reason != "" {
		return nil, f
	}
	text, err := io.ReadAll(io.LimitReader(file, yamldoc.MaxBytes+1)) // one more says that it is too large
	if err != nil {
		return nil, CannotRead(err)
	}
	return text, yamldoc.Fault{}
}

// CannotRead returns the fault of a file that cannot be opened or read.
func CannotRead(err error) yamldoc.Fault {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return yamldoc.Fault{Reason: unreadable(err.Error()), Want: wantReadable}
}

// FaultOfWriters returns a fault if everyone may write to a file, or to its directory, unless that is sticky: then everyone may replace the
// file. If the path is a link, the directory of its target counts too. Windows has no such modes, and there is no fault.
func FaultOfWriters(path string, info fs.FileInfo) yamldoc.Fault {
	const all = 0o002
	if runtime.GOOS == "windows" {
		return yamldoc.Fault{}
	}
	if info.Mode().Perm()&all != 0 {
		return yamldoc.Fault{Reason: thisFile(EveryoneMayWrite), Want: wantFileMode}
	}
	dirs := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(target) != dirs[0] {
		dirs = append(dirs, filepath.Dir(target))
	}
	for _, dir := range dirs {
		at, err := os.Stat(dir)
		if err != nil {
			return CannotRead(err)
		}
		if at.Mode().Perm()&all != 0 && at.Mode()&fs.ModeSticky == 0 {
			return yamldoc.Fault{Reason: itsDirectory(EveryoneMayWrite, dir), Want: wantDirectoryMode}
		}
	}
	return yamldoc.Fault{}
}

// OthersRead reports whether others than the owner of a file may read or write it. Windows has no such modes, and it reports false.
func OthersRead(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// CauseOf returns an error about a file without the path. Callers have said the path already.
func CauseOf(err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		return cause.Err
	}
	return err
}
