package importer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
)

// initLock is the new lock file. init never changes an existing one, which belongs to another configuration: the person
// confirms tools only for the new file.
type initLock struct{ path string }

// newLock returns the lock of a configuration that will be written: patterngate.lock next to it, else NAME.lock.
func newLock(config string) (initLock, error) {
	dir, base := filepath.Split(config)
	for _, name := range []string{"patterngate.lock", strings.TrimSuffix(base, filepath.Ext(base)) + ".lock"} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return initLock{path}, nil
		} else if err != nil {
			return initLock{}, console.Fault("init: the lock", err)
		}
	}
	return initLock{}, console.Usage("init", errors.New(otherLocks(dir)), otherDirectory)
}

// pin returns the lock as the configuration names it.
func (l initLock) pin() string { return filepath.Base(l.path) }

// acceptImported writes the definitions of the confirmed tools to the lock, and reports whether there are any. It signs
// nothing. If an approver key is enrolled, "catalog accept" signs.
func acceptImported(lock initLock, servers []Server) (bool, error) {
	var kept pins.Lock
	by := pins.Acceptance{At: console.Now(), By: statefile.ByUser("").By, Assurance: string(gateway.UserAssurance)}
	for _, s := range servers {
		if s.problem != "" || s.out != "" {
			continue
		}
		for _, t := range s.tools {
			if !t.allow {
				continue
			}
			if err := kept.Accept(s.Name, t.definition(), by); err != nil {
				return false, err
			}
		}
	}
	if len(kept.Names()) == 0 {
		return false, nil
	}
	return true, kept.Write(lock.path)
}

// definition returns the tool as the lock stores it.
func (t foreignTool) definition() pins.Definition {
	return pins.Definition{Name: t.Name, Title: t.Title, Description: t.Description, Input: t.members["inputSchema"], Output: t.members["outputSchema"]}
}
