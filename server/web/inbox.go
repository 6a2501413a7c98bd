package web

import (
	"net/http"
	"net/url"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// inboxPage lists what waits for a decision, the newest first.
type inboxPage struct {
	frame
	Rows    []waitingRow
	Waiting string     // how many wait, in words
	More    string     // the address of the next page; "" on the last
	First   bool       // it is the first page
	Newest  string     // the address of the first page
	Rule    string     // the only rule that is shown; "": all
	Rules   []ruleLink // the rules of the rows, in their order
	Off     switched
}

// ruleLink leads to the questions of one rule.
type ruleLink struct{ Rule, Path string }

// waitingRow is one question in a list.
type waitingRow struct {
	ID      string
	Heading string // the consequence
	Effect  string
	Rule    string
	Run     string
	Parent  string // the run whose call began this one; "": none
	Needs   string // what a decision needs besides a person; "": nothing
	Since   wording.Moment
	Until   wording.Moment
	Demo    bool // the tool is simulated
	Soon    bool // it expires within the hour
}

func (p *Pages) inbox(w http.ResponseWriter, r *http.Request) {
	cursor, rule := r.URL.Query().Get("cursor"), r.URL.Query().Get("rule")
	page := inboxPage{frame: p.watching(p.frame(r.Context(), "Inbox", "inbox"), patterns.Everything), First: cursor == "", Newest: "/", Rule: rule}
	if rule != "" {
		if page.Newest = byRulePath(rule); page.Newest == "" {
			p.refuse(w, r, http.StatusBadRequest, wording.NotARule)
			return
		}
	}
	page.Off = p.switched(r.Context())
	list, err := p.config.Approvals.ListApprovals(patterns.ApprovalFilter{Limit: maxPage, Cursor: cursor, Rule: rule})
	if err != nil {
		p.fault(w, r, err)
		return
	}
	waiting, err := p.config.Approvals.WaitingApprovals()
	if err != nil {
		p.fault(w, r, err)
		return
	}
	page.Waiting, page.Title = wording.WaitingCalls(waiting), wording.InboxPage(waiting)
	ring, err := p.config.Approvals.Keys()
	if err != nil {
		p.fault(w, r, err)
		return
	}
	now := p.now()
	keyed := ring.Counts(now)
	page.Rows = make([]waitingRow, len(list.Rows))
	demo := p.demoRows()
	for i, asked := range list.Rows {
		page.Rows[i] = waitingRowOf(asked, now)
		page.Rows[i].Needs, page.Rows[i].Demo = needs(asked.Least, keyed), demo(asked)
	}
	page.Rules = rulesOf(list.Rows)
	if list.Next != "" {
		more := url.Values{"cursor": {list.Next}}
		if rule != "" {
			more.Set("rule", rule)
		}
		page.More = "/?" + more.Encode()
	}
	render(w, http.StatusOK, "inbox.html", page)
}

// rulesOf returns the rules of the rows, each once, at most the first 50.
func rulesOf(rows []patterns.Asked) []ruleLink {
	const most = 50
	var list []ruleLink
	seen := map[string]bool{}
	for _, a := range rows {
		path := byRulePath(a.Rule)
		if path == "" || seen[a.Rule] || len(list) == most {
			continue
		}
		seen[a.Rule] = true
		list = append(list, ruleLink{wording.Name(a.Rule), path})
	}
	return list
}

// maxPhrase is the greatest length of a call in words on a page, in characters.
const maxPhrase = 200

func waitingRowOf(a patterns.Asked, now time.Time) waitingRow {
	return waitingRow{
		ID: a.ID, Heading: consequence(a), Effect: wording.Effect(string(a.Effect)), Rule: wording.Name(a.Rule), Run: wording.Name(a.Question.Run), Parent: wording.Name(a.Parent),
		Since: wording.MomentOf(a.Since, now), Until: wording.MomentOf(a.Question.Expires, now),
		Soon: a.Question.Expires.Sub(now) < time.Hour,
	}
}

// needs says what a decision needs besides a person. keyed means that only signed decisions count.
func needs(least gateway.Assurance, keyed bool) string {
	switch {
	case keyed:
		return wording.NeedsSignature
	case least.AtLeast(gateway.SignedAssurance):
		return wording.NeedsKey
	}
	return ""
}

// now returns the time that pages show.
func (p *Pages) now() time.Time {
	if p.config.Now != nil {
		return p.config.Now()
	}
	return time.Now()
}

// byRulePath returns the path of the inbox that is limited to one rule; "" if rule is not a valid name.
func byRulePath(rule string) string {
	if !stopreason.IsReason(rule) {
		return ""
	}
	return "/?" + url.Values{"rule": {rule}}.Encode()
}
