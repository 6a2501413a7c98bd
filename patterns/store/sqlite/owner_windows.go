package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lockNew makes a file that nobody else can open while it is open here: Windows has that without a lock.
func lockNew(path string) (*os.File, error) { return hold(path, syscall.CREATE_NEW) }

// lockExisting opens a file that is there so, or fails at once because its owner lives.
func lockExisting(path string) (*os.File, error) { return hold(path, syscall.OPEN_EXISTING) }

func hold(path string, mode uint32) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const shareNothing = 0
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, shareNothing, nil, mode, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// unlock removes a file that is held here; open it cannot be removed.
func unlock(f *os.File, path string) error {
	return errors.Join(f.Close(), os.Remove(path))
}

// ownedHere is always so: modes and owners of files are no matter of their numbers here.
func ownedHere(os.FileInfo) bool { return true }
