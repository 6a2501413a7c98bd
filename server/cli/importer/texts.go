package importer

import (
	"fmt"
	"strings"

	"patterngate/server/cli/console"
)

// Questions.

const (
	whichAll       = "Which? each (ask one by one), write (all as write), none"
	whichAllOrRead = "Which? each (ask one by one), read (all that the server says only read), write (all as write), none"
	saysReads      = "the server says that it only reads"
	saysWrites     = "the server says that it writes"
)

// typeOneOf says which answers there are, after another one.
func typeOneOf(words []string) string {
	return "Type " + strings.Join(words, ", ") + ", or the first letter of one of them."
}

func removesServers(file string) string {
	return "This removes the servers from " + file + " and adds Patterngate. A backup is kept. Close the client first."
}

// The flags.

// noClient says that --import names nothing. meant is the client that was meant, or "".
func noClient(word, meant string, clients []string) string {
	return fmt.Sprintf("there is no client and no file %q%s. The clients are %s", word, didYouMean(meant), strings.Join(clients, ", "))
}

func noSuchServer(name, meant, servers string) string {
	return name + ": no such server" + didYouMean(meant) + "; there are " + servers
}

func noSuchTool(name, server, meant, tools string) string {
	return name + ": " + server + " has no such tool" + didYouMean(meant) + "; it has " + tools
}

func serverOff(name, problem string) string {
	return name + ": the server is not enabled: " + problem
}

// didYouMean returns the question after a misspelt name, or "" if no name is meant.
func didYouMean(meant string) string {
	if meant == "" {
		return ""
	}
	return " (did you mean " + meant + "?)"
}

func alreadyExists(file string) string {
	return file + " already exists, and init never overwrites a file"
}

func noneInBoth(client, config string) string {
	return client + " has no server that " + config + " has too"
}

// These are comments behind a command line.
const (
	onlyReplaces = "only takes the servers that this file has out of the client's file"
	copyEntries  = "then copy its servers into your file"
	restoresFile = "restores the client's file"
)

func replacesThem(client string) string {
	return "starts Patterngate in place of these servers in " + client
}

// The result.

// noneEnabled warns about a configuration without tools. enables is a command line that enables one, or "".
func noneEnabled(file, enables string) string {
	text := "no tool is enabled, so the client sees no tool of these servers. Enable tools in " + file
	if enables != "" {
		text += ", or remove that file and run this again at a terminal, which asks you about each tool, or as: " + enables
	}
	return text
}

// notOffered says which enabled tools the client cannot call.
func notOffered(tools []string, file string) string {
	verb, them := " are", "them"
	if len(tools) == 1 {
		verb, them = " is", "it"
	}
	return strings.Join(tools, ", ") + verb + " not offered to the client yet. Add " + them + " to catalog.expose in " + file + ", with a policy"
}

// stillDirect returns the warning about a server that the configuration does not have.
func stillDirect(server, config string) string {
	return `the client still starts the server "` + console.OtherName(server) + `" directly: it is not in ` + config
}

func faultsKeep(file string) string {
	return "the new file has faults, so " + file + " stays unchanged"
}

func noneStarted(file string) string { return "no server started, so " + file + " stays unchanged" }

// The new file.

// offReads is the comment behind a tool that is off and that its server says only reads. as is the start of its line.
func offReads(as string) string {
	return "Off. The server says that it only reads. To enable it, write {" + as + "effect: read}."
}

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
