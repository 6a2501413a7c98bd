package inbox

// The texts of the command "inbox" and of the page's log lines. The flags and the help are in command.go.

// What to run instead.

// browserOrDecide is for --print without a terminal. The machine may have no desktop either.
const browserOrDecide = "patterngate inbox, which opens the browser, or decide with: patterngate approvals list"

// printThere is for a machine without a desktop and a command without a terminal.
func printThere(signIn string) string {
	return signIn + " --print at a terminal, or decide with: patterngate approvals list"
}

// Why the page cannot be opened or served.

const (
	noDesktop    = "this machine has no desktop"
	notOpened    = "the browser cannot be opened"
	terminalOnly = "standard output is not a terminal. Anyone with the link can sign in, so it is printed to a terminal only"
	pageIsOff    = "the approval page is off"
	justEnded    = "the program that served the page ended a moment ago. Run the command again"
)

func pageMoved(held, address string) string { return held + ". This page is at " + address + ".\n" }

func notLoopback(address string) string { return "listen " + address + ": it is not loopback" }

func pageOfOther(address string) string {
	return address + " is the approval page of a Patterngate with another state file"
}

func usedByStranger(address string) string { return address + " is used by another program" }

// What the command did.

const (
	servedHere = "No server serves the page, so this command does, until Ctrl-C. It only decides: runs continue with `patterngate serve` or\n" +
		"`patterngate runs resume`.\n"
	linkBelow = "This link signs you in once, within 60 seconds:\n"
)

func browserOpens(base string) string {
	return "The browser opens " + base + "/ and offers a sign-in, once, within 60 seconds.\n"
}

// Log lines of the page.

const (
	logMoved  = "inbox at the next free port"
	logBeside = "inbox is served by another process"
	elsewhere = "--inbox 127.0.0.1:8767 for another address; until then, decide with `patterngate approvals`"
)
