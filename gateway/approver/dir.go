package approver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Key files are named by the id of their key.
const (
	filePrefix, fileSuffix = "approver-", ".key"
	idDigits               = 16
)

// Dir is the directory in which key files lie: the state directory. The zero Dir holds nothing. It is safe for concurrent use,
// also by several processes.
type Dir string

// Listed is a file that is named as a key file is.
type Listed struct {
	Path string
	File File  // the zero File where Err is set
	Err  error // why it is not used; nil: nothing is wrong with it
}

// List is the key files of the directory, in the order of their names. Its error is that of reading the directory; one that
// is not there holds none.
func (d Dir) List() ([]Listed, error) {
	if d == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	var list []Listed
	for _, entry := range entries {
		id, isKey := idOf(entry.Name())
		if !isKey {
			continue
		}
		row := Listed{Path: filepath.Join(string(d), entry.Name())}
		row.File, row.Err = d.Read(id)
		list = append(list, row)
	}
	return list, nil
}

// idOf is what stands in a file's name where a key file has its id.
func idOf(name string) (id string, isKey bool) {
	rest, found := strings.CutPrefix(name, filePrefix)
	id, ends := strings.CutSuffix(rest, fileSuffix)
	return id, found && ends
}

// Path is where the file of a key lies, or would.
func (d Dir) Path(id string) string { return filepath.Join(string(d), filePrefix+id+fileSuffix) }

// Read reads the file of one key. A file that others may read, or that is not this user's own, is refused. Its error says
// what is wrong and what would be right; [fs.ErrNotExist] is in it where there is no such file.
func (d Dir) Read(id string) (File, error) {
	if err := d.checkID(id); err != nil {
		return File{}, err
	}
	path := d.Path(id)
	text, err := readOwn(path)
	if err != nil {
		return File{}, err
	}
	f, err := Read(text)
	switch {
	case err != nil:
		return File{}, fmt.Errorf("%s: %w", path, err)
	case f.ID != id:
		return File{}, fmt.Errorf("%s: it holds the key %s; name it %s", path, f.ID, filepath.Base(d.Path(f.ID)))
	}
	return f, nil
}

func (d Dir) checkID(id string) error {
	switch {
	case d == "":
		return fmt.Errorf("approver: no directory for the key %.40q: %w", id, fs.ErrNotExist)
	case !isID(id):
		return fmt.Errorf("approver: %.40q is no key's id; it has %d hex digits, in lower case", id, idDigits)
	}
	return nil
}

func isID(id string) bool {
	return len(id) == idDigits && strings.Trim(id, "0123456789abcdef") == ""
}

// readOwn reads a file that only this user can have written or read. What lies there is looked at before it is opened, and
// what was opened must be the same.
func readOwn(path string) ([]byte, error) {
	before, err := os.Lstat(path)
	if err == nil {
		err = faultOf(path, before)
	}
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%s was changed while it was read", path)
	}
	if err == nil {
		err = faultOf(path, info)
	}
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1)) // [Read] refuses one that is too long
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	return text, nil
}

// faultOf says why a file is not believed to be its owner's secret. On Windows modes and owners do not say.
func faultOf(path string, info fs.FileInfo) error {
	const others = 0o077
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link; put the file itself there", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case runtime.GOOS == "windows":
		return nil
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf("mode %04o of %s lets others at it; chmod 600 %[2]s", info.Mode().Perm(), path)
	case foreign(info):
		return fmt.Errorf("%s belongs to another user", path)
	}
	return nil
}

// Write puts a new key's file into the directory, whole or not at all, for its owner's eyes only. A file that is there is
// never written over: then [fs.ErrExist] is in the error.
func (d Dir) Write(f File) error {
	text := f.Text()
	if _, err := Read(text); err != nil {
		return err
	}
	if err := d.checkID(f.ID); err != nil {
		return err
	}
	beside, err := os.CreateTemp(string(d), "."+filePrefix+"*.new") // 0600, and new
	if err != nil {
		return fmt.Errorf("approver: %w", err)
	}
	err = fill(beside, text)
	if err == nil {
		err = os.Link(beside.Name(), d.Path(f.ID))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = writeNew(d.Path(f.ID), text) // no links on this file system: new, but not at once whole
		}
	}
	if err = errors.Join(err, os.Remove(beside.Name())); err != nil {
		return fmt.Errorf("approver: %w", err)
	}
	return d.sync()
}

func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := fill(file, text); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// fill writes and closes a file; what it wrote is then on the disk.
func fill(file *os.File, text []byte) error {
	_, err := file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// sync puts the directory's names on the disk, where that can be asked for.
func (d Dir) sync() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(string(d))
	if err != nil {
		return fmt.Errorf("approver: %w", err)
	}
	_ = dir.Sync() // some file systems do not
	return dir.Close()
}

// Remove removes the file of a key, also one that [Dir.Read] refuses. The key is lost with it; that it counts no more, a
// signed act says. [fs.ErrNotExist] is in the error where there is no such file.
func (d Dir) Remove(id string) error {
	if err := d.checkID(id); err != nil {
		return err
	}
	info, err := os.Lstat(d.Path(id))
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", d.Path(id))
	}
	if err == nil {
		err = os.Remove(d.Path(id))
	}
	if err != nil {
		return fmt.Errorf("approver: %w", err)
	}
	return d.sync()
}
