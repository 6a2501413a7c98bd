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

// maxBytes bounds a client's file.
const maxBytes = 8 << 20

// File is a client's file as it was read.
type File struct {
	Path string // as it is named
	Real string // with links followed
	Text []byte
	Info fs.FileInfo // nil where there is no file yet
}

// Read reads a client's file. What stands there and is no readable file of a fair size is a fault of what is
// there (exit code 2); what the system refuses is a failure (1).
func Read(path string) (File, error) {
	f := File{Path: path, Real: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case errors.Is(err, syscall.ENOTDIR):
		return f, f.Refused("its directory is a file", "name another by --file")
	case err != nil:
		return f, console.Fault("setup", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if f.Real, err = filepath.EvalSymlinks(path); errors.Is(err, fs.ErrNotExist) {
			return f, f.Refused("a link to a file that does not exist", "create that file, or remove the link")
		} else if err != nil {
			return f, console.Fault("setup", err)
		}
	}
	if info, err = os.Stat(f.Real); err != nil {
		return f, console.Fault("setup", err)
	}
	switch {
	case info.IsDir():
		return f, f.Refused("a directory", "name a file by --file")
	case !info.Mode().IsRegular():
		return f, f.Refused("not a regular file", "name another by --file")
	}
	f.Info = info
	if f.Text, err = ReadBounded(f.Real); err != nil {
		return f, console.Fault("setup", err)
	}
	if len(f.Text) > maxBytes {
		return f, f.Refused("larger than 8 MiB", "name another by --file")
	}
	return f, nil
}

// ReadBounded reads a file; one byte beyond the bound says that it is too large.
func ReadBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxBytes+1))
}

// Refused is a fault of the file as a whole.
func (f File) Refused(reason, want string) error {
	return f.Faulty(&textFault{offset: -1, reason: reason, want: want})
}

// Faulty says where in the file a fault is.
func (f File) Faulty(err error) error {
	if at, ok := errors.AsType[*textFault](err); ok {
		return &yamldoc.Error{Faults: []yamldoc.Fault{at.at(f.Path, f.Text)}}
	}
	return console.Fault("setup: "+f.Path, err)
}

// mode is the file's, or that of a new one: nobody else's business, since such files hold keys.
func (f File) mode() fs.FileMode {
	if f.Info == nil {
		return 0o600
	}
	return f.Info.Mode().Perm()
}

// ReadOnly reports whether its owner wants the file to stay as it is, which a rename would not respect.
func (f File) ReadOnly() bool { return f.Info != nil && f.Info.Mode()&0o200 == 0 }

// Write puts text in the file's place at once, under a name of its own first. It refuses where the file has changed
// since it was read: its client may be running.
func (f File) Write(text []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.Real), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(f.Real), ".patterngate-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // once renamed there is none
	if err := errors.Join(f.fillFile(temp, text), temp.Close()); err != nil {
		return err
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), f.Real)
}

// fillFile writes a file with the mode and the owner of f.
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

// unchanged is an error where the file is not as it was read.
func (f File) unchanged() error {
	now, err := ReadBounded(f.Real)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if missing != (f.Info == nil) || !bytes.Equal(now, f.Text) {
		return errors.New("the file was changed meanwhile, nothing was written; close its client and try again")
	}
	return nil
}

// Backups lie beside the file: NAME.patterngate-TIME-SUM.bak, SUM being the beginning of the SHA-256 of what setup put
// in the file's place. So the one to restore is known without a record elsewhere.
const backupTime = "20060102T150405Z"

var backupName = regexp.MustCompile(`^\.patterngate-(\d{8}T\d{6}Z)-([0-9a-f]{12})(?:-(\d{1,6}))?\.bak$`)

// Sum names a text.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// backup keeps the file as it is under a name that no file has, and returns that name.
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
	return "", errors.New("1000 backups of this second are there")
}

// Backup is a backup beside a file.
type Backup struct {
	Path, time, Sum string
	number          int
}

// Backups lists the file's, the newest first.
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
			number, _ := strconv.Atoi(m[3]) // empty is the first
			list = append(list, Backup{filepath.Join(dir, name), m[1], m[2], number})
		}
	}
	slices.SortFunc(list, func(a, b Backup) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(b.number, a.number))
	})
	return list, nil
}
