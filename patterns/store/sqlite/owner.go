package sqlite

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// owner is this process's claim to life: a locked file beside the state file. The system frees the lock when the process
// dies, however it dies, and keeps it while the process is only stopped or slow. No clock is in it.
type owner struct {
	dir, id string
	file    *os.File
}

// newOwner makes a claim under a new name, and takes away what dead owners left: an owner without a file is dead, too.
func newOwner(path string) (*owner, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, journalFault(path, err)
	}
	o := &owner{dir: path + ".owners", id: rand.Text()}
	if err := os.Mkdir(o.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, journalFault(path, err)
	}
	if err := guardDir(o.dir); err != nil {
		return nil, journalFault(path, err)
	}
	if o.file, err = lockNew(filepath.Join(o.dir, o.id)); err != nil {
		return nil, journalFault(path, err)
	}
	o.sweep()
	return o, nil
}

// ID implements [store.Owner].
func (o *owner) ID() string { return o.id }

func (o *owner) sweep() {
	entries, _ := os.ReadDir(o.dir) // what cannot be read stays
	for _, e := range entries {
		if bury, dead := o.Dead(e.Name()); dead && isOwner(e.Name()) {
			bury()
		}
	}
}

// dead says whether another owner is gone; bury then takes away what is left of it, after its runs were taken. One whose
// file is not there counts as dead: the state was copied to another machine. Should the file of a living one have been
// deleted, the epoch keeps it out of the record.
func (o *owner) Dead(id string) (bury func(), dead bool) {
	if !isOwner(id) {
		return func() {}, true // never one of ours, and no name to go to the file system with
	}
	path := filepath.Join(o.dir, id)
	f, err := lockExisting(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return func() {}, true
	case err != nil:
		return nil, false
	}
	return func() { _ = unlock(f, path) }, true
}

// serves marks the claim of a process that carries on what is ready.
func (o *owner) Serves() {
	_, _ = o.file.WriteAt([]byte("serves\n"), 0) // without it people are told to resume what goes on by itself
}

// othersServe reports whether another living process carries on what is ready.
func (o *owner) OthersServe() bool {
	entries, _ := os.ReadDir(o.dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Size() == 0 || e.Name() == o.id || !isOwner(e.Name()) {
			continue
		}
		bury, dead := o.Dead(e.Name())
		if !dead {
			return true
		}
		bury()
	}
	return false
}

// servers are the other living processes that carry on what is ready.
func (o *owner) Servers() (ids []string) {
	entries, _ := os.ReadDir(o.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 0 && e.Name() != o.id && isOwner(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return o.Living(ids)
}

// living are those of some owners that are not dead.
func (o *owner) Living(ids []string) (alive []string) {
	for _, id := range ids {
		if bury, dead := o.Dead(id); dead {
			bury()
			continue
		}
		alive = append(alive, id)
	}
	return alive
}

// close gives the claim up.
func (o *owner) close() { _ = unlock(o.file, filepath.Join(o.dir, o.id)) }

// isOwner says whether a name may be one that newOwner gave.
func isOwner(id string) bool {
	return len(id) == 26 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
