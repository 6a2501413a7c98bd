package importer

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"time"

	"patterngate/ijson/printable"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
)

// initUndo restores the client's file from before init replaced its servers. It changes nothing else.
func (a *Commands) initUndo(from ClientFile) error {
	c, err := planRestore(from.Client.Format, from.File)
	if err != nil {
		return a.Fault(err)
	}
	if from.File.ReadOnly() {
		return a.Fault(from.File.Refused("read-only", makeWritable))
	}
	if _, err := c.Apply(from.File, time.Now()); err != nil {
		return err
	}
	if a.JSON {
		return console.WriteJSON(a.Out, initReport{Client: from.File.Path, Backup: c.From})
	}
	text := undone(printable.Text(from.File.Path), quotedNames(c.servers), c.later)
	if c.Result == clientfile.Removed {
		text = putBack(printable.Text(from.File.Path), quotedNames(c.servers))
	}
	if title := from.Client.Title; title != "" {
		text += "then   " + restart(title) + "\n"
	}
	return a.Print(text)
}

// restore is the change that undoes what init replaced.
type restore struct {
	clientfile.Change
	servers []string // the servers that come back
	later   bool     // it undoes a later change by setup, too
}

// planRestore finds the text of the file from before init took servers out of it. Patterngate may have changed the file
// again afterwards. If another program or a person did, that change stays: only the servers come back. planRestore refuses
// if the servers themselves changed.
func planRestore(f clientfile.Format, file clientfile.File) (restore, error) {
	backups, err := readBackups(file)
	if err != nil {
		return restore{}, err
	}
	self, _ := os.Executable() // without it only the name identifies the entry
	seen := map[string]bool{}
	for after, later := file.Text, false; !seen[string(after)]; later = true {
		seen[string(after)] = true
		b, ok := before(f, backups, after)
		if !ok {
			break
		}
		if servers := lost(f, b.text, after, self); len(servers) > 0 {
			return restore{clientfile.Change{Result: clientfile.Restored, After: b.text, From: b.Path}, servers, later}, nil
		}
		after = b.text
	}
	for _, b := range backups {
		if back, servers, ok := withServersOf(f, b, file.Text, self); ok {
			return restore{clientfile.Change{Result: clientfile.Removed, After: back, From: b.Path}, servers, false}, nil
		}
	}
	if i := slices.IndexFunc(backups, func(b backupText) bool { return len(lostServers(f, b.text, file.Text, self)) > 0 }); i >= 0 {
		return restore{}, console.Refused("init --undo", changedSince(file.Path, backups[i].Path), copyByHand)
	}
	return restore{}, console.Usage("init --undo", errors.New(nothingReplaced(file.Path)), "patterngate init --import CLIENT")
}

// backupText is a backup with its text.
type backupText struct {
	clientfile.Backup
	text []byte
}

// readBackups returns the backups of a file, the newest first.
func readBackups(file clientfile.File) ([]backupText, error) {
	found, err := file.Backups()
	if err != nil {
		return nil, console.Fault("init --undo: backups", err)
	}
	list := make([]backupText, len(found))
	for i, b := range found {
		text, err := clientfile.ReadBounded(b.Path)
		if err != nil {
			return nil, console.Fault("init --undo: the backup", err)
		}
		list[i] = backupText{b, text}
	}
	return list, nil
}

// before returns the newest backup whose text Patterngate changed into this one. The backup's name has the sum of the text
// that replaced it. The backup of an undo of setup has its own sum: it is the text before if it only has one entry more.
func before(f clientfile.Format, backups []backupText, after []byte) (backupText, bool) {
	sum := clientfile.Sum(after)
	i := slices.IndexFunc(backups, func(b backupText) bool { return b.Sum == sum && !bytes.Equal(b.text, after) })
	if i < 0 {
		i = slices.IndexFunc(backups, func(b backupText) bool {
			return b.Sum == clientfile.Sum(b.text) && oneEntryLess(f, b.text, after)
		})
	}
	if i < 0 {
		return backupText{}, false
	}
	return backups[i], true
}

// oneEntryLess reports whether the second text is the first without one entry.
func oneEntryLess(f clientfile.Format, text, less []byte) bool {
	entries, _, err := f.Decode(text)
	if err != nil {
		return false
	}
	for name := range entries {
		if without, err := f.Remove(text, name); err == nil && bytes.Equal(without, less) {
			return true
		}
	}
	return false
}

// lost returns the servers of the first text that the second does not have, by name. It leaves out entries that start
// Patterngate. It returns nil if the texts differ in more than their servers.
func lost(f clientfile.Format, text, after []byte, self string) []string {
	_, wasRest, err := f.Decode(text)
	_, isRest, otherErr := f.Decode(after)
	if err != nil || otherErr != nil || !reflect.DeepEqual(wasRest, isRest) {
		return nil
	}
	return lostServers(f, text, after, self)
}

// lostServers is like lost, but the texts may differ in more than their servers.
func lostServers(f clientfile.Format, text, after []byte, self string) []string {
	was, _, err := f.Decode(text)
	is, _, otherErr := f.Decode(after)
	if err != nil || otherErr != nil {
		return nil
	}
	maps.DeleteFunc(was, func(name string, entry any) bool {
		return StartsPatterngate(entry, self) || reflect.DeepEqual(entry, is[name])
	})
	return slices.Sorted(maps.Keys(was))
}

// withServersOf returns a changed text with the servers of a backup in place of its own, and the names of those that come
// back. It returns false unless init replaced the backup's text, and the servers are as init left them.
func withServersOf(f clientfile.Format, b backupText, text []byte, self string) (back []byte, servers []string, ok bool) {
	edits, isJSON := f.(clientfile.JSONServers)
	servers = lostServers(f, b.text, text, self)
	if !isJSON || len(servers) == 0 {
		return nil, nil, false
	}
	left, ok := leftByInit(f, b, text, servers)
	if !ok {
		return nil, nil, false
	}
	now, rest, err := f.Decode(text)
	then, _, thenErr := f.Decode(left)
	if err != nil || thenErr != nil || !reflect.DeepEqual(now, then) {
		return nil, nil, false
	}
	if back, err = edits.WithServersOf(text, b.text); err != nil {
		return nil, nil, false
	}
	was, _, wasErr := f.Decode(b.text)
	is, isRest, err := f.Decode(back)
	ok = err == nil && wasErr == nil && reflect.DeepEqual(was, is) && reflect.DeepEqual(rest, isRest)
	return back, servers, ok
}

// leftByInit returns the text that init made of a backup's text when it replaced the servers. The sum in the backup's name
// confirms it. The changed text has the entry that init wrote.
func leftByInit(f clientfile.Format, b backupText, text []byte, servers []string) ([]byte, bool) {
	file := clientfile.File{Text: b.text}
	if c, err := planGoneOnly(f, file, servers); err == nil && clientfile.Sum(c.After) == b.Sum {
		return c.After, true
	}
	e := clientfile.Entry{Name: entryName}
	entry, _ := clientfile.EntryOf(f, text, e.Name)
	members, _ := entry.(map[string]any)
	e.Command, _ = members["command"].(string)
	args, _ := members["args"].([]any)
	for _, arg := range args {
		word, _ := arg.(string)
		e.Args = append(e.Args, word)
	}
	c, err := planReplace(f, file, servers, e)
	return c.After, err == nil && clientfile.Sum(c.After) == b.Sum
}
