package console

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"patterngate/ijson/printable"
)

// Step is what a person usually does next: runs a command, or something else.
type Step struct {
	Command string // without "patterngate", the program's name; "" for no command
	Why     string // what the command is for, in a few words; without a command, what to do
}

// The steps after commands. A command prints them with [Console.Next].
var (
	AfterValidate    = []Step{{"policy test", "run the tests of your policies"}, {"doctor", "check that your clients start Patterngate"}}
	AfterAccept      = []Step{{"reload", "make running servers use the tools"}, {"doctor", "check that your clients start Patterngate"}}
	AfterPolicyTest  = []Step{{"policy coverage", "find what no test or rule covers"}}
	AfterBacktest    = []Step{{"policy test", "run the tests of your policies"}, {"reload", "make running servers use the change"}}
	AfterTools       = []Step{{"tools NAME", "show the arguments of one tool"}, {"call NAME key=value", "call it"}}
	AfterStopReasons = []Step{{"stop-reasons NAME", "explain one of them"}}
)

// AfterSetup returns the steps after an entry was written to a client's file.
func AfterSetup(client, title string) []Step {
	return []Step{
		{"doctor " + client, "check that the client starts Patterngate"},
		{"", "Restart " + title + ", then ask it: Which tools does patterngate offer, and what would you use them for?"},
	}
}

// AfterSwitchOn returns the steps after a kill switch was turned on. flags name the tool or the pattern.
func AfterSwitchOn(flags string) []Step {
	return []Step{{"kill-switch off" + flags, "allow these calls again"}}
}

// AfterHeld returns the steps after a list of tools, of which some are held or not.
func AfterHeld(held bool) []Step {
	if !held {
		return nil
	}
	return []Step{{"catalog accept", "compare and accept the tools that are held"}}
}

// AfterApprovals returns the steps after a list of waiting calls. first is the id of the newest.
func AfterApprovals(first string) []Step {
	return []Step{{"approvals show " + first, "see the whole call and decide"}, {"inbox", "decide in your browser"}}
}

// AfterDecision returns the steps after a decision about a run.
func AfterDecision(run string) []Step {
	return []Step{{"runs show " + run, "see what the run did"}}
}

// AfterDecisionAlone returns the steps after a decision about a run that no process continues.
func AfterDecisionAlone(run string) []Step {
	return []Step{{"runs resume " + run, "continue the run"}}
}

// AfterRuns returns the steps after a list of runs. first is the id of the newest.
func AfterRuns(first string) []Step { return []Step{{"runs show " + first, "see what the run did"}} }

// AfterRun returns the steps after a run was shown.
func AfterRun(run string) []Step {
	return []Step{{"runs verify " + run, "check that the record is unchanged"}}
}

// AfterExport returns the steps after a record was written to a file.
func AfterExport(file string) []Step {
	return []Step{{"runs verify " + file, "check the record, on any machine"}}
}

// Next prints what a person usually does next, on standard error. It prints nothing unless standard output is a terminal, and nothing with
// --json: programs that read the output get no tips.
func (c *Console) Next(steps ...Step) {
	if c.JSON || len(steps) == 0 || !IsTerminal(c.Out) {
		return
	}
	_, _ = io.WriteString(c.Err, nextText(steps, c.Given, func(s string) string { return Paint(c.ColoredAt(c.Err), Dim, s) }))
}

// nextText returns the lines of the steps. given are the flags to repeat.
func nextText(steps []Step, given string, dim func(string) string) string {
	var b strings.Builder
	b.WriteString(dim("Next:") + "\n")
	column := 0
	lines := make([]string, len(steps))
	for i, s := range steps {
		if s.Command == "" {
			continue
		}
		lines[i] = "  patterngate " + printable.Text(s.Command) + given
		column = max(column, utf8.RuneCountInString(lines[i]))
	}
	for i, s := range steps {
		if s.Command == "" {
			b.WriteString("  " + printable.Text(s.Why) + "\n")
			continue
		}
		b.WriteString(lines[i] + dim(fmt.Sprintf("%*s# %s", column-utf8.RuneCountInString(lines[i])+3, "", s.Why)) + "\n")
	}
	return b.String()
}
