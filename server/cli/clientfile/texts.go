package clientfile

import (
	"fmt"
	"strings"
)

// How to check each client.

const (
	codeClosed     = "close Claude Code while its file is edited: a running session overwrites it"
	vscodeProfiles = "Insiders and other profiles have their own mcp.json (MCP: Open User Configuration): name it with --file"
)

func codeConnected(name string) string {
	return "claude mcp get " + name + " says Connected; in a session /mcp lists it"
}

func vscodeLists(name string) string {
	return "the command MCP: List Servers shows " + name + "; start it there, then open the tools picker of a chat in agent mode"
}

func cursorLists(name string) string { return "Customize > MCPs lists " + name + " with its tools" }

func cursorTerminal(name string) string { return "or in a terminal: agent mcp list-tools " + name }

func codexEnabled(name string) string {
	return "codex mcp get " + name + " shows it enabled; in a session /mcp lists its tools"
}

func desktopRuns(name string) string {
	return "quit Claude Desktop completely before you start it again: Settings > Developer shows " + name + " as running"
}

// standardError says where a client writes what a server prints to standard error. The path lacks its ending.
func standardError(path string) string { return "its standard error is in " + path + ".log" }

// Files that cannot be read or written, and what to do.

const (
	belowFile  = "its directory is a file"
	brokenLink = "a link to a file that does not exist"
	aDirectory = "a directory"
	notRegular = "not a regular file"
	tooLarge   = "larger than 8 MiB"

	nameFile  = "name a file with --file"
	otherFile = "name another file with --file"
	mendLink  = "create that file, or remove the link"

	unsafeEdit       = "nothing was written, because the file cannot be edited without changing more than the entry. Add the block by hand"
	changedMeanwhile = "another program changed the file, so nothing was written; close its client and try again"
	tooManyBackups   = "there are 1000 backups of this second already"
	noLineEnd        = "\\ No newline at end of file"
)

// Texts that are not valid JSON or TOML, and what to do.

const (
	fixByHand    = "fix it by hand"
	mustBeObject = "it must be an object"
	mustBeTable  = "it must be a table"
	endsEarly    = "the text ends too early"
	openComment  = "a comment without an end"
	closeComment = "end it with */"
	keepOne      = "keep one of them"
)

// decoderWords are the words with which the decoder of JSON goes on after the character that it found, and how to say it. The
// character follows.
var decoderWords = []struct {
	words, says string
	literal     bool // a word such as true is misspelt
}{
	{words: "looking for beginning of value", says: "a value must begin here, not "},
	{words: "looking for beginning of object key string", says: "a name in quotes must begin here, not "},
	{words: "after object key:value pair", says: "a comma or } must follow the member, not "},
	{words: "after object key", says: "a colon must follow the name, not "},
	{words: "after array element", says: "a comma or ] must follow the item, not "},
	{words: "after top-level value", says: "the text must end after its first value, but there is "},
	{words: "exceeded max depth", says: "it is nested too deeply, at "},
	{words: "in string literal", says: "a text in quotes cannot have "},
	{words: "in string escape code", says: "no such escape in a text in quotes: \\ before "},
	{words: "in literal ", literal: true},
}

// inLiteral names a misspelt word. context is the word, and what the decoder adds in parentheses.
func inLiteral(found, context string) string {
	word, _, _ := strings.Cut(context, " ")
	return "only the word " + word + " can be here, not a word with " + found
}

func notJSON(reason string) string { return "not valid JSON: " + reason }

func fileIs(kind string) string { return "the file is " + kind }

func notATable(name string) string { return name + " is not a table" }

// hereAndAt says that a name occurs twice. line and column count from 1.
func hereAndAt(name string, line, column int) string {
	return fmt.Sprintf("%s is here and at %d:%d", name, line, column)
}

func uneditable(path string) string {
	return path + " is written in braces or as a dotted key, which setup does not edit"
}

func asTable(path string) string { return "write it as a table [" + path + "]" }

// Directories, and the program that clients start.

const (
	programsPath = "setup: the path of this program"
	moveProgram  = "move the program"
)

func noHome(variable string) string {
	return variable + " is not set, so there is no home directory to look in"
}

func relativeConfig(path string) string { return "XDG_CONFIG_HOME is a relative path, " + path }

func severalPackages(packages string) string {
	return "several packages of Claude Desktop: " + packages
}

func temporaryProgram(path string) string {
	return "this program is a temporary build (" + path + "). Build it, and run the built program"
}

func notUTF8(path string) string {
	return fmt.Sprintf("the path of this program is not UTF-8 (%q), which no client's file can hold", path)
}
