package recordtext

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
)

// Receipt returns a receipt as a page. The page assumes no knowledge of Patterngate.
func Receipt(r record.Receipt, width int) string {
	width = console.Readable(width)
	p := Page{Width: width}
	p.Text.WriteString(receiptTitle)
	p.Line("Run", console.Clip(r.RunID, console.MaxName)+", "+console.Clip(r.Pattern, console.MaxName))
	p.Line("For", ForWhom(r))
	p.Line("Began", r.CreatedAt)
	p.Line("Ended", cmp.Or(r.EndedAt, notYet(console.Clip(r.Ended.Status, console.MaxName))))
	p.Text.WriteString(askedUnchecked + console.Fenced("", string(r.Asked), width))
	p.Text.WriteByte('\n')
	p.Line("Proposed by", proposedBy(r.ProposedBy))
	p.calls(r.Calls)
	p.refused(r.Refused)
	p.Text.WriteByte('\n')
	p.Line("Outcome", endedWords(r.Ended))
	p.Line("Spent", spentWords(r.Spent))
	p.Text.WriteByte('\n')
	p.Line("Record", eventsAndHead(console.Plural(r.Record.Events, "event"), r.Record.Head))
	if r.Record.Verify != "" {
		p.Text.WriteString(checkWith + r.Record.Verify + "\n")
	}
	return p.Text.String()
}

// labelColumn is the width of the column of labels, in characters.
const labelColumn = 13

// Page collects the text of a receipt, or of an approval.
type Page struct {
	Text  strings.Builder
	Width int
}

// Line writes a label and its text.
func (p *Page) Line(label, text string) {
	indent := strings.Repeat(" ", labelColumn)
	fmt.Fprintf(&p.Text, "%-*s%s\n", labelColumn, label, console.Fold(text, console.FoldWidth(p.Width)-labelColumn, indent))
}

func (p *Page) calls(calls []record.Call) {
	if len(calls) == 0 {
		p.Line("Called", nothing)
		return
	}
	p.Text.WriteString(calledInOrder)
	for i, c := range calls {
		fmt.Fprintf(&p.Text, "%2d. %s%s: %s\n", i+1, console.Clip(c.Tool, console.MaxName), EffectWords(c.Effect), CallStatus(c))
		p.arguments(c)
		p.detail("judged", verdictWords(c))
		list, left := record.Because{Values: c.Values}.Read()
		p.Values("because", "    ", list, left)
		p.approved("approved by", c.Approved)
		p.approved("settled by", c.Settled)
		p.detail("recorded as", strings.TrimSpace(c.ArgsHash+"  "+console.Clip(c.Key, console.MaxName)+"  "+c.At))
	}
}

// arguments writes the arguments of a call, each behind a bar. The receipt has limited them already.
func (p *Page) arguments(c record.Call) {
	if len(c.Args) == 0 {
		p.detail("called with", map[bool]string{true: unreadableArgs, false: noArguments}[c.Args == nil])
		return
	}
	indent := strings.Repeat(" ", 4+labelColumn)
	var b strings.Builder
	for _, a := range c.Args {
		b.WriteString(console.FencedTo(math.MaxInt, indent, ArgumentName(a.Name)+": "+a.Text(), p.Width))
	}
	fmt.Fprintf(&p.Text, "    %-*s%s", labelColumn, "called with", strings.TrimPrefix(b.String(), indent))
	if c.ArgsLeft > 0 {
		p.detail("", andThings(console.Plural(int64(c.ArgsLeft), moreArgument)))
	}
}

// detail writes a labelled line below a call. It writes nothing for an empty text.
func (p *Page) detail(label, text string) {
	if text == "" {
		return
	}
	const margin = 4 + labelColumn
	fmt.Fprintf(&p.Text, "    %-*s%s\n", labelColumn, label, console.Fold(text, console.FoldWidth(p.Width)-margin, strings.Repeat(" ", margin)))
}

// approved writes a person's decision, with the name and the comment.
func (p *Page) approved(label string, by *record.Approved) {
	if by == nil {
		return
	}
	text := cmp.Or(whoSaid(by.By, by.KeyID, by.KeyName), notKnownWho) + ": "
	if by.Decision != "" {
		text += DecisionWord(by.Decision) + ", "
	}
	text += "assurance " + console.Clip(cmp.Or(by.Assurance, "none"), console.MaxName) + record.ComparedWords(by.Compared) + ", " + console.Clip(by.At, console.MaxName)
	if by.Approval != "" {
		text += ", " + console.Clip(by.Approval, console.MaxName)
	}
	p.detail(label, text)
	if changes := editWords(by.Edits); changes != "" {
		p.detail("changed", changes)
	}
	if by.Comment != "" {
		p.Text.WriteString(console.Fenced(strings.Repeat(" ", 4+labelColumn), by.Comment, p.Width))
	}
}

func (p *Page) refused(list []record.Refused) {
	if len(list) == 0 {
		return
	}
	p.Text.WriteString(notDone)
	for _, r := range list {
		p.Text.WriteString("  - " + console.Fold(refusedWords(r), console.FoldWidth(p.Width)-4, "    ") + "\n")
		list, left := record.Because{Values: r.Values}.Read()
		p.Values("because", "    ", list, left)
		if r.Approval == "" {
			p.approved("asked", r.Asked)
		}
	}
}

// refusedWords describes a proposal that was refused or that waits, with the reason.
func refusedWords(r record.Refused) string {
	rule := ""
	if r.Rule != "" {
		rule = byNamedRule(console.Clip(r.Rule, console.MaxName))
	}
	if r.Why != "" {
		rule += because(console.Clip(r.Why, console.MaxName))
	}
	text, name := "", cmp.Or(console.Clip(r.Name, console.MaxName), oneProposal)
	switch {
	case r.Approval != "":
		who := ""
		if r.Asked != nil {
			who = whoSaid(r.Asked.By, r.Asked.KeyID, r.Asked.KeyName)
		}
		text = attemptWords(r.Approval, who, r.Reason)
	case r.Until != "":
		text = waitsForPerson(name, rule, console.Clip(r.Until, console.MaxName))
	case r.Reason == patterns.ReasonExpired:
		text = noOneAnswered(name, rule)
	case r.Reason != "":
		text = wasDecided(name, DecisionWord(r.Decision)+because(console.Clip(r.Reason, console.MaxName))+rule)
	default:
		text = wasDecided(name, DecisionWord(r.Decision)+rule)
	}
	if r.RuleText != "" {
		text += ": " + console.Clip(r.RuleText, 3*console.MaxName)
	}
	return text
}

// ForWhom names the principal and the client that the principal used.
func ForWhom(r record.Receipt) string {
	text := console.Clip(cmp.Or(r.Principal, notKnownWho), console.MaxName)
	if r.Client.Name != "" {
		text += throughClient(console.Clip(r.Client.Name+" "+r.Client.Version, console.MaxName))
	}
	return text
}

// proposedBy names the proposers of a run in their order.
func proposedBy(list []string) string {
	words := make([]string, len(list))
	for i, who := range list {
		words[i] = map[string]string{"caller": theCaller, "rules": theRules, "model": aModel, "plan": thePlan}[who]
		if words[i] == "" {
			words[i] = namedModel(console.Clip(who, console.MaxName))
		}
	}
	return cmp.Or(strings.Join(words, thenModel), nothingProposed)
}

// CallStatus describes the outcome of a call.
func CallStatus(c record.Call) string {
	if c.Duplicate {
		return record.DoneBefore
	}
	words := map[string]string{
		"done": isDone, "failed": failedStatus, "in_doubt": doubtStatus, "reserved": begunStatus,
	}[c.Status]
	if c.Reason != "" && c.Status != "done" {
		words += because(console.Clip(c.Reason, console.MaxName))
	}
	words = cmp.Or(words, console.Clip(c.Status, console.MaxName))
	if c.Attempts > 1 {
		words += inAttempts(c.Attempts)
	}
	return words
}

// verdictWords names the rule that let a call pass.
func verdictWords(c record.Call) string {
	if c.Decision == "" {
		return ""
	}
	if c.Decision == "approve" && c.Rule == "" && c.RuleText == "allowlisted" {
		return allowListed
	}
	text := DecisionWord(c.Decision)
	if c.Rule != "" {
		text += byNamedRule(console.Clip(c.Rule, console.MaxName))
	}
	if c.Why != "" {
		text += because(console.Clip(c.Why, console.MaxName))
	}
	if c.RuleText != "" {
		text += ": " + console.Clip(c.RuleText, 3*console.MaxName)
	}
	if changes := changesOf(c.Decision, c.Rule, c.Why, c.Revisions); len(changes) > 0 {
		text += changedBy(strings.Join(changes, andAlso))
	}
	return text + passWords(c.Passes)
}

// endedWords describes how the run ended and what that means.
func endedWords(e record.Ending) string {
	if e.StopReason == "" {
		return noneYet(console.Clip(e.Status, console.MaxName))
	}
	text := console.Clip(e.StopReason, 2*console.MaxName)
	if e.Phase != "" {
		text += inPhase(console.Clip(e.Phase, console.MaxName))
	}
	if e.Meaning != "" {
		text += ". " + console.Clip(e.Meaning, 4*console.MaxName)
	}
	return text
}

// spentWords lists the time, the budgets and the tokens that a run used.
func spentWords(s record.Spent) string {
	parts := append([]string{withoutWaits(console.Took(s.Seconds))}, budgetWords(s.Budget, s.Known)...)
	if s.Usage.Requests > 0 {
		parts = append(parts, requestsTo(console.Plural(int64(s.Usage.Requests), "request"),
			console.Clip(cmp.Or(s.Usage.Model, aModel), console.MaxName), s.Usage.InputTokens, s.Usage.OutputTokens))
	}
	return strings.Join(parts, "; ")
}
