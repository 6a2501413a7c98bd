package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lockNew makes a file that no other process can open while this one has it open. Windows can do that without a lock.
func lockNew(path string) (*os.File, error) { return hold(path, syscall.CREATE_NEW) }

// lockExisting opens an existing file in the same way. It fails at once if the owner of the file lives.
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

// unlock closes a file that this process holds, and removes it. Windows does not remove an open file.
func unlock(f *os.File, path string) error {
	return errors.Join(f.Close(), os.Remove(path))
}

// ownedHere is always true: Windows does not express owners and rights of files as numbers.
func ownedHere(os.FileInfo) bool { return true }
