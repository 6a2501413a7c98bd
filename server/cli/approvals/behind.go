package approvals

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
)

// An approver sees more than the call: its author, the results that the policy read, and equal calls.

// maxAlikeShown is how many equal calls are shown.
const maxAlikeShown = 5

// alikeRow is an equal call that waits or was approved, as --json shows it.
type alikeRow struct {
	ID    string `json:"approval_id"`
	RunID string `json:"run_id"`
	State string `json:"state"` // waiting, approve, edit
	At    string `json:"at"`    // start of the wait, or time of the approval
}

func alikeRows(list []patterns.Asked) []alikeRow {
	rows := []alikeRow{}
	for _, asked := range list[:min(len(list), maxAlikeShown)] {
		row := alikeRow{asked.ID, asked.Question.Run, string(asked.State), console.ClockText(asked.Since)}
		if g := asked.Given; g != nil {
			row.State, row.At = string(g.Choice), console.ClockText(g.At)
		}
		rows = append(rows, row)
	}
	return rows
}

// words describes an equal call in one sentence.
func (r alikeRow) words() string {
	if r.State == string(patterns.AskedOpen) {
		return fmt.Sprintf("%s waits too, since %s (%s)", console.Clip(r.ID, console.MaxName), r.At, console.Clip(r.RunID, console.MaxName))
	}
	text := "was approved at "
	if r.State == string(gateway.ChooseEdit) {
		text = "was approved with changes to these arguments at "
	}
	return fmt.Sprintf("%s %s%s (%s)", console.Clip(r.ID, console.MaxName), text, r.At, console.Clip(r.RunID, console.MaxName))
}

// alike writes a line for each equal call.
func (p *askedPage) alike(list []patterns.Asked) {
	for _, row := range alikeRows(list) {
		p.Line("Equal call", row.words())
	}
	if more := len(list) - maxAlikeShown; more > 0 {
		p.Line("", fmt.Sprintf("and %d more", more))
	}
}

// observed writes the results of earlier calls of the run, which the policy can read.
func (p *askedPage) observed(b record.Behind) {
	if len(b.Observed) == 0 {
		return
	}
	p.Text.WriteString("\nResults of earlier calls, which the policy can read (from the tools, not checked):\n")
	if b.Left > 0 {
		fmt.Fprintf(&p.Text, "  %s are not shown\n", console.Plural(int64(b.Left), "earlier call"))
	}
	for _, o := range b.Observed {
		var lines []string
		for _, v := range o.Result {
			lines = append(lines, v.Name+": "+v.Text())
		}
		if o.Left > 0 {
			lines = append(lines, fmt.Sprintf("and %s", console.Plural(int64(o.Left), "more value")))
		}
		p.Text.WriteString("  " + console.Clip(o.Tool, console.MaxName) + "\n")
		for _, line := range lines {
			p.Text.WriteString(console.Fenced("    ", strings.Join(strings.Fields(line), " "), p.Width))
		}
	}
}

// context returns the text above the call that a person decides about: who proposed it, equal calls, the rule that asks, and
// what earlier calls returned.
func (d desk) context(asked patterns.Asked, now time.Time, width int) string {
	v := d.viewOf(asked, now)
	p := askedPage{recordtext.Page{Width: min(width, 100)}}
	if who := v.behind.WrittenBy(asked.Question.Args); who != "" {
		p.Line("Proposed by", console.Clip(who, recordtext.MaxPhrase))
	}
	p.alike(v.alike)
	p.Line("Rule", cmp.Or(console.Part(asked.Rule, console.MaxName, p.Width), "none"))
	if asked.Text != "" {
		p.Line("Rule says", console.Part(asked.Text, recordtext.MaxPhrase, p.Width))
	}
	p.observed(v.behind)
	return p.Text.String() + "\n"
}
