package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
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
			return initLock{}, console.Fault("init: the lock", err)
		}
	}
	return initLock{}, console.Usage("init", fmt.Errorf("locks of other configurations are in %s", dir), "patterngate init -o FILE in another directory")
}

// pin is the lock as the configuration names it.
func (l initLock) pin() string { return filepath.Base(l.path) }

// acceptImported writes the definitions of the tools that a person confirmed, and reports whether there are any. It signs
// nothing: where an approver key is enrolled, "catalog accept" does.
func acceptImported(lock initLock, servers []importedServer) (bool, error) {
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
			if err := kept.Accept(s.name, t.definition(), by); err != nil {
				return false, err
			}
		}
	}
	if len(kept.Names()) == 0 {
		return false, nil
	}
	return true, kept.Write(lock.path)
}

// definition is the tool as the lock keeps it.
func (t foreignTool) definition() pins.Definition {
	return pins.Definition{Name: t.Name, Title: t.Title, Description: t.Description, Input: t.members["inputSchema"], Output: t.members["outputSchema"]}
}
