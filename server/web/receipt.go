package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// fill describes a receipt in words.
func (page *receiptPage) fill(now time.Time) {
	r := page.Receipt
	page.Began, page.Over = wording.ParseMoment(r.CreatedAt, now), wording.ParseMoment(r.EndedAt, now)
	page.Status, page.Class = wording.RunStatus(r.Ended.Status)
	page.Reason, page.For = wording.Clip(r.Ended.StopReason, 2*wording.MaxName), wording.Name(cmp.Or(r.Principal, "nobody known"))
	page.Proposers = proposers(r.ProposedBy)
	page.ClientName = wording.Client(r.Client)
	room := maxSteps
	for _, c := range r.Calls[:min(len(r.Calls), maxRows)] {
		row := receiptCallOf(c, now)
		room -= row.size()
		if room < 0 && len(row.Args) > 0 {
			row.Args, row.More = nil, "Not shown, since this page is full. They are in the export."
		}
		page.Lines = append(page.Lines, row)
	}
	if more := len(r.Calls) - len(page.Lines); more > 0 {
		page.MoreCalls = "And " + wording.Count(more, "more call") + ". They are in the export."
	}
	for _, refused := range r.Refused[:min(len(r.Refused), maxRows)] {
		page.Turned = append(page.Turned, refusalOf(refused, now))
	}
	if more := len(r.Refused) - len(page.Turned); more > 0 {
		page.MoreTurned = "And " + wording.Grouped(more) + " more. They are in the export."
	}
	page.Spending = append(page.Spending, wording.Duration(r.Spent.Seconds)+" without waits")
	for _, g := range gaugesOf(r.Spent.Budget) {
		if line := g.Name + ": at most " + g.Limit; !r.Spent.Known {
			page.Spending = append(page.Spending, line)
			continue
		}
		page.Spending = append(page.Spending, g.Name+": "+g.Used+" of "+g.Limit)
	}
	if u := r.Spent.Usage; u.Requests > 0 {
		page.Spending = append(page.Spending, fmt.Sprintf("%s to %s: %s tokens in, %s out", wording.Count(u.Requests, "question"), wording.Name(cmp.Or(u.Model, "a model")),
			wording.Grouped(u.InputTokens), wording.Grouped(u.OutputTokens)))
	}
	if len(r.Asked) > 0 {
		page.Claims = append(page.Claims, wording.JSONBlock("What the run was asked to do", r.Asked, maxClaim))
	}
}

func receiptCallOf(c record.Call, now time.Time) receiptCall {
	row := receiptCall{Tool: wording.Name(c.Tool), Effect: wording.Effect(c.Effect), Hash: wording.Name(c.ArgsHash), At: wording.ParseMoment(c.At, now)}
	row.Status, row.Class = wording.Call(c)
	for _, a := range c.Args {
		row.Args = append(row.Args, argument{Name: wording.Visible(a.Name), Value: wording.Visible(a.Text())})
	}
	switch {
	case c.Args == nil:
		row.More = "They cannot be read."
	case len(c.Args) == 0:
		row.More = "None."
	case c.ArgsLeft > 0:
		row.More = "And " + wording.Count(c.ArgsLeft, "more argument") + "."
	}
	switch {
	case c.Decision == "approve" && c.Rule == "" && c.RuleText == "allowlisted":
		row.Judged = "on the list of what this tool may call; no rule judged it"
	case c.Decision != "":
		row.Judged = judgedWords(c.Decision, c.Rule, c.Why, c.RuleText)
		if words := wording.Passes(c.Passes); words != "" {
			row.Judged += "; " + words
		}
	}
	row.Values, row.MoreValues = valuesOf(record.Because{Values: c.Values}.Read())
	for _, person := range []*record.Approved{c.Approved, c.Settled} {
		if person != nil && person.Comment != "" {
			row.Comments = append(row.Comments, wording.Lines(person.Comment, wording.MaxComment))
		}
	}
	row.Approved, row.Settled = saidOf(c.Approved, now), saidOf(c.Settled, now)
	if c.Approved != nil {
		row.Changed = editLines(c.Approved.Edits)
	}
	return row
}

// saidOf returns a person's decision for a page, or nil if there is none.
func saidOf(a *record.Approved, now time.Time) *said {
	if a == nil {
		return nil
	}
	return &said{wording.DecidedBy(*a), wording.ParseMoment(a.At, now)}
}

// size returns how many bytes of the page the arguments and values take.
func (c receiptCall) size() (n int) {
	for _, a := range slices.Concat(c.Args, c.Values) {
		n += len(a.Name) + len(a.Value)
	}
	return n
}

// editLines returns the arguments that a person changed, one line each, at most the first 32.
func editLines(edits []record.Edit) []string {
	const most = 32
	words := func(value json.RawMessage) string {
		if value == nil {
			return "nothing"
		}
		return wording.Clip(string(value), maxPhrase)
	}
	var list []string
	for i, e := range edits {
		if i == most {
			return append(list, "and "+wording.Grouped(len(edits)-i)+" more")
		}
		list = append(list, wording.Name(e.Name)+" from "+words(e.From)+" to "+words(e.To))
	}
	return list
}

func refusalOf(r record.Refused, now time.Time) receiptRefusal {
	row := receiptRefusal{Text: cmp.Or(wording.Name(r.Name), "a proposal") + " was " + judgedWords(r.Decision, r.Rule, r.Why, r.RuleText)}
	row.Values, row.MoreValues = valuesOf(record.Because{Values: r.Values}.Read())
	switch {
	case r.Approval != "":
		row.Text = "an attempt to decide " + wording.Name(r.Approval) + " was refused (" + wording.Name(r.Reason) + ")"
	case r.Until != "":
		row.Text = wording.Name(r.Name) + " was put to a person by " + wording.Name(r.Rule) + ", who has not answered; silence means no"
		row.Until = wording.ParseMoment(r.Until, now)
	case r.Reason != "":
		row.Text += " (" + wording.Name(r.Reason) + ")"
	}
	if r.Asked != nil && r.Approval == "" {
		row.Asked, row.Comment = saidOf(r.Asked, now), wording.Lines(r.Asked.Comment, wording.MaxComment)
	}
	return row
}

// judgedWords describes a decision and its rule.
func judgedWords(decision, rule, why, text string) string {
	words := wording.Decision(decision)
	if rule != "" {
		words += " by rule " + wording.Name(rule)
	}
	if why != "" {
		words += " (" + wording.Name(why) + ")"
	}
	if text != "" {
		words += ": " + wording.Clip(text, maxSaid)
	}
	return words
}

// proposers names the parts that proposed what was done.
func proposers(list []string) string {
	var words []string
	for _, who := range list[:min(len(list), 8)] {
		known := map[string]string{"caller": "the caller", "rules": "the offline rules", "model": "a model", "plan": "the stored plan"}[who]
		words = append(words, cmp.Or(known, "the model "+wording.Name(who)))
	}
	return cmp.Or(strings.Join(slices.Compact(words), ", then "), "nobody: nothing was proposed")
}

// number formats a number of a budget.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
