package catalogcmd

import (
	"fmt"
	"strings"

	"patterngate/server/cli/console"
)

// This file has texts of the package that people read. The texts of help pages are beside their commands.

// The state of a tool that the file disables.
const stateOff = "off"

// Trying a tool.

const (
	nameTool = "name the tool"
	demoTool = "it is a demo tool"
)

func noTool(name, near string) string { return meant("no tool "+name, near) }

func testOff(name string) string {
	return fmt.Sprintf("%s is off: it or its server has \"enabled: false\" in the file", name)
}

func onlyReads(effect string) string {
	return fmt.Sprintf("it has effect %s; only tools that read can be tested", effect)
}

func dryRun(tool, args string) string {
	return fmt.Sprintf("patterngate call %s --args %s --dry-run", tool, args)
}

func explainCall(tool, args string) string {
	return fmt.Sprintf("patterngate policy explain --tool %s --args %s", tool, args)
}

// policyFirst is about a tool that writes and that no policy judges.
func policyFirst(tool string) string {
	return fmt.Sprintf("give %s a policy first (docs/first-rule.md), then: patterngate policy explain --tool %s", tool, tool)
}

// Accepting tools.

const (
	anotherFile  = "name the file of your servers: --config FILE"
	everyToolOff = "every tool that the file names has \"enabled: false\". Remove it from one, then accept that one"
)

// noServersIn is about a configuration without servers; file is "" for the embedded one.
func noServersIn(file string) string {
	if file == "" {
		return "no file was found, and the embedded configuration has no servers"
	}
	return file + " has no servers"
}

func serverOff(server string) string {
	return fmt.Sprintf("server %s is disabled in the file. Remove \"enabled: false\" from its entry, then accept it", server)
}

func everyToolOfOff(server string) string {
	return fmt.Sprintf("every tool of server %s is disabled in the file. Remove \"enabled: false\" from one, then accept it", server)
}

func toolOff(tool, server string) string {
	return fmt.Sprintf("tool %s of server %s is disabled in the file. Remove \"enabled: false\" from its entry, then accept it", tool, server)
}

func noServer(name, near string) string {
	return meant(fmt.Sprintf("no server %s in the file", name), near)
}

func noToolOf(tool, server, near string) string {
	return meant(fmt.Sprintf("the file names no tool %s of server %s", tool, server), near)
}

// editAt names the line of the file to edit.
func editAt(file string, line int) string { return fmt.Sprintf("edit %s:%d", file, line) }

func nothingToAccept(off int) string {
	if off > 0 {
		return fmt.Sprintf("nothing to accept; off: %s, see patterngate catalog list\n", console.Plural(off, "tool"))
	}
	return "nothing to accept\n"
}

// meant adds the name that was meant.
func meant(reason, near string) string {
	if near == "" {
		return reason
	}
	return fmt.Sprintf("%s; did you mean %s?", reason, near)
}

const (
	comparingTools = "starting the servers and comparing their tools"
	acceptRisk     = "You accept the tools as shown. A tool that changes later is held until you accept it again."
	// repeatsSecret is the reason why a declaration is neither accepted nor shown.
	repeatsSecret = "it repeats a secret of the configuration; have the server fixed"
)

// lacksTool says which tools a server has in place of one that it lacks.
func lacksTool(has []string) string {
	if len(has) == 0 {
		return "the server has no tools"
	}
	return "the server has no such tool; it has " + console.OtherText(strings.Join(has, ", "), 300)
}

// A server that is off, or of which the file names no tool.

func noToolsOf(server string) string {
	return fmt.Sprintf("the file names no tool of server %s. Add the tools that you want, then accept them", server)
}

// offersTools introduces the lines of a server's tools that the file does not have yet.
func offersTools(server, tools, file string) string {
	return fmt.Sprintf("%s has %s that the file does not name. Add those that you want below \"tools:\" of %s in %s.\n"+
		"Say what each one does: effect: read, write or destructive. The lines say write, whatever the server says.\n", server, tools, server, file)
}

func allNamed(server string) string {
	return fmt.Sprintf("%s has no tool that the file does not name.\n", server)
}

// failsToStart adds why a server could not list its tools.
func failsToStart(reason, why string) string {
	return fmt.Sprintf("the server was started to list its tools, but: %s. Fix that first. Also, %s", why, reason)
}

func isOff(server string) string { return server + " is off in the file." }

const startOnce = "Start it once to list its tools?"

const listingTools = "starting the server to list its tools"

func wroteLock(file string) string {
	return fmt.Sprintf("wrote %s. A running server reads it after: patterngate reload\n", file)
}

// Signing what was accepted before an approver key was enrolled.

const (
	acceptLater = "They are held until you run \"patterngate catalog accept\".\n"
	notSigned   = "The passphrase does not open the key. Nothing was signed. "
)

func typePassphrase(tools, key string) string {
	return fmt.Sprintf("To accept %s as shown, type the passphrase of approver key %s again. Press Enter to leave them held", tools, key)
}

func signedLock(tools, file string) string {
	return fmt.Sprintf("signed the acceptance of %s. Run \"patterngate reload\" so that a running server reads %s\n", tools, file)
}
