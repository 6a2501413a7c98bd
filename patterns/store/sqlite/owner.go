package sqlite

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// owner shows other processes that this one lives: it holds a lock on a file beside the state file. The system frees the lock when
// the process ends for any reason. The lock stays while the process is stopped or slow. No clock is involved.
type owner struct {
	dir, id string
	file    *os.File
}

// newOwner makes and locks a file under a new name, and removes the files of dead owners. An owner without a file counts as dead.
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
	entries, _ := os.ReadDir(o.dir) // a file that cannot be read stays
	for _, e := range entries {
		if bury, dead := o.Dead(e.Name()); dead && isOwner(e.Name()) {
			bury()
		}
	}
}

// Dead reports whether another owner is gone. bury then removes its file; call it after the runs of that owner were taken over. An
// owner without a file counts as dead, because the state was copied to another machine. If the file of a living owner was deleted, the
// epoch keeps its changes out of the record.
func (o *owner) Dead(id string) (bury func(), dead bool) {
	if !isOwner(id) {
		return func() {}, true // newOwner never made this name, and it must not reach the file system
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

// Serves marks the file of a process that continues runs that are ready.
func (o *owner) Serves() {
	_, _ = o.file.WriteAt([]byte("serves\n"), 0) // without the mark, people are told to resume runs that a server continues
}

// OthersServe reports whether another living process continues runs that are ready.
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

// Servers returns the ids of the other living processes that continue runs that are ready.
func (o *owner) Servers() (ids []string) {
	entries, _ := os.ReadDir(o.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 0 && e.Name() != o.id && isOwner(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return o.Living(ids)
}

// Living returns those of the given owners that are not dead. It removes the files of the dead ones.
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

// close removes the file and frees its lock.
func (o *owner) close() { _ = unlock(o.file, filepath.Join(o.dir, o.id)) }

// isOwner reports whether a name has the form of those that newOwner makes.
func isOwner(id string) bool {
	return len(id) == 26 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
