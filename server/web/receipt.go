package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// fill describes a receipt in words.
func (page *receiptPage) fill(now time.Time) {
	r := page.Receipt
	page.Began, page.Over = wording.ParseMoment(r.CreatedAt, now), wording.ParseMoment(r.EndedAt, now)
	page.Status, page.Class = wording.RunStatus(r.Ended.Status)
	page.Reason, page.For = wording.Clip(r.Ended.StopReason, 2*wording.MaxName), wording.Name(cmp.Or(r.Principal, wording.NobodyKnown))
	page.Proposers = proposers(r.ProposedBy)
	page.ClientName = wording.Client(r.Client)
	room := maxSteps
	for _, c := range r.Calls[:min(len(r.Calls), maxRows)] {
		row := receiptCallOf(c, now)
		room -= row.size()
		if room < 0 && len(row.Args) > 0 {
			row.Args, row.More = nil, wording.PageFull
		}
		page.Lines = append(page.Lines, row)
	}
	if more := len(r.Calls) - len(page.Lines); more > 0 {
		page.MoreCalls = wording.MoreInExport(more, "more call")
	}
	for _, refused := range r.Refused[:min(len(r.Refused), maxRows)] {
		page.Turned = append(page.Turned, refusalOf(refused, now))
	}
	if more := len(r.Refused) - len(page.Turned); more > 0 {
		page.MoreTurned = wording.MoreInExport(more, "more proposal")
	}
	page.Spending = append(page.Spending, wording.WithoutWaits(r.Spent.Seconds))
	for _, g := range gaugesOf(r.Spent.Budget) {
		used := g.Used
		if !r.Spent.Known {
			used = ""
		}
		page.Spending = append(page.Spending, wording.Limit(g.Name, used, g.Limit))
	}
	if u := r.Spent.Usage; u.Requests > 0 {
		page.Spending = append(page.Spending, wording.AskedModel(u.Model, u.Requests, u.InputTokens, u.OutputTokens))
	}
	if len(r.Asked) > 0 {
		page.Claims = append(page.Claims, wording.JSONBlock(wording.LabelRequest, r.Asked, maxClaim))
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
		row.More = wording.ArgumentsUnreadable
	case len(c.Args) == 0:
		row.More = wording.NoArguments
	case c.ArgsLeft > 0:
		row.More = wording.More(c.ArgsLeft, "more argument")
	}
	switch {
	case c.Decision == "approve" && c.Rule == "" && c.RuleText == "allowlisted":
		row.Judged = wording.OnAllowList
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
			return wording.NoValue
		}
		return wording.Clip(string(value), maxPhrase)
	}
	var list []string
	for i, e := range edits {
		if i == most {
			return append(list, wording.AndMore(len(edits)-i))
		}
		list = append(list, wording.FromTo(e.Name, words(e.From), words(e.To)))
	}
	return list
}

func refusalOf(r record.Refused, now time.Time) receiptRefusal {
	row := receiptRefusal{Text: wording.WasJudged(r.Name, judgedWords(r.Decision, r.Rule, r.Why, r.RuleText))}
	row.Values, row.MoreValues = valuesOf(record.Because{Values: r.Values}.Read())
	switch {
	case r.Approval != "":
		row.Text = wording.AttemptRefused(r.Approval, r.Reason)
	case r.Until != "":
		row.Text = wording.NotAnswered(r.Name, r.Rule)
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
	return wording.Judged(decision, rule, why, wording.Clip(text, maxSaid))
}

// proposers names the parts that proposed what was done.
func proposers(list []string) string {
	var words []string
	for _, who := range list[:min(len(list), 8)] {
		words = append(words, wording.Proposer(who))
	}
	return cmp.Or(wording.InTurn(slices.Compact(words)), wording.NothingProposed)
}

// number formats a number of a budget.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
