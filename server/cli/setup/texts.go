package setup

import (
	"fmt"
	"strings"

	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
)

// Before the change.

const (
	notYet          = "(it does not exist yet)"
	seeFirst        = "use --dry-run and not --write to see the change first"
	writeOrUndo     = "--write and --undo exclude each other"
	useOne          = "use one of them"
	writableOrOther = "make it writable, or name another file with --file"
)

func wantsOneClient(got int, clients string) string {
	return fmt.Sprintf("got %d clients, want one of %s", got, clients)
}

func mayNotPass(variable string) string {
	return variable + " is set here, but a client may not pass it on. Name the file with --config"
}

// notStrict warns about a file that its client may refuse. line and column count from 1.
func notStrict(file string, line, column int, client string) string {
	return fmt.Sprintf("%s:%d:%d: a comment or a trailing comma; %s reads strict JSON and may refuse the file", file, line, column, client)
}

// notKept warns about a configuration that the entry names and that the new entry does not name.
func notKept(path string) string {
	return "the entry had --config " + path + ", which is not the full path of a file here, so it is not kept. Name the file with --config"
}

// keepsNoFaults introduces the faults of a configuration that the entry names.
func keepsNoFaults(name, path string) string {
	return "the entry " + name + " has --config " + path + ", which does not load, so nothing was written. Correct the file, or name another with --config"
}

// noClient says that no client has this name. meant is the client that was meant, or "".
func noClient(word, meant, clients string) string {
	if meant != "" {
		return fmt.Sprintf("no client %q (did you mean %s?); have %s", word, meant, clients)
	}
	return fmt.Sprintf("no client %q; have %s", word, clients)
}

// The result.

// outcomes has two texts for each result: for a change that was made, and for a dry run.
var outcomes = map[string][2]string{
	clientfile.Added:    {"added %s to %s", "would add %s to %s"},
	clientfile.Updated:  {"updated %s in %s", "would update %s in %s"},
	clientfile.Present:  {"%s is already in %s, and nothing changes", "%s is already in %s, and nothing changes"},
	clientfile.Restored: {"removed %s: %s is restored, byte for byte", "would remove %s: %s would be restored, byte for byte"},
	clientfile.Removed: {
		"removed %s from %s. The file has changed since setup, so no backup was restored",
		"would remove %s from %s. The file has changed since setup, so no backup would be restored",
	},
	clientfile.Deleted: {"removed %s: deleted %s, which had nothing else in it", "would remove %s by deleting %s, which has nothing else in it"},
	clientfile.Absent:  {"nothing to undo: there is no %s in %s", "nothing to undo: there is no %s in %s"},
}

// earlierEntry is the text of an undo that restores an earlier entry.
var earlierEntry = [2]string{
	"restored the entry %s: %s has the text from before the last setup, byte for byte",
	"would restore the entry %s: %s would have the text from before the last setup, byte for byte",
}

func keepsConfig(path string) string {
	return "the entry keeps --config " + path + ". To change it, name another file with --config"
}

// restart returns the instruction to restart a client after its file changed.
func restart(client string) string { return "restart " + client }

// stayDirect returns the note about servers that the client starts without Patterngate. A line with the command follows it.
func stayDirect(servers []string) string {
	names := make([]string, len(servers))
	for i, s := range servers {
		names[i] = `"` + console.OtherName(s) + `"`
	}
	verb := " stay"
	if len(names) == 1 {
		verb = " stays"
	}
	return strings.Join(names, ", ") + verb + " reachable without your policy. To move what you allow behind Patterngate:"
}
