package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// guardFile returns an error if other users can read, write or replace the state file, its log or the index of the log.
func guardFile(path string) error {
	if err := guardDir(filepath.Dir(path)); err != nil {
		return err
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a file", file)
		case !ownedHere(info):
			return fmt.Errorf("%s belongs to another user", file)
		case allows(info, 0o077):
			return fmt.Errorf("%s may be read or written by others (mode %#o): chmod 600 %[1]s", file, info.Mode().Perm())
		}
	}
	return nil
}

// guardDir returns an error if other users can replace files in the directory. A directory with the sticky bit, like /tmp, is safe.
func guardDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case allows(info, 0o022) && info.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("the directory %s may be written by others (mode %#o): chmod go-w %[1]s", dir, info.Mode().Perm())
	}
	return nil
}

// allows reports whether a file gives any of these rights. It is always false on Windows, which has no mode bits.
func allows(info os.FileInfo, rights fs.FileMode) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&rights != 0
}
