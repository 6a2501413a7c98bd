package clientfile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	"patterngate/server/cli/console"
	"patterngate/server/settings/yamldoc"
)

// maxBytes is the maximum size of a client's file.
const maxBytes = 8 << 20

// File is a client's file at the time of [Read].
type File struct {
	Path string      // the path that the caller gave
	Real string      // the path after all links
	Text []byte      // the whole text
	Info fs.FileInfo // nil if the file does not exist
}

// Read reads a client's file and follows links. A file that does not exist is no error: its Info is nil.
//
// Read returns a fault of the file (exit code 2) for a directory, another irregular file, and a path below a file. It does
// the same for a link without a target and for a file over 8 MiB. It returns a failure (exit code 1) if the system refuses the read.
func Read(path string) (File, error) {
	f := File{Path: path, Real: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case errors.Is(err, syscall.ENOTDIR):
		return f, f.Refused(belowFile, otherFile)
	case err != nil:
		return f, console.Fault("setup", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if f.Real, err = filepath.EvalSymlinks(path); errors.Is(err, fs.ErrNotExist) {
			return f, f.Refused(brokenLink, mendLink)
		} else if err != nil {
			return f, console.Fault("setup", err)
		}
	}
	if info, err = os.Stat(f.Real); err != nil {
		return f, console.Fault("setup", err)
	}
	switch {
	case info.IsDir():
		return f, f.Refused(aDirectory, nameFile)
	case !info.Mode().IsRegular():
		return f, f.Refused(notRegular, otherFile)
	}
	f.Info = info
	if f.Text, err = ReadBounded(f.Real); err != nil {
		return f, console.Fault("setup", err)
	}
	if len(f.Text) > maxBytes {
		return f, f.Refused(tooLarge, otherFile)
	}
	return f, nil
}

// ReadBounded reads a file, but at most 8 MiB and one byte. A result over 8 MiB means that the file is too large.
func ReadBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxBytes+1))
}

// Refused returns a fault of the whole file, with the reason and what the user should do.
func (f File) Refused(reason, want string) error {
	return f.Faulty(&textFault{offset: -1, reason: reason, want: want})
}

// Faulty adds the file's path to an error. For an error of a [Format] about the text it returns a [yamldoc.Error] with
// the line and column, if the position is known. For any other error it returns a failure of setup.
func (f File) Faulty(err error) error {
	if at, ok := errors.AsType[*textFault](err); ok {
		return &yamldoc.Error{Faults: []yamldoc.Fault{at.at(f.Path, f.Text)}}
	}
	return console.Fault("setup: "+f.Path, err)
}

// mode returns the file's permissions. For a new file it returns 0600, because such files hold keys.
func (f File) mode() fs.FileMode {
	if f.Info == nil {
		return 0o600
	}
	return f.Info.Mode().Perm()
}

// ReadOnly reports whether the owner has no permission to write the file. Callers must check it, because the rename in Write
// replaces a read-only file too.
func (f File) ReadOnly() bool { return f.Info != nil && f.Info.Mode()&0o200 == 0 }

// Write replaces the file's text in one step: it writes a temporary file in the same directory and renames it. It creates
// a missing directory with mode 0700. It returns an error if the file was changed after [Read], because its client may be
// running.
func (f File) Write(text []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.Real), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(f.Real), ".patterngate-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // after the rename there is no such file
	if err := errors.Join(f.fillFile(temp, text), temp.Close()); err != nil {
		return err
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), f.Real)
}

// fillFile writes text to a file, gives it the mode and the owner of f, and syncs it to disk.
func (f File) fillFile(file *os.File, text []byte) error {
	if _, err := file.Write(text); err != nil {
		return err
	}
	if f.Info != nil {
		if err := keepOwner(file, f.Info); err != nil {
			return err
		}
	}
	if err := file.Chmod(f.mode()); err != nil {
		return err
	}
	return file.Sync()
}

// unchanged returns an error if the file differs from what [Read] found.
func (f File) unchanged() error {
	now, err := ReadBounded(f.Real)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if missing != (f.Info == nil) || !bytes.Equal(now, f.Text) {
		return errors.New(changedMeanwhile)
	}
	return nil
}

// backupTime is the format of TIME in the name of a backup. A backup is in the directory of its file and its name is
// NAME.patterngate-TIME-SUM.bak. SUM is the [Sum] of the text that replaced the backup's text. So an undo finds the
// right backup without other records.
const backupTime = "20060102T150405Z"

var backupName = regexp.MustCompile(`^\.patterngate-(\d{8}T\d{6}Z)-([0-9a-f]{12})(?:-(\d{1,6}))?\.bak$`)

// Sum returns the first 6 bytes of the SHA-256 of a text, in hexadecimal.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// backup writes the text of f to a new file beside it and returns that file's path.
func (f File) backup(sum string, now time.Time) (string, error) {
	stem := f.Real + ".patterngate-" + now.UTC().Format(backupTime) + "-" + sum
	for i := 1; i < 1000; i++ {
		name := stem + ".bak"
		if i > 1 {
			name = fmt.Sprintf("%s-%d.bak", stem, i)
		}
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := errors.Join(f.fillFile(file, f.Text), file.Close()); err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
	return "", errors.New(tooManyBackups)
}

// Backup is one backup of a file.
type Backup struct {
	Path, time, Sum string // time and Sum are parts of the name; Sum is that of the text that replaced the backup
	number          int    // of several backups with the same time and Sum; 0 is the first
}

// Backups returns the backups of the file, the newest first.
func (f File) Backups() ([]Backup, error) {
	dir, base := filepath.Split(f.Real)
	files, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	var list []Backup
	for _, file := range files {
		name := file.Name()
		if len(name) <= len(base) || name[:len(base)] != base || !file.Type().IsRegular() {
			continue
		}
		if m := backupName.FindStringSubmatch(name[len(base):]); m != nil {
			number, _ := strconv.Atoi(m[3]) // an empty number is 0, the first backup
			list = append(list, Backup{filepath.Join(dir, name), m[1], m[2], number})
		}
	}
	slices.SortFunc(list, func(a, b Backup) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(b.number, a.number))
	})
	return list, nil
}
