package cli

import (
	"fmt"
	"io/fs"
)

// This file has texts of the package that people read. The texts of help pages are beside their commands.

// didYouMean adds the name that was meant to what is wrong.
func didYouMean(reason, near string) string { return fmt.Sprintf("%s; did you mean %s?", reason, near) }

func noCommand(name string) string { return fmt.Sprintf("no command %q", name) }

// Serving.

// bareHint explains what Patterngate waits for. It is for a person who started it without arguments, away from a terminal.
const bareHint = `Patterngate waits for an MCP client: JSON-RPC messages on standard input, one per line. None has arrived yet.
Run "patterngate --help" for the commands, or "patterngate setup" to add Patterngate to a client.
`

const (
	logLinesDropped = "log lines dropped, standard error was not read"
	logBypass       = "way around the gate"
)

// The files of secrets.

const (
	notRegular   = "not a regular file"
	wantFilePath = "write the path of a file"
)

func openToOthers(mode fs.FileMode) string {
	return fmt.Sprintf("mode %04o lets other users open it", mode)
}

// Reloads.

const (
	logReloadRefused      = "reload refused, the configuration stays unchanged"
	logWaitsForRestart    = "these wait for a restart"
	logChangedOnDisk      = "config changed on disk, not loaded"
	permitsMore           = "it permits more than before, and an approver key is enrolled. Run patterngate reload at a terminal and sign"
	signatureDoesNotCount = "the signature does not count: %w"
)

func otherSigned(signed, here string) string {
	return fmt.Sprintf("%s was signed, but the file has the hash %s here: it changed since then, or this program has another environment than the signer", signed, here)
}

func fileGone(file string) string { return file + " does not exist any more" }

func stateMoved(to, from string) string {
	return fmt.Sprintf("the changed file records runs in %s, and this server records in %s. Restart the server", to, from)
}
