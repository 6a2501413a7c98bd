package clientfile

import (
	"bytes"
	"errors"
	"os"
	"time"

	"patterngate/server/cli/console"
)

// These are the values of [Change].Result: what setup does to a file, or would do in a dry run.
const (
	Added    = "added"
	Updated  = "updated"
	Present  = "present"  // already as wanted
	Restored = "restored" // from a backup
	Removed  = "removed"  // only the entry
	Deleted  = "deleted"  // the file, which held only the entry
	Absent   = "absent"   // nothing to undo
)

// Change describes a planned or applied change of one file. [PlanWrite] and [PlanUndo] return it, and Apply carries
// it out.
type Change struct {
	Result string // one of the constants above, for example [Added]
	After  []byte // the new text of the file; nil if the file is deleted or does not exist
	From   string // the path of the backup that is restored, whole or in part; "" for none
	Backup string // the path of the backup that Apply made; "" for none
}

// Changes reports whether the change alters the file. It is false for [Present] and [Absent].
func (c Change) Changes() bool { return c.Result != Present && c.Result != Absent }

// PlanWrite returns the change that puts the entry into the file. It writes nothing. If the file does not exist, the
// change creates it. It returns [ErrUnsafe] with the file's path if more than the entry would differ, or if the new
// entry would not start the program.
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

// ErrUnsafe reports that a format could not edit the file without changing more than the entry.
var ErrUnsafe = errors.New(unsafeEdit)

// PlanUndo returns the change that undoes what setup wrote. It writes nothing.
//
//   - If the file is as setup left it, the change restores the newest backup, byte for byte.
//   - If setup created the file and it is unchanged, the change deletes it.
//   - If somebody changed the file later, those changes stay. The change removes only the entry.
//
// If the file does not exist or has no such entry, the result is [Absent].
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

// restorable returns the change that restores the newest suitable backup. A backup is suitable if setup replaced it by
// the present text of the file, and if the two differ only in the entry.
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

// alone reports whether the file is exactly what setup writes into a new file. The entry may start any program.
// A file that is reached by a link does not count.
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

// Apply carries out the change on the file and returns it with the path of the backup.
//
// Before it adds, updates or removes an entry, it makes a backup of an existing file. If the write fails, it deletes
// that backup. After it restores a backup, whole or in part, it deletes the one that it restored, so that nothing is undone
// twice. It refuses to write or delete a file that was changed after [Read].
func (c Change) Apply(file File, now time.Time) (Change, error) {
	var err error
	switch c.Result {
	case Present, Absent:
	case Deleted:
		if err = file.unchanged(); err == nil {
			err = os.Remove(file.Real)
		}
	case Restored:
		err = file.Write(c.After)
	default:
		c.Backup, err = c.kept(file, now)
		if err == nil {
			err = file.Write(c.After)
		}
		if err != nil && c.Backup != "" {
			err = errors.Join(err, os.Remove(c.Backup))
		}
	}
	if err == nil && c.From != "" { // it is used
		err = os.Remove(c.From)
	}
	if err != nil {
		return c, console.Fault("setup: "+file.Path, err)
	}
	return c, nil
}

// kept makes a backup of an existing file and returns its path. It returns "" if there is no file.
func (c Change) kept(file File, now time.Time) (string, error) {
	if file.Info == nil {
		return "", nil
	}
	sum := Sum(c.After)
	if c.Result == Removed {
		sum = Sum(file.Text) // its own sum: a later undo must not treat this backup as text that a write replaced
	}
	return file.backup(sum, now)
}
