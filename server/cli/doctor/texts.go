package doctor

import (
	"fmt"
	"strings"
	"time"
)

// The texts of doctor: what each check found, and how to fix it. A fix is a command or an instruction.

// The summary of a client.
func passed(checks int) string { return counted(checks, "check passed", "checks passed") }
func failing(failed, warned int) string {
	switch {
	case warned == 0:
		return counted(failed, "check failed", "checks failed")
	case failed == 0:
		return counted(warned, "warning", "warnings")
	}
	return failing(failed, 0) + ", " + failing(0, warned)
}
func served(tools int, first time.Duration) string {
	return fmt.Sprintf(", %s, first answer after %d ms", counted(tools, "tool", "tools"), first.Milliseconds())
}
func checking(client string) string { return "checking " + client }

const (
	nameNoClient   = "no client" // in place of a client's name
	checkingConfig = "checking the configuration"
	noClient       = "no known client has a file on this machine"
	fixNoClient    = "patterngate setup claude-code"
	labelFix       = "fix: "
)

// The file of a client.
const (
	fixPath = "set what is missing"
	fixFile = "correct the file by hand"
)

func noFile(client, path string) string { return client + " has no file " + path }

// The entry that starts Patterngate.
const (
	noEntry       = "the client does not start Patterngate"
	fixDisabled   = "enable it in the client"
	startsNothing = "the program lists no tools"
)

func setupFix(client string) string            { return "patterngate setup " + client + " --write" }
func entryProblem(name, problem string) string { return name + ": " + problem }
func disabled(name string) string              { return name + " is disabled in the client" }
func starts(name, command string) string       { return name + " starts " + command }
func noProgram(program, path, client string) string {
	return fmt.Sprintf("there is no program %s in PATH %s, which %s sets", program, path, client)
}

// The configuration.
const (
	embedded     = "the default configuration; there is no file"
	fixConfig    = "correct the file"
	fixMoreFault = "patterngate validate"
	fixNetworks  = "add that line to the file"
)

func withConfig(file string) string { return " --config " + file }
func withState(file string) string  { return " --state " + file }
func moreFaults(n int) string       { return fmt.Sprintf("and %d more", n) }

// The start of the program.
const (
	fixSlow      = "put the state file on a faster disk, or configure fewer MCP servers that start with Patterngate"
	fixListTools = "patterngate tools"
	fixStdout    = "make sure that no wrapper or shell writes to standard output"
	onlyMessages = "only MCP messages"
)

// notWithConfig is the detail of a start that failed because of the configuration, which has its own finding.
const notWithConfig = "it does not start with this configuration"

func startedIn(dir string) string             { return "in " + dir }
func notStarted(dir string, why error) string { return fmt.Sprintf("in %s: %v", dir, why) }
func fixStart(command string) string          { return "run it by hand: " + command }
func firstAnswer(after time.Duration) string  { return fmt.Sprintf("%d ms", after.Milliseconds()) }
func otherOutput(lines int, first string) string {
	return fmt.Sprintf("%s not MCP messages, the first: %s", counted(lines, "line is", "lines are"), first)
}

// The servers behind the gate.
const shownSecret = "SECRET" // in place of a secret argument

func offers(server string, tools int, dir string) string {
	text := fmt.Sprintf("%s offers %s", server, counted(tools, "tool", "tools"))
	if dir != "" {
		text += ", started in " + dir
	}
	return text
}
func noStart(server, dir, why string) string {
	return fmt.Sprintf("%s does not start in %s: %s", server, dir, why)
}
func noAnswer(server, why string) string { return fmt.Sprintf("%s does not answer: %s", server, why) }

// fixBehind has the names of all variables that the program gets.
func fixBehind(dir string, names []string, command string) string {
	only := "without variables, since env names none"
	if len(names) > 0 {
		only = "with only the variables that env names (" + strings.Join(names, ", ") + ")"
	}
	return fmt.Sprintf("in %s, run it by hand, %s: %s", dir, only, command)
}

// fixNotPassed has the entries of env to write: all, or with add those that are missing.
func fixNotPassed(name string, entries []string, add bool, file string, line int) string {
	verb := "write"
	if add {
		verb = "add"
	}
	return fmt.Sprintf("the server gets only the variables that env names, and %s is not one; %s env: {%s} at %s:%d", name, verb, strings.Join(entries, ", "), file, line)
}

// fixAsksForSecret is about a variable whose name says that it is a secret.
func fixAsksForSecret(name, file string, line int) string {
	return fmt.Sprintf("the server asks for %s. Give it only if it is meant for this server: env at %s:%d", name, file, line)
}
func alsoInClient(name string) string {
	return ", and set " + name + " for Patterngate in the client, which does not pass it on"
}
func passedOnEntry(name string) string { return name + ": true" }
func fixSecretVariable(name string) string {
	return fmt.Sprintf("set %s for Patterngate in the client, or use a file: {secret: \"file:PATH\"}", name)
}
func fromShell(names []string) string {
	if len(names) == 1 {
		return names[0] + " comes from your shell; the client may not have it"
	}
	return strings.Join(names, ", ") + " come from your shell; the client may not have them"
}

// fixNoSecretFile has the file also as a word of a shell.
func fixNoSecretFile(file, word string) string {
	return fmt.Sprintf("write the secret to %s, and run: chmod 600 %s", file, word)
}
func fixSecretMode(word string) string { return "chmod 600 " + word }
func fixSecretPlace(why string) string { return "correct the place of the secret: " + why }
func fixEndpoint(server string) string { return "start " + server + ", or correct its url and headers" }
func placed(file string, line int, path, what string) string {
	return fmt.Sprintf("%s:%d: %s: %s", file, line, path, what)
}
func missingTool(server, tool string) string { return server + " has no tool " + tool }
func fixMissing(file string, line int) string {
	return fmt.Sprintf("correct the tool's name, or remove it: %s:%d", file, line)
}

// The tools.
const (
	fixSize        = "list fewer tools in the key offer, or expose fewer tools"
	fixReport      = "report it"
	fixReportTool  = "report it, with the declaration of the tool"
	fixName        = "give the tool another name with the key as"
	fixLongName    = "use a shorter name for the tool or the server"
	fixNoWords     = "add description: TEXT"
	fixLongWords   = "use a shorter description"
	fixSchema      = "limit the arguments with bound, or use fewer"
	fixTool        = "patterngate catalog list"
	fixHeld        = "patterngate catalog accept"
	rootNoObject   = "a root that is not an object"
	unreadableTool = "a tool cannot be read: "
)

func toolsFit(n int) string {
	return counted(n, "tool", "tools") + "; names, descriptions and schemas work with every client"
}
func listSize(bytes, tokens int) string {
	return fmt.Sprintf("tools/list has %d bytes, about %d tokens in every conversation", bytes, tokens)
}
func listTooLarge(bytes, tokens, most int) string {
	return fmt.Sprintf("%s, more than %d bytes", listSize(bytes, tokens), most)
}
func badName(name string) string {
	return name + ": clients accept 1 to 64 of a-z, A-Z, 0-9, _ and -"
}
func longName(name, full string, most int) string {
	return fmt.Sprintf("%s: some clients call it %s, which is longer than %d characters", name, full, most)
}
func noDescription(name string) string { return name + " has no description" }
func longDescription(name string, n, most int) string {
	return fmt.Sprintf("%s: the description has %d characters, and some clients cut it after %d", name, n, most)
}
func largeSchema(name, which string, bytes, most int) string {
	return fmt.Sprintf("%s: its %s schema has %d bytes, more than %d", name, which, bytes, most)
}
func badSchema(name, which, found string) string {
	return fmt.Sprintf("%s: its %s schema has %s; some clients drop or damage such a tool", name, which, found)
}
func notJSON(why error) string { return "text that is not JSON: " + why.Error() }
func allHeld(tools []string) string {
	return fmt.Sprintf("%d tools are held until you accept them: %s", len(tools), strings.Join(tools, ", "))
}
func definitionChanged(tools []string) string {
	if len(tools) == 1 {
		return tools[0] + " is held: its definition changed"
	}
	return fmt.Sprintf("%d tools are held because their definitions changed: %s", len(tools), strings.Join(tools, ", "))
}
func fixChanged(tools []string) string { return fixHeld + " " + strings.Join(tools, " ") }
func cannotBeCalled(tool, state, why string) string {
	return strings.TrimSuffix(tool+" is "+state+": "+why, ": ")
}

// The state file, the approver keys, the kill switches.
const (
	inMemory    = "runs are lost when the client ends the program"
	fixMemory   = "remove --state :memory:"
	fixNoState  = "patterngate serve --state FILE"
	fixState    = "use another file: --state FILE"
	noKeys      = "no key: any program of this user can approve calls (patterngate approvals enroll)"
	noSwitch    = "off"
	fixSwitches = "patterngate kill-switch off"
)

func writable(path string) string { return path + " can be written" }
func enrolled(keys int) string {
	return counted(keys, "key", "keys") + "; decisions need a signature"
}
func stopped(what, since, by, reason string) string {
	return strings.TrimSuffix(fmt.Sprintf("%s stopped since %s by %s: %s", what, since, by, reason), ": ")
}
func stoppedTool(name string) string    { return "calls of the tool " + name + " are" }
func stoppedPattern(name string) string { return "runs of the pattern " + name + " are" }

const stoppedAll = "all calls are"

// Servers that a client starts directly.
func direct(servers []string, file string) string {
	if len(servers) > 1 {
		return fmt.Sprintf("the client starts %d servers directly, without your policy (%s): %s", len(servers), file, strings.Join(servers, ", "))
	}
	return fmt.Sprintf("the client starts the server %s directly, without your policy (%s)", servers[0], file)
}
func directOurs(servers []string, file, ours string) string {
	if len(servers) > 1 {
		return direct(servers, file) + "; they are in the catalog"
	}
	return direct(servers, file) + "; it is " + ours + " in the catalog"
}
func removeServer(servers []string, file string) string {
	if len(servers) > 1 {
		return "remove them from " + file
	}
	return fmt.Sprintf("remove the server %q from %s", servers[0], file)
}
func addServer(servers []string, config string) string {
	if len(servers) > 1 {
		return "add the servers to catalog.servers in " + config
	}
	return "add the server to catalog.servers in " + config
}
func fixDirect(client, config string, servers []string, file string) string {
	return "patterngate init --import " + client + " --replace -o " + config + ", or " + removeServer(servers, file)
}

// fixMoved is fixDirect for a client that does not start Patterngate yet.
func fixMoved(client string, servers []string, file string) string {
	return "patterngate init --import " + client + " --replace, or " + removeServer(servers, file)
}
func fixUnknown(servers []string, file, config string) string {
	return addServer(servers, config) + ", or " + removeServer(servers, file)
}

// directOff is direct for a server that the configuration has but does not enable.
func directOff(servers []string, file, ours, config string) string {
	return direct(servers, file) + "; " + ours + " is in " + config + " but off (enabled: false)"
}

// fixOff has the server and the file as words of a shell.
func fixOff(servers []string, file, ours, config string) string {
	return "patterngate catalog accept " + ours + " --config " + config + ", which lists its tools, or " + removeServer(servers, file)
}

// fixReplace is fixImport if init would find a configuration. init takes out of the client's file what that configuration has.
func fixReplace(client string, servers []string, file, config string) string {
	return addServer(servers, config) + " and run patterngate init --import " + client + " --replace, or " + removeServer(servers, file)
}
func fixImport(client string, servers []string, file string) string {
	return "patterngate init --import " + client + ", or " + removeServer(servers, file)
}

// counted returns a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
