package trial

import (
	"errors"
	"fmt"

	"patterngate/server/cli/console"
)

// The command demo.
const (
	demoShort = "Show what Patterngate does, on invented data"
	demoHelp  = "Plays a story on invented data: a question, a report, a ticket, and a refund that a person decides. Then it attacks\n" +
		"Patterngate four times, and kills the server in the middle of a payment. Nothing leaves this machine, and no key is\n" +
		"needed. It ends with 1 if a result is not as it should be.\n\n" +
		"With --live you are the person. A refund of 1200 USD waits for you on a page in your browser. Patterngate kills the\n" +
		"server and starts it again while the refund waits. Then you decide, and the payment happens once."
	demoExamples = "  patterngate demo\n  patterngate demo --live"
	liveFlag     = "you decide about the refund, on a page in your browser"

	tryTemporary = "set TMPDIR to a directory that you may write to"
	doingPay     = "a server makes the payment, and is killed"
	doingAgain   = "the next server starts and gets the same call"
)

// errNotPaid is the error of a call that ended before the server could be killed.
var errNotPaid = errors.New("the call ended before the payment was made")

// The hidden commands of the demo and of prove.
const (
	lifeShort   = "Play one life of a process that prove kills"
	ledgerShort = "Count what the demo's tools do (for demo and prove)"
	holdFlag    = "enter this tool's first effect without ever answering it"
)

// The refunds of prove.
const refundMail = "Your refund is on its way."

func goalOfRefund(usd float64) string { return fmt.Sprintf("Refund %v USD to user 42.", usd) }

// The live demo.
const (
	headingWaits  = "An agent asks for a refund, and a person decides: you"
	headingKilled = "The server is killed and started again"
	headingDecide = "You decide"

	doingAsk     = "the agent asks for the refund"
	doingOpen    = "opening the browser"
	doingRestart = "killing the server (kill -9) and starting the next one"
	doingWait    = "waiting for your decision (Ctrl-C ends the demo)"

	enterKills   = "Look at the page. Then press Enter here, and Patterngate kills the server."
	enterEnds    = "The page stays until you press Enter. There you see how the run ended, and its receipt."
	keptDecision = "You decided before the kill. Your decision was kept."
	signInAgain  = "The old page asks you to sign in again, because your sign-in ended with its server."
	openLink     = "Open this link in a browser. It signs you in once, within 60 seconds:"
	noBrowser    = "There is no browser and no terminal here. To open the page, run this command in another terminal:"
	howToDecide  = "On the page, approve the refund, change its amount and approve, or reject it."
	linkExpired  = "If the link no longer works, run this command in another terminal:"
)

var (
	// errInputEnded is the error of a live demo that ended because its input ended.
	errInputEnded = errors.New("standard input ended: the program that started the demo is gone or closed it. The demo stopped its servers")
	errNoPort     = errors.New("no port of this machine is free")
)

func agentGets(advice string) string { return "The agent reads: " + advice }

func browserOpens(approval string) string {
	return fmt.Sprintf("Your browser opens the page. Sign in there, and open the request %s.", approval)
}

func keptRequest(digest string) string { return "The request is unchanged: " + digest }

func notWaiting(status, reason string) error {
	return fmt.Errorf("the call does not wait: %s %s", status, reason)
}

func notOneRequest(n int) error { return fmt.Errorf("%s wait, want 1", console.Plural(n, "request")) }

// The command prove.
const (
	proveShort = "Kill the server at every step of a run, and count what happened"
	proveHelp  = `Checks on your machine that a crash loses nothing and repeats nothing. It runs the patterns of the demo, kills the
server with kill -9, starts the next one, and lets each run end. Then it compares the results and the payments with
those of runs without a kill.

The invented payments and emails are counted by a ledger, a separate process that is not killed. Nothing leaves this
machine, and your own runs are not touched.

Each row of the output is one kind of run:
- A pattern is killed at every boundary of its journal: before and after each commit and call.
- "settled" is a refund whose tool pays again when it is called again. A person looks into the ledger and says whether
  the payment happened. "looked up" is one whose tool can be asked.
- "again and again" kills a run several times, at random boundaries.
- "2 processes" and "3 processes" share a file. They are killed, stopped, continued at random.

--seed N repeats the random choices. The timing of processes still differs. It ends with 1 if anything was lost, was
done twice, or ended differently.`
	quickFlag = "kill at some of the boundaries only: it takes seconds, not minutes"
	seedFlag  = "repeat the random choices of this number (else a new one, which the last line shows)"

	rowAgain = "again and again"
)

// The columns of prove: pattern, boundaries, kills, lost, done twice, equal.
const (
	proveHead = "%-22s %10s %6s %5s %11s  %8s\n"
	proveRow  = "%-22s %10s %6d %5d %11d  %8s\n"
)

// columns are the names of the columns, for proveHead.
func columns() []any { return []any{"run", "boundaries", "kills", "lost", "done twice", "as usual"} }

func doingRow(row string) string { return "killing runs of: " + row }

func outOf(n, all int) string { return fmt.Sprintf("%d of %d", n, all) }

func rowCrowd(processes int) string { return fmt.Sprintf("%d processes, one file", processes) }

// proved sums up all trials in words.
func proved(p proof) string {
	trials := 0
	for _, r := range p.Rows {
		trials += r.Trials
	}
	said := fmt.Sprintf("In all %s, nothing was lost, nothing was done twice, and every run ended as usual.", console.Plural(trials, "trial"))
	if !p.good() {
		said = fmt.Sprintf("Not good: %d lost, %d done twice, %d of %s ended differently.", p.Lost, p.Twice, p.Unequal, console.Plural(trials, "trial"))
	}
	return fmt.Sprintf("%s\n%s and %s in %.1f s. To repeat the random choices: --seed %d\n",
		said, console.Plural(p.Kills, "kill"), console.Plural(p.Stops, "stop"), p.Seconds, p.Seed)
}

// Faults of a trial.

func lost(act string, got, want int) string {
	return fmt.Sprintf("lost: %s was done %s, want %d", act, console.Plural(got, "time"), want)
}

func doneTwice(act string, got, want int) string {
	return fmt.Sprintf("done twice: %s was done %s, want %d", act, console.Plural(got, "time"), want)
}

func endedApart(name, got, want string) string {
	return fmt.Sprintf("different: %s ended as ...%s..., want ...%s...", name, got, want)
}

func elsewhere(before, result string) string { return before + ", elsewhere as " + result }

func killedAt(name string, at any) string { return fmt.Sprintf("%s killed at %v", name, at) }

func crowdNumber(n int) string { return fmt.Sprintf("group %d", n) }

var (
	errNothingWritten = errors.New("nothing was written to the state file")
	errKilledAnyway   = errors.New("a process was killed that should have lived")
	errNoLedger       = errors.New("the ledger did not start")
)

func withoutKill(name string, cause error) error {
	return fmt.Errorf("%s without a kill: %w", name, cause)
}

func runsEnded(n, all int) error { return fmt.Errorf("%d of %d runs ended", n, all) }

func unreadChild(cause error) error {
	return fmt.Errorf("the output of a process cannot be read: %w", cause)
}

func childFailed(cause error, said string) error {
	return fmt.Errorf("a process failed (%v): %s", cause, said)
}

func childSlow(cause error) error {
	return fmt.Errorf("a process took longer than %v: %w", lifeTimeout, cause)
}

func runFailed(name string, cause error) error { return fmt.Errorf("%s: %w", name, cause) }

func notBegun(name string, envelope []byte) error {
	return fmt.Errorf("%s did not begin: %s", name, envelope)
}

func noKey(effect string) error { return fmt.Errorf("the intent of %s has no key", effect) }

func waitsForTurn(name string, turn int) error { return fmt.Errorf("%s waits for turn %d", name, turn) }
