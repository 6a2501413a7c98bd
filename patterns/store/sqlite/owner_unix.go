//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lockNew makes a file that is locked as soon as it exists under its name. Go opens files so that child processes do not inherit
// them. So a child process that outlives this one does not keep the lock.
func lockNew(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	err = lock(f)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, errors.Join(err, unlock(f, path+".new"))
	}
	return f, nil
}

// lockExisting locks an existing file. It fails at once if the owner of the file lives.
func lockExisting(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func lock(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	err = raw.Control(func(fd uintptr) { locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) })
	return errors.Join(err, locked)
}

// unlock removes a file that this process has locked, and frees the lock.
func unlock(f *os.File, path string) error {
	return errors.Join(os.Remove(path), f.Close())
}

// ownedHere reports whether a file belongs to the user of this process. For root it is always true.
func ownedHere(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (os.Geteuid() == 0 || int(stat.Uid) == os.Geteuid())
}
