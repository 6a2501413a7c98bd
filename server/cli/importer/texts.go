package importer

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// Questions.

const (
	whichAll       = "Which? each (ask one by one), write (all as write), none"
	whichAllOrRead = "Which? each (ask one by one), read (all that the server says only read), write (all as write), none"
	saysReads      = "the server says that it only reads"
	saysWrites     = "the server says that it writes"
)

// hasTools introduces the list of a server's tools, whose second column is the server's hint.
func hasTools(server, tools string) string {
	return server + " has " + tools + ". The second column is what the server itself says:"
}

// nothingWritten says what an end of the questions about tools did.
const nothingWritten = "nothing was written"

// typeOneOf says which answers there are, after another one.
func typeOneOf(words []string) string {
	return "Type " + strings.Join(words, ", ") + ", or the first letter of one of them."
}

func removesServers(file string) string {
	return "This removes the servers from " + file + " and adds Patterngate. A backup is kept. Close the client first."
}

// The flags.

const (
	useOne          = "use one of them"
	replaceOrNot    = "--replace and --no-replace exclude each other"
	needsImport     = "without --import there are no servers"
	undoAlone       = "it takes no other flag than --import"
	anotherFile     = "patterngate init -o ANOTHER.yaml, or move that file away"
	noDirectoryHere = "there is no configuration directory"
	otherDirectory  = "patterngate init -o FILE in another directory"
	fewerServers    = "use a file with fewer servers"
	makeWritable    = "make it writable"
	writableOrKeep  = "make it writable, or use --no-replace"
	anyTool         = "SERVER/TOOL"
	copyByHand      = "copy the servers back from there by hand"
)

func alsoAllowed(tool string) string {
	return tool + " is in --allow too, which makes it a write"
}

func otherLocks(dir string) string { return "locks of other configurations are in " + dir }

func noClientFile(client, path string) string { return client + " has no file " + path }

func tooManyServers(file string, got, most int) string {
	return fmt.Sprintf("%s has %d servers, and at most %d can be imported", file, got, most)
}

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

// importAgain is the reason for an import into a file that exists.
func importAgain(file string) string {
	return alreadyExists(file) + ". To import again, name another file with -o, or remove this one first"
}

// noneInBoth says that there is no server to replace. off are those that the configuration has, but not enabled.
func noneInBoth(client, config string, off []string) string {
	text := client + " has no server that is enabled in " + config + " too"
	if len(off) == 0 {
		return text
	}
	return text + ". These are in it but off (enabled: false): " + strings.Join(off, ", ")
}

// These are comments behind a command line.
const (
	onlyReplaces = "only takes the servers that this file has out of the client's file"
	copyEntries  = "then copy its servers into your file"
	restoresFile = "restores the client's file"
	leavesOff    = "leaves that server off; to enable its tool, first remove the reason"
)

func replacesThem(client string) string {
	return "starts Patterngate in place of these servers in " + client
}

// The result.

const waitingForServers = "waiting for the servers"

// notStarted stands in the list of servers while they start.
const notStarted = "not enabled, see below"

// starting says how many servers start, and how long each can take.
func starting(servers, client string, within time.Duration) string {
	return fmt.Sprintf("starting %s of %s, each once and for at most %d seconds", servers, client, int(within.Seconds()))
}

func startsPatterngate(file string) string { return file + " now starts Patterngate" }

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
	return strings.Join(tools, ", ") + verb + " not offered to the client yet. Add " + them + " to catalog.expose in " + file + ", with a policy: see " + policyPage
}

// policyPage is the page about the first policy.
const policyPage = "docs/first-rule.md"

// namesFile says how to use a file that Patterngate does not read by itself.
func namesFile(file string) string {
	return "Patterngate does not read " + file + " by itself. Give it with --config, or set " + settings.PathVariable
}

// olderSecrets warns about files of secrets that were there before. They stay.
func olderSecrets(files []string) string {
	return "there are secrets of an earlier import, which stay and which the new file does not use. Remove them if no other configuration needs them: " + strings.Join(files, ", ")
}

// stillDirect warns about a server that the configuration does not have, or has but does not enable.
func stillDirect(server, config string, off bool) string {
	why := "it is not in " + config
	if off {
		why = "it is in " + config + " but off (enabled: false)"
	}
	return `the client still starts the server "` + console.OtherName(server) + `" directly: ` + why
}

func faultsKeep(file string) string {
	return "the new file has faults, so " + file + " stays unchanged"
}

func noneStarted(file string) string { return "no server started, so " + file + " stays unchanged" }

// listsLater is the command that lists the tools of a server that did not start.
func listsLater(server string) string { return "catalog accept " + server }

func onceFixed(server string) string { return "lists the tools of " + server + ", once it starts" }

// noneCallable warns about a server that was replaced without any of its tools.
func noneCallable(server string, tools int) string {
	its := "its only tool"
	if tools != 1 {
		its = fmt.Sprintf("any of its %d tools", tools)
	}
	return console.OtherName(server) + ": the client can no longer call " + its + ", because you enabled none"
}

// The new file.

func onceFixedComment(server string) string {
	return "    # Once it starts: remove \"enabled: false\", and paste its tools here. This prints them:   patterngate " + listsLater(server) + "\n"
}

// offReads is the comment behind a tool that is off and that its server says only reads. as is the start of its line.
func offReads(as string) string {
	return "Off. The server says that it only reads. To enable it, write {" + as + "effect: read}."
}

// fileHead returns the start of the file: how to change it, and the lock. The values are YAML already.
func fileHead(client, pin string) string {
	return `# Patterngate's configuration, made by "patterngate init" from the servers of ` + client + `.
#
# A tool that is not named here, or has "enabled: false", does not exist. To enable a tool, remove "enabled: false", say what
# the tool does (effect: read, write or destructive; the server's own word is only a hint), and accept its definition:
#   patterngate catalog accept SERVER/TOOL
# Then add the tool to "expose", so that the client can call it. Each of its calls is judged and recorded.
# After an edit:   patterngate validate
version: 1
catalog:
  pin: ` + pin + `   # the accepted definition of each tool; one that changes is held until it is accepted again
`
}

func allowsNetworks(networks string) string {
	return "  allow_networks: [" + networks + "]   # addresses of servers below; no other private address is dialled\n"
}

func addNetworks(networks string) string {
	return "  # add to allow_networks before you enable a tool there: " + networks + "\n"
}

func couldAllow(networks string) string {
	return "  # allow_networks: [" + networks + "]   # add this before you enable a tool there: addresses of servers below\n"
}

func couldExpose(tools string) string {
	return "  # These tools change something, so the client cannot call them yet. To offer one, add it to expose, with a policy (" +
		policyPage + "):\n  #   " + tools + "\n"
}

func calledThere(name string) string { return "    # called " + name + " in the client's file\n" }

func getsVariables(list string) string {
	return "        env: " + list + "   # the server gets no other variables\n"
}

const ignoreFile = "# Secrets. Do not commit them.\n*\n"

// Servers that are not enabled, and what init leaves out of them.

const (
	disabledThere        = "it is disabled in the client"
	notAnObject          = "its entry is not an object"
	neitherCommandNorURL = "its entry has neither command nor url"
	bothCommandAndURL    = "its entry has both command and url"
	emptyCommand         = "its command is empty"
	lineEnd              = "its command or cwd contains a line end"
	noProgramName        = "its command is not the name of a program"
	urlBroken            = "its url does not parse"
	urlUser              = "its url contains a user name"
	needsHeaders         = "it needs headers other than a bearer token, which init does not send, so its tools are unknown"
	noOtherServer        = "it has no other MCP server than this one"

	secretArgument = "an argument is a secret, and other users of this machine can see command lines. Use a variable if the server reads one"
	noEnvFile      = "its envFile is not imported. Add the variables that it needs to env"
	oldTransport   = "it uses the old transport sse. Streamable HTTP is tried at its url"
	isEmpty        = "it is empty"
	noVariable     = "that is not the name of a variable"
	repeatedHeader = "repeated, in other case"

	aText           = "a text"
	aList           = "a list"
	aListOfTexts    = "a list of texts"
	anObject        = "an object"
	anObjectOfTexts = "an object of texts"
)

// memberMeant adds the member that the entry has in place of a known one.
func memberMeant(reason, has, known string) string {
	return fmt.Sprintf("%s; it has %q (did you mean %s?)", reason, console.OtherName(has), known)
}

func memberIsNot(key, want string) string { return "its " + key + " is not " + want }

func leftOut(reason string) string { return "left out: " + reason }

func notEnabled(problem string) string { return "not enabled: " + problem }

func urlSecret(member string) string {
	return "its url contains a secret in the query member " + member
}

func readableSecret(without string) string {
	return without + ", which everyone can read there; give it as a header"
}

func unusableURL(reason string) string { return "its url cannot be used: " + reason }

func needsValue(place, reference string) string {
	return place + " needs " + reference + ", which has no value here"
}

func needsVariable(place, variable string) string {
	if place == "variable "+variable {
		return "the variable " + variable + " is not set here"
	}
	return place + " needs the variable " + variable + ", which is not set here"
}

func clientAsks(place, input, variable string) string {
	return fmt.Sprintf("%s: the client asks for %q; Patterngate takes it from the variable %s, or write {secret: \"file:PATH\"}", place, input, variable)
}

func noProgram(path string) string { return "there is no program " + path }

func notInPath(word string) string {
	return word + " is not installed or not in PATH. If it is installed, write the path that \"which " + word + "\" prints"
}

func variableOut(name, reason string) string {
	return "variable " + name + " is left out: " + reason
}

func headerOut(name, reason string) string { return "header " + name + " is left out: " + reason }

func tooManyArguments(got, most int) string {
	return fmt.Sprintf("it has %d arguments, and the file takes %d", got, most)
}

func noDirectory(path string) string { return "its cwd " + path + " is not a directory here" }

func holdsOurs(place, file string) string {
	return place + " holds " + file + ", so a call could change what is allowed. Name a narrower directory"
}

func containsOurs(place string) string {
	return place + " contains this configuration or its record, so a call could change what is allowed"
}

// Addresses.

func addressIs(addr netip.Addr, class string) string { return addr.String() + " is " + class }

func nameLeads(host string, addr netip.Addr, class string) string {
	return fmt.Sprintf("%s leads to %s, %s", host, addr, class)
}

func nowAllowed(leads string, network netip.Prefix) string {
	return fmt.Sprintf("%s; added %s to allow_networks for it", leads, network)
}

func allowFirst(leads string, network netip.Prefix) string {
	return fmt.Sprintf("%s; add %s to allow_networks before you enable a tool of it", leads, network)
}

// Tools that a server declares.

const (
	repeatsSecret   = "it repeats a secret"
	toolNoObject    = "it is not an object"
	toolNameSize    = "its name is not a text of 1 to 256 bytes"
	toolNameLetters = "its name has blanks, or characters beyond ASCII"
	inputNoObject   = "its input schema is not an object"
	outputNoObject  = "its output schema is not an object"
)

func toolOut(tool, reason string) string { return "its tool " + tool + " is left out: " + reason }

func twoTools(name string) string { return "it declares two tools " + name }

func tooManyTools(got, most int) string {
	return fmt.Sprintf("it has %d tools, and at most %d can be imported", got, most)
}

// noAnswer says that a server did not list its tools in time.
func noAnswer(within time.Duration) string { return "did not answer within " + within.String() }

// lastWords adds the last line that a server wrote to standard error.
func lastWords(err error, line string) string {
	return err.Error() + "; the last line on its standard error: " + line
}

func unreadable(err error) string { return "it cannot be read: " + err.Error() }

func toolTextSize(key string) string { return "its " + key + " is not a text of at most 64 KiB" }

// Undo.

// undone says what init --undo did. later: it undid a later change by setup, too.
func undone(file, servers string, later bool) string {
	text := file + " is restored, byte for byte, to the text before init replaced " + servers + ".\n"
	if later {
		text += "This also undoes what setup changed later.\n"
	}
	return text + "The configuration that init wrote stays.\n"
}

// putBack says what init --undo did to a file that another program changed.
func putBack(file, servers string) string {
	return file + " has changed since init replaced " + servers + ", so only the servers are restored. Everything else in it stays.\n" +
		"The configuration that init wrote stays.\n"
}

// restart returns the instruction to restart a client after its file changed.
func restart(client string) string { return "restart " + client }

func changedSince(file, backup string) string {
	return file + " and its servers have changed since init replaced them, so nothing was written. The text from before is in " + backup
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
