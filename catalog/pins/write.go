package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the lock file as a whole, or not at all: a concurrent reader sees the old file. Only the owner may
// then use the file. A file with a narrower mode, or that everyone may read (0644), keeps its mode. A symbolic link
// stays a link.
func (l *Lock) Write(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	text := l.text()
	if len(text) > MaxBytes {
		return fmt.Errorf(tooManyBytes, path, len(text), MaxBytes)
	}
	mode, err := modeOf(path)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".patterngate.lock-*")
	if err != nil {
		return err
	}
	err = fill(temporary, text, mode)
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return syncDirectory(filepath.Dir(path))
}

const (
	ownersAlone   fs.FileMode = 0o600
	readByAll     fs.FileMode = 0o644
	allPermission fs.FileMode = 0o777
)

// modeOf returns the mode that the file must have.
func modeOf(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ownersAlone, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf(notFile, path)
	}
	if mode := info.Mode() & allPermission; mode&^ownersAlone == 0 || mode == readByAll {
		return mode, nil
	}
	return ownersAlone, nil
}

// fill writes a new file and syncs it to disk, so that it survives a crash.
func fill(file *os.File, text []byte, mode fs.FileMode) error {
	_, err := file.Write(text)
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncDirectory makes a new name survive a crash, if the system supports that.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return nil // the file is written; a directory that cannot be opened cannot be synced
	}
	defer d.Close()
	_ = d.Sync() // some systems cannot do this
	return nil
}
