package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// initLock is where the accepted definitions go. A lock that is there belongs to another configuration, and is never
// touched: what init confirms holds for the new file only.
type initLock struct{ path string }

// newLock is the lock of a configuration that is about to be written: patterngate.lock beside it, else NAME.lock.
func newLock(config string) (initLock, error) {
	dir, base := filepath.Split(config)
	for _, name := range []string{"patterngate.lock", strings.TrimSuffix(base, filepath.Ext(base)) + ".lock"} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return initLock{path}, nil
		} else if err != nil {
			return initLock{}, fault("init: the lock", err)
		}
	}
	return initLock{}, usage("init", fmt.Errorf("locks of other configurations are in %s", dir), "patterngate init -o FILE in another directory")
}

// pin is the lock as the configuration names it.
func (l initLock) pin() string { return filepath.Base(l.path) }

// acceptImported writes the definitions of the tools that a person confirmed, and reports whether there are any.
func (a *app) acceptImported(lock initLock, servers []importedServer) (bool, error) {
	return false, nil
}
