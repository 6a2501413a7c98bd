package clientfile

import (
	"bytes"
	"errors"
	"os"
	"time"

	"patterngate/server/cli/console"
)

// What setup does, or would do, to a file.
const (
	Added    = "added"
	Updated  = "updated"
	Present  = "present"  // as wanted already
	Restored = "restored" // from a backup
	Removed  = "removed"  // the entry alone
	Deleted  = "deleted"  // the file, which held nothing else
	Absent   = "absent"   // nothing to undo
)

// Change is what becomes of a file.
type Change struct {
	Result string
	After  []byte
	From   string // the backup that is put back
	Backup string // the backup that was made
}

// Changes reports whether the file does not stay as it is.
func (c Change) Changes() bool { return c.Result != Present && c.Result != Absent }

// PlanWrite says what the file becomes with the entry in it. Whatever a format does, nothing but the entry may differ.
func PlanWrite(f Format, file File, e Entry) (Change, error) {
	if file.Info == nil {
		return Change{Result: Added, After: f.Fresh(e)}, nil
	}
	after, err := f.Merge(file.Text, e)
	if err != nil {
		return Change{}, file.Faulty(err)
	}
	entry, found := EntryOf(f, after, e.Name)
	if !found || !e.Starts(entry) || !onlyEntryDiffers(f, file.Text, after, e.Name) {
		return Change{}, file.Faulty(ErrUnsafe)
	}
	c := Change{Result: Added, After: after}
	if _, had := EntryOf(f, file.Text, e.Name); had {
		c.Result = Updated
	}
	if bytes.Equal(after, file.Text) {
		c.Result = Present
	}
	return c, nil
}

var ErrUnsafe = errors.New("this file could not be edited without changing more than the entry; nothing was written, put the block in by hand")

// PlanUndo says what the file becomes without what setup wrote. While it is as setup left it, its newest backup comes
// back, byte for byte; a file that setup made is deleted. Once somebody else changed it their changes stay, and only
// the entry goes.
func PlanUndo(f Format, file File, name string) (Change, error) {
	if file.Info == nil {
		return Change{Result: Absent}, nil
	}
	if _, _, err := f.Decode(file.Text); err != nil {
		return Change{}, file.Faulty(err)
	}
	entry, found := EntryOf(f, file.Text, name)
	if !found {
		return Change{Result: Absent, After: file.Text}, nil
	}
	if c, ok, err := restorable(f, file, name); ok || err != nil {
		return c, err
	}
	if alone(f, file, entry, name) {
		return Change{Result: Deleted}, nil
	}
	after, err := f.Remove(file.Text, name)
	if err != nil {
		return Change{}, file.Faulty(err)
	}
	if _, found := EntryOf(f, after, name); found || !onlyEntryDiffers(f, file.Text, after, name) {
		return Change{}, file.Faulty(ErrUnsafe)
	}
	return Change{Result: Removed, After: after}, nil
}

// restorable finds the newest backup of which setup made the file that is there, by that entry alone.
func restorable(f Format, file File, name string) (Change, bool, error) {
	backups, err := file.Backups()
	if err != nil {
		return Change{}, false, console.Fault("setup: backups", err)
	}
	sum := Sum(file.Text)
	for _, b := range backups {
		if b.Sum != sum {
			continue
		}
		text, err := ReadBounded(b.Path)
		if err != nil {
			return Change{}, false, console.Fault("setup: the backup", err)
		}
		if len(text) <= maxBytes && onlyEntryDiffers(f, file.Text, text, name) && !bytes.Equal(text, file.Text) {
			return Change{Result: Restored, After: text, From: b.Path}, true, nil
		}
	}
	return Change{}, false, nil
}

// alone reports whether the file is as setup makes a new one, whatever program the entry starts.
func alone(f Format, file File, entry any, name string) bool {
	members, _ := entry.(map[string]any)
	e := Entry{Name: name}
	e.Command, _ = members["command"].(string)
	args, _ := members["args"].([]any)
	for _, a := range args {
		s, _ := a.(string)
		e.Args = append(e.Args, s)
	}
	return file.Real == file.Path && bytes.Equal(file.Text, f.Fresh(e))
}

// Apply carries a change out and returns it with the backup that was made.
func (c Change) Apply(file File, now time.Time) (Change, error) {
	var err error
	switch c.Result {
	case Present, Absent:
	case Deleted:
		if err = file.unchanged(); err == nil {
			err = os.Remove(file.Real)
		}
	case Restored: // the file is its backup again, which has served
		if err = file.Write(c.After); err == nil {
			err = os.Remove(c.From)
		}
	default:
		c.Backup, err = c.kept(file, now)
		if err == nil {
			err = file.Write(c.After)
		}
		if err != nil && c.Backup != "" {
			err = errors.Join(err, os.Remove(c.Backup))
		}
	}
	if err != nil {
		return c, console.Fault("setup: "+file.Path, err)
	}
	return c, nil
}

// kept makes a backup of a file that is there.
func (c Change) kept(file File, now time.Time) (string, error) {
	if file.Info == nil {
		return "", nil
	}
	sum := Sum(c.After)
	if c.Result == Removed {
		sum = Sum(file.Text) // of itself, so that no undo takes it for what a write replaced
	}
	return file.backup(sum, now)
}
