package cli

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

// maxSetupBytes bounds a client's file.
const maxSetupBytes = 8 << 20

// setupFile is a client's file as it was read.
type setupFile struct {
	path string // as it is named
	real string // with links followed
	text []byte
	info fs.FileInfo // nil where there is no file yet
}

// readSetupFile reads a client's file. What stands there and is no readable file of a fair size is a fault of what is
// there (exit code 2); what the system refuses is a failure (1).
func readSetupFile(path string) (setupFile, error) {
	f := setupFile{path: path, real: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case errors.Is(err, syscall.ENOTDIR):
		return f, f.refused("its directory is a file", "name another by --file")
	case err != nil:
		return f, console.Fault("setup", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if f.real, err = filepath.EvalSymlinks(path); errors.Is(err, fs.ErrNotExist) {
			return f, f.refused("a link to a file that does not exist", "create that file, or remove the link")
		} else if err != nil {
			return f, console.Fault("setup", err)
		}
	}
	if info, err = os.Stat(f.real); err != nil {
		return f, console.Fault("setup", err)
	}
	switch {
	case info.IsDir():
		return f, f.refused("a directory", "name a file by --file")
	case !info.Mode().IsRegular():
		return f, f.refused("not a regular file", "name another by --file")
	}
	f.info = info
	if f.text, err = readBounded(f.real); err != nil {
		return f, console.Fault("setup", err)
	}
	if len(f.text) > maxSetupBytes {
		return f, f.refused("larger than 8 MiB", "name another by --file")
	}
	return f, nil
}

// readBounded reads a file; one byte beyond the bound says that it is too large.
func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxSetupBytes+1))
}

// refused is a fault of the file as a whole.
func (f setupFile) refused(reason, want string) error {
	return f.faulty(&textFault{offset: -1, reason: reason, want: want})
}

// faulty says where in the file a fault is.
func (f setupFile) faulty(err error) error {
	if at, ok := errors.AsType[*textFault](err); ok {
		return &yamldoc.Error{Faults: []yamldoc.Fault{at.at(f.path, f.text)}}
	}
	return console.Fault("setup: "+f.path, err)
}

// mode is the file's, or that of a new one: nobody else's business, since such files hold keys.
func (f setupFile) mode() fs.FileMode {
	if f.info == nil {
		return 0o600
	}
	return f.info.Mode().Perm()
}

// readOnly reports whether its owner wants the file to stay as it is, which a rename would not respect.
func (f setupFile) readOnly() bool { return f.info != nil && f.info.Mode()&0o200 == 0 }

// write puts text in the file's place at once, under a name of its own first. It refuses where the file has changed
// since it was read: its client may be running.
func (f setupFile) write(text []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.real), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(f.real), ".patterngate-*")
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
	return os.Rename(temp.Name(), f.real)
}

// fillFile writes a file with the mode and the owner of f.
func (f setupFile) fillFile(file *os.File, text []byte) error {
	if _, err := file.Write(text); err != nil {
		return err
	}
	if f.info != nil {
		if err := keepOwner(file, f.info); err != nil {
			return err
		}
	}
	if err := file.Chmod(f.mode()); err != nil {
		return err
	}
	return file.Sync()
}

// unchanged is an error where the file is not as it was read.
func (f setupFile) unchanged() error {
	now, err := readBounded(f.real)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if missing != (f.info == nil) || !bytes.Equal(now, f.text) {
		return errors.New("the file was changed meanwhile, nothing was written; close its client and try again")
	}
	return nil
}

// Backups lie beside the file: NAME.patterngate-TIME-SUM.bak, SUM being the beginning of the SHA-256 of what setup put
// in the file's place. So the one to restore is known without a record elsewhere.
const backupTime = "20060102T150405Z"

var backupName = regexp.MustCompile(`^\.patterngate-(\d{8}T\d{6}Z)-([0-9a-f]{12})(?:-(\d{1,6}))?\.bak$`)

// setupSum names a text.
func setupSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// backup keeps the file as it is under a name that no file has, and returns that name.
func (f setupFile) backup(sum string, now time.Time) (string, error) {
	stem := f.real + ".patterngate-" + now.UTC().Format(backupTime) + "-" + sum
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
		if err := errors.Join(f.fillFile(file, f.text), file.Close()); err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
	return "", errors.New("1000 backups of this second are there")
}

// setupBackup is a backup beside a file.
type setupBackup struct {
	path, time, sum string
	number          int
}

// backups lists the file's, the newest first.
func (f setupFile) backups() ([]setupBackup, error) {
	dir, base := filepath.Split(f.real)
	files, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	var list []setupBackup
	for _, file := range files {
		name := file.Name()
		if len(name) <= len(base) || name[:len(base)] != base || !file.Type().IsRegular() {
			continue
		}
		if m := backupName.FindStringSubmatch(name[len(base):]); m != nil {
			number, _ := strconv.Atoi(m[3]) // empty is the first
			list = append(list, setupBackup{filepath.Join(dir, name), m[1], m[2], number})
		}
	}
	slices.SortFunc(list, func(a, b setupBackup) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(b.number, a.number))
	})
	return list, nil
}
