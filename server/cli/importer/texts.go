package importer

import (
	"strings"

	"patterngate/server/cli/console"
)

// Undo.

// undone says what init --undo did. later: it undid a later change by setup, too.
func undone(file, servers string, later bool) string {
	text := file + " is restored, byte for byte, to the text before init replaced " + servers + ".\n"
	if later {
		text += "This also undoes what setup changed later.\n"
	}
	return text + "The configuration that init wrote stays.\n"
}

// restart returns the instruction to restart a client after its file changed.
func restart(client string) string { return "restart " + client }

func changedSince(file, backup string) string {
	return file + " has changed since Patterngate wrote it, so nothing was written. The text from before is in " + backup
}

func nothingReplaced(file string) string {
	return file + " has no backup from which init took servers"
}

// quotedNames returns names of servers in quotes, separated by commas.
func quotedNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = `"` + console.OtherName(n) + `"`
	}
	return strings.Join(quoted, ", ")
}
