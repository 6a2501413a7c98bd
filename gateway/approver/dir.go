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

// The name of a key file holds the id of its key.
const (
	filePrefix, fileSuffix = "approver-", ".key"
	idDigits               = 16
)

// Dir is the directory of key files: the state directory. The zero Dir holds no files. It is safe for concurrent use,
// also by several processes.
type Dir string

// Listed is a file with the name of a key file.
type Listed struct {
	Path string
	File File  // the zero File if Err is set
	Err  error // why the file is not used; nil: it is valid
}

// List returns the key files of the directory, in the order of their names. A missing directory holds none. The error
// is that of reading the directory.
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

// idOf returns the part of a file's name that is the id of a key.
func idOf(name string) (id string, isKey bool) {
	rest, found := strings.CutPrefix(name, filePrefix)
	id, ends := strings.CutSuffix(rest, fileSuffix)
	return id, found && ends
}

// Path returns the path of the file of a key. The file need not exist.
func (d Dir) Path(id string) string { return filepath.Join(string(d), filePrefix+id+fileSuffix) }

// Read reads the file of one key. It refuses a file that other users may access, or that belongs to another user. Root
// may read files of every user. The error says what is wrong and how to fix it. It wraps [fs.ErrNotExist] if the file
// does not exist.
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
		return File{}, fmt.Errorf(keyMisnamed, path, f.ID, filepath.Base(d.Path(f.ID)))
	}
	return f, nil
}

func (d Dir) checkID(id string) error {
	switch {
	case d == "":
		return fmt.Errorf(noDirectory, id, fs.ErrNotExist)
	case !isID(id):
		return fmt.Errorf(notKeyID, id, idDigits)
	}
	return nil
}

func isID(id string) bool {
	return len(id) == idDigits && strings.Trim(id, "0123456789abcdef") == ""
}

// readOwn reads a file that only this user can have written or read. It checks the file before it opens it, and then
// checks that the open file is the same one.
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
		err = fmt.Errorf(fileChanged, path)
	}
	if err == nil {
		err = faultOf(path, info)
	}
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1)) // [Read] refuses a longer text
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	return text, nil
}

// faultOf says why a file may not be its owner's secret. On Windows it does not check mode and owner.
func faultOf(path string, info fs.FileInfo) error {
	const others = 0o077
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf(symbolicLink, path)
	case !info.Mode().IsRegular():
		return fmt.Errorf(notRegular, path)
	case runtime.GOOS == "windows":
		return nil
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf(modeTooWide, info.Mode().Perm(), path)
	case foreign(info):
		return fmt.Errorf(otherOwner, path)
	}
	return nil
}

// Write writes a new key's file into the directory, readable only by its owner. It writes the whole file or none. It
// does not overwrite a file: the error then wraps [fs.ErrExist].
func (d Dir) Write(f File) error {
	text := f.Text()
	if _, err := Read(text); err != nil {
		return err
	}
	if err := d.checkID(f.ID); err != nil {
		return err
	}
	beside, err := os.CreateTemp(string(d), "."+filePrefix+"*.new") // new, with mode 0600
	if err != nil {
		return fmt.Errorf("approver: %w", err)
	}
	err = fill(beside, text)
	if err == nil {
		err = os.Link(beside.Name(), d.Path(f.ID))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = writeNew(d.Path(f.ID), text) // the file system has no links: the file is new, but readers may see it half written
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

// fill writes, syncs and closes a file.
func fill(file *os.File, text []byte) error {
	_, err := file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// sync writes the directory's entries to the disk, except on Windows.
func (d Dir) sync() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(string(d))
	if err != nil {
		return fmt.Errorf("approver: %w", err)
	}
	_ = dir.Sync() // some file systems cannot sync a directory
	return dir.Close()
}

// Remove removes the file of a key, also one that [Dir.Read] refuses. The key is then lost. It still counts in the ring
// until a signed act removes it there. The error wraps [fs.ErrNotExist] if the file does not exist.
func (d Dir) Remove(id string) error {
	if err := d.checkID(id); err != nil {
		return err
	}
	info, err := os.Lstat(d.Path(id))
	if err == nil && info.IsDir() {
		err = fmt.Errorf(isDirectory, d.Path(id))
	}
	if err == nil {
		err = os.Remove(d.Path(id))
	}
	if err != nil {
		return fmt.Errorf("approver: %w", err)
	}
	return d.sync()
}
