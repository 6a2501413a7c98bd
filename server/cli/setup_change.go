package cli

import (
	"bytes"
	"errors"
	"os"
	"time"

	"patterngate/server/cli/console"
)

// What setup does, or would do, to a file.
const (
	setupAdded    = "added"
	setupUpdated  = "updated"
	setupPresent  = "present"  // as wanted already
	setupRestored = "restored" // from a backup
	setupRemoved  = "removed"  // the entry alone
	setupDeleted  = "deleted"  // the file, which held nothing else
	setupAbsent   = "absent"   // nothing to undo
)

// setupChange is what becomes of a file.
type setupChange struct {
	result string
	after  []byte
	from   string // the backup that is put back
	backup string // the backup that was made
}

// changes reports whether the file does not stay as it is.
func (c setupChange) changes() bool { return c.result != setupPresent && c.result != setupAbsent }

// planWrite says what the file becomes with the entry in it. Whatever a format does, nothing but the entry may differ.
func planWrite(f setupFormat, file setupFile, e setupEntry) (setupChange, error) {
	if file.info == nil {
		return setupChange{result: setupAdded, after: f.fresh(e)}, nil
	}
	after, err := f.merge(file.text, e)
	if err != nil {
		return setupChange{}, file.faulty(err)
	}
	entry, found := entryOf(f, after, e.Name)
	if !found || !e.starts(entry) || !onlyEntryDiffers(f, file.text, after, e.Name) {
		return setupChange{}, file.faulty(errUnsafe)
	}
	c := setupChange{result: setupAdded, after: after}
	if _, had := entryOf(f, file.text, e.Name); had {
		c.result = setupUpdated
	}
	if bytes.Equal(after, file.text) {
		c.result = setupPresent
	}
	return c, nil
}

var errUnsafe = errors.New("this file could not be edited without changing more than the entry; nothing was written, put the block in by hand")

// planUndo says what the file becomes without what setup wrote. While it is as setup left it, its newest backup comes
// back, byte for byte; a file that setup made is deleted. Once somebody else changed it their changes stay, and only
// the entry goes.
func planUndo(f setupFormat, file setupFile, name string) (setupChange, error) {
	if file.info == nil {
		return setupChange{result: setupAbsent}, nil
	}
	if _, _, err := f.decode(file.text); err != nil {
		return setupChange{}, file.faulty(err)
	}
	entry, found := entryOf(f, file.text, name)
	if !found {
		return setupChange{result: setupAbsent, after: file.text}, nil
	}
	if c, ok, err := restorable(f, file, name); ok || err != nil {
		return c, err
	}
	if alone(f, file, entry, name) {
		return setupChange{result: setupDeleted}, nil
	}
	after, err := f.remove(file.text, name)
	if err != nil {
		return setupChange{}, file.faulty(err)
	}
	if _, found := entryOf(f, after, name); found || !onlyEntryDiffers(f, file.text, after, name) {
		return setupChange{}, file.faulty(errUnsafe)
	}
	return setupChange{result: setupRemoved, after: after}, nil
}

// restorable finds the newest backup of which setup made the file that is there, by that entry alone.
func restorable(f setupFormat, file setupFile, name string) (setupChange, bool, error) {
	backups, err := file.backups()
	if err != nil {
		return setupChange{}, false, console.Fault("setup: backups", err)
	}
	sum := setupSum(file.text)
	for _, b := range backups {
		if b.sum != sum {
			continue
		}
		text, err := readBounded(b.path)
		if err != nil {
			return setupChange{}, false, console.Fault("setup: the backup", err)
		}
		if len(text) <= maxSetupBytes && onlyEntryDiffers(f, file.text, text, name) && !bytes.Equal(text, file.text) {
			return setupChange{result: setupRestored, after: text, from: b.path}, true, nil
		}
	}
	return setupChange{}, false, nil
}

// alone reports whether the file is as setup makes a new one, whatever program the entry starts.
func alone(f setupFormat, file setupFile, entry any, name string) bool {
	members, _ := entry.(map[string]any)
	e := setupEntry{Name: name}
	e.Command, _ = members["command"].(string)
	args, _ := members["args"].([]any)
	for _, a := range args {
		s, _ := a.(string)
		e.Args = append(e.Args, s)
	}
	return file.real == file.path && bytes.Equal(file.text, f.fresh(e))
}

// apply carries a change out and returns it with the backup that was made.
func (c setupChange) apply(file setupFile, now time.Time) (setupChange, error) {
	var err error
	switch c.result {
	case setupPresent, setupAbsent:
	case setupDeleted:
		if err = file.unchanged(); err == nil {
			err = os.Remove(file.real)
		}
	case setupRestored: // the file is its backup again, which has served
		if err = file.write(c.after); err == nil {
			err = os.Remove(c.from)
		}
	default:
		c.backup, err = c.kept(file, now)
		if err == nil {
			err = file.write(c.after)
		}
		if err != nil && c.backup != "" {
			err = errors.Join(err, os.Remove(c.backup))
		}
	}
	if err != nil {
		return c, console.Fault("setup: "+file.path, err)
	}
	return c, nil
}

// kept makes a backup of a file that is there.
func (c setupChange) kept(file setupFile, now time.Time) (string, error) {
	if file.info == nil {
		return "", nil
	}
	sum := setupSum(c.after)
	if c.result == setupRemoved {
		sum = setupSum(file.text) // of itself, so that no undo takes it for what a write replaced
	}
	return file.backup(sum, now)
}
