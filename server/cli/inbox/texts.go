package inbox

// The texts of the command "inbox" that say what to run instead.

// browserOrDecide is for --print without a terminal. The machine may have no desktop either.
const browserOrDecide = "patterngate inbox, which opens the browser, or decide with: patterngate approvals list"

// printThere is for a machine without a desktop and a command without a terminal.
func printThere(signIn string) string {
	return signIn + " --print at a terminal, or decide with: patterngate approvals list"
}
