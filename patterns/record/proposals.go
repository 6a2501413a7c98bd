package record

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Proposal is one call or closing answer that a policy judged, with everything that the policy could see of its run. It is judged
// again to find out what another policy would have said. Attempts at one act are one proposal.
type Proposal struct {
	RunID, Pattern string
	Seq            int64 // of the event that began it
	At             time.Time
	Tool           string         // "" for the closing answer
	Args           map[string]any // as proposed; of a call approved unchanged, as sent, with values from pattern and configuration
	Sent           map[string]any // as they were sent; nil: nothing was sent, or it is not known
	Edited         map[string]any // as the approver changed them, if the policy then blocked the call; nil: not so
	Answer         string
	// Hidden says why the proposal cannot be judged again: values of it, or of earlier calls, are redacted or cut. "": it can.
	Hidden string

	Decision string // as recorded: approve, revise, escalate, block
	Rule     string
	Reason   string
	Approved bool   // a person approved it
	Policy   string // hash; "" if it was not recorded

	Effects []gateway.Entry // earlier calls of the run
	Facts   gateway.Facts   // without what the record does not hold: input, plan
}

// Proposals lists what a policy judged in the run, in the order of the proposals. It includes decisions of the allowlists.
func (s Story) Proposals() []Proposal {
	c := collector{story: s, open: map[string]opened{}, acts: map[string]bool{}}
	for i := range s.Rows {
		c.take(i)
	}
	return slices.DeleteFunc(c.list, func(p Proposal) bool { return p.Decision == "" })
}

// collector joins the rows of one proposal: the policy changed it or a person was asked about it, and then it was blocked or called.
type collector struct {
	story Story
	list  []Proposal
	open  map[string]opened // by tool: changed or waiting for a person, and not yet called
	acts  map[string]bool
}

// opened is a proposal that may have further rows.
type opened struct {
	at   int    // in the list
	args string // the arguments at that time
	// weighed is the decision of a judgment that read earlier runs. The call or refusal that followed has a row of its own.
	weighed string
}

// goesOn reports whether a row belongs to an open proposal, and not to the next one of its tool.
func (o opened) goesOn(row Row, args string) bool {
	switch o.weighed {
	case "block":
		return !row.Earlier && row.Decision == "block" && args == o.args
	case "approve":
		return args == o.args
	}
	return true
}

func (c *collector) take(i int) {
	row := c.story.Rows[i]
	switch {
	case row.Kind == Judged && (row.Decision == "revise" || row.Decision == "escalate"):
		c.judged(i, row)
	case row.Kind == Judged && row.Earlier:
		c.judged(i, row)
	case row.Kind == Judged && row.Decision == "block":
		at := c.judged(i, row)
		delete(c.open, c.list[at].Tool)
	case row.Kind == string(patterns.HumanEffect) && row.Decision != "approve" && row.Decision != "edit" && row.State != Open:
		tool, _ := row.About()
		delete(c.open, tool)
	case row.isCall() && row.Decision != "" && row.State != string(patterns.Canceled):
		c.called(i, row)
	}
}

// judged enters the policy's decision about a proposal that was not called yet, and returns the proposal's index.
func (c *collector) judged(i int, row Row) int {
	p := c.at(i, row)
	p.read(row.input)
	args := string(ijson.Canonical(p.Args))
	o, there := c.open[p.Tool]
	if !there || !o.goesOn(row, args) {
		o = opened{at: len(c.list)}
		c.list = append(c.list, p)
	}
	was := &c.list[o.at]
	if there && was.Decision == "escalate" && row.Decision == "block" && args != o.args && p.Hidden == "" {
		was.Edited = p.Args
	}
	o.args, o.weighed = args, ""
	if was.Decision != "escalate" || row.Decision == "block" {
		was.Decision, was.Rule, was.Reason = row.Decision, row.Rule, ownReason(row.Why)
	}
	if row.Earlier {
		o.weighed = row.Decision
		if row.Decision == "approve" && len(row.Changed) > 0 && was.Decision == "approve" {
			was.Decision, was.Reason = "revise", row.Changed[0]
		}
	}
	c.open[p.Tool] = o
	return o.at
}

// ownReason returns a rule's reason without the prefix of the stop reason.
func ownReason(reason string) string {
	return strings.TrimPrefix(strings.TrimPrefix(reason, "policy_block:"), "supervisor_block:")
}

// called enters a call. Another attempt at an act is not a new proposal.
func (c *collector) called(i int, row Row) {
	act := row.actOf()
	if row.Attempt > 1 || act != "" && c.acts[act] {
		if o, there := c.open[row.Name]; there && o.weighed == "approve" { // it was judged for this attempt
			c.list[o.at].Decision = ""
			delete(c.open, row.Name)
		}
		return
	}
	c.acts[act] = true
	o, there := c.open[row.Name]
	if !there || o.weighed == "block" {
		o.at = len(c.list)
		c.list = append(c.list, c.atOnce(i, row))
	}
	delete(c.open, row.Name)
	p := &c.list[o.at]
	if sent, hidden := readArgs(row.input); hidden == "" {
		p.Sent = sent
	}
	p.Decision, p.Rule, p.Reason, p.Policy = row.Decision, row.Rule, row.Why, row.policy
	p.Approved = row.Grant != "" || row.Decision == "escalate"
}

// atOnce returns the proposal of a call that had no earlier judgment. The policy's changes to it are recorded with its verdict.
func (c *collector) atOnce(i int, row Row) Proposal {
	p := c.at(i, row)
	p.Tool = row.Name
	var hidden string
	switch {
	case row.proposed != nil:
		var before struct {
			Args json.RawMessage `json:"args"`
		}
		if hidden = HiddenCut; ijson.DecodeKnown(row.proposed, &before) == nil && before.Args != nil {
			p.Args, hidden = readArgs(before.Args)
		}
	case len(row.Changed) > 0:
		p.Args, hidden = nil, HiddenRevised
	default:
		p.Args, hidden = readArgs(row.input)
	}
	if hidden != "" { // otherwise the reason of the earlier calls stays
		p.Hidden = hidden
	}
	return p
}

// at returns a proposal at a row, with what was known at that time.
func (c *collector) at(i int, row Row) Proposal {
	s := c.story
	p := Proposal{RunID: s.RunID, Pattern: s.Pattern, Seq: row.Seq, At: time.UnixMicro(row.began).UTC()}
	p.Facts = gateway.Facts{
		RunID: s.RunID, Pattern: s.Pattern, Kind: gateway.Kind(s.Kind), Principal: principalOf(s.Principal),
		Client: gateway.Client{Name: s.Client.Name, Version: s.Client.Version}, Now: time.UnixMicro(s.events[0].At).UTC(),
		Spent: map[string]float64{}, Remaining: map[string]float64{},
	}
	acts := map[string]int{}
	for _, before := range s.Rows[:i] {
		if before.ended > 0 && before.ended <= row.began {
			if at := time.UnixMicro(before.ended).UTC(); at.After(p.Facts.Now) {
				p.Facts.Now = at
			}
		}
		if !before.isCall() || before.State == string(patterns.Canceled) || before.act != "" && before.act == row.act {
			continue
		}
		p.Facts.Steps++
		e, act := s.entry(before, row.began, &p), before.actOf()
		if first, again := acts[act]; again && act != "" { // one act, under the key of its first attempt
			e.Key, e.Order = p.Effects[first].Key, p.Effects[first].Order
			p.Effects[first] = e
			continue
		}
		acts[act] = len(p.Effects)
		p.Effects = append(p.Effects, e)
	}
	if limit, ok := s.Budget["max_tool_calls"]; ok {
		p.Facts.Spent["max_tool_calls"] = float64(p.Facts.Steps)
		p.Facts.Remaining["max_tool_calls"] = limit.Limit - float64(p.Facts.Steps)
	}
	return p
}

// entry returns an earlier call as a rule would have seen it at a time.
func (s Story) entry(row Row, at int64, p *Proposal) gateway.Entry {
	e := gateway.Entry{
		Key: row.Key, Tool: row.Name, Effect: catalog.Effect(row.Effect), Hash: row.ArgsHash, Order: int(row.Seq), At: time.UnixMicro(row.began).UTC(),
		Status: gateway.Reserved,
	}
	var hidden string
	if e.Args, hidden = readArgs(row.input); hidden != "" {
		p.Hidden = hidden
	}
	if row.ended == 0 || row.ended > at {
		return e
	}
	e.Status = gateway.EffectStatus(statusOf(row))
	if said := s.settledBy(row, at); said != "" {
		e.Status = said
	}
	e.Duplicate = row.State == string(Duplicate)
	if len(row.output) > 0 {
		v, err := ijson.Decode(row.output)
		if err != nil || patterns.RedactedAsText(row.output) != nil {
			p.Hidden = HiddenRedacted
		}
		e.Observation = v
	}
	return e
}

// settledBy returns the resolved status of a call in doubt, as known at a time; "": not yet resolved.
func (s Story) settledBy(row Row, at int64) gateway.EffectStatus {
	if row.State != string(patterns.Unknown) {
		return ""
	}
	for _, r := range s.Rows {
		_, effect := r.About()
		if effect != row.Key || row.Key == "" || r.ended == 0 || r.ended > at {
			continue
		}
		switch r.Decision {
		case "happened":
			return gateway.Finished
		case "did_not_happen":
			return gateway.Failed
		}
	}
	return ""
}

// statusOf returns the status of a call from its outcome alone.
func statusOf(row Row) string {
	s := Story{}
	return s.status(row)
}

// read fills the proposal from a judged row: an action, {tool, args} or its beginning.
func (p *Proposal) read(text json.RawMessage) {
	var v struct {
		Kind      string          `json:"kind"`
		Tool      string          `json:"tool"`
		Name      string          `json:"name"`
		Answer    string          `json:"answer"`
		Args      json.RawMessage `json:"args"`
		Truncated bool            `json:"truncated"`
	}
	if err := ijson.DecodeKnown(text, &v); err != nil {
		p.Hidden = HiddenRedacted
		return
	}
	switch {
	case v.Truncated:
		p.Hidden = HiddenCut
		return
	case v.Kind == "final":
		p.Answer = v.Answer
		return
	}
	if p.Tool = v.Tool; p.Tool == "" {
		p.Tool = v.Name
	}
	var hidden string
	if p.Args, hidden = readArgs(v.Args); hidden != "" {
		p.Hidden = hidden
	}
}

// readArgs reads recorded arguments. hidden says why they differ from the original arguments; "" if they do not.
func readArgs(text json.RawMessage) (args map[string]any, hidden string) {
	v, err := ijson.Decode(text)
	args, ok := v.(map[string]any)
	switch {
	case err != nil || !ok || patterns.RedactedAsText(text) != nil:
		return args, HiddenRedacted
	case args["truncated"] == true:
		return nil, HiddenCut
	}
	return args, ""
}

func principalOf(id string) gateway.Principal {
	kind, name, _ := strings.Cut(id, ":")
	return gateway.Principal{ID: id, Kind: kind, Name: name}
}

// Reviewed reports whether a policy, not only the allowlists, decided about the proposal.
func (p Proposal) Reviewed() bool { return p.Reason != gateway.Allowlisted }

// Blocked reports whether the recorded decision let no call through.
func (p Proposal) Blocked() bool {
	return !slices.Contains([]string{"approve", "revise", "escalate"}, p.Decision)
}
