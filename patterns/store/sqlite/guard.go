package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// guardFile refuses a state file that others could read, or put another in the place of.
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

// guardDir refuses a directory in which others can replace files. In one like /tmp they cannot.
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

// allows says whether any of these rights is given. Windows has no such numbers.
func allows(info os.FileInfo, rights fs.FileMode) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&rights != 0
}
