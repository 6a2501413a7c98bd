package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
)

// Receipt is the summary of a run on one page, for people without knowledge of the run (spec/surface.md section 7).
type Receipt struct {
	RunID      string              `json:"run_id"`
	Pattern    string              `json:"pattern"`
	Principal  string              `json:"principal"`
	Client     patterns.ClientBody `json:"client,omitzero"`
	Parent     string              `json:"parent_run_id,omitempty"` // of a child run
	CreatedAt  string              `json:"created_at"`
	EndedAt    string              `json:"ended_at,omitempty"`
	Asked      json.RawMessage     `json:"asked,omitempty"` // the arguments: a claim of the caller
	ProposedBy []string            `json:"proposed_by"`     // caller, rules, plan (a stored one), or a model's name
	Calls      []Call              `json:"calls"`
	Refused    []Refused           `json:"refused,omitempty"` // proposals without a call
	Ended      Ending              `json:"ended"`
	Spent      Spent               `json:"spent"`
	Record     Proof               `json:"record"`
}

// Call is one call with its approval and its result.
type Call struct {
	Key       string    `json:"key"`
	Tool      string    `json:"tool"`
	Effect    string    `json:"effect,omitempty"`
	At        string    `json:"at"`
	Decision  string    `json:"decision,omitempty"`
	Rule      string    `json:"rule,omitempty"`
	RuleText  string    `json:"rule_text,omitempty"`
	Why       string    `json:"why,omitempty"` // the decision's reason, if rule and text do not give it
	Revisions []string  `json:"revisions,omitempty"`
	Approved  *Approved `json:"approved_by,omitempty"`
	Settled   *Approved `json:"settled_by,omitempty"` // of a call that was in doubt
	Status    string    `json:"status"`               // reserved, done, failed or in_doubt
	Attempts  int       `json:"attempts,omitempty"`   // at the same act, if there was more than one
	Duplicate bool      `json:"duplicate,omitempty"`  // nothing was sent: an earlier call with the same business key had done it
	Reason    string    `json:"reason,omitempty"`
	ArgsHash  string    `json:"args_hash,omitempty"`

	Values   json.RawMessage `json:"values,omitempty"`    // that made the rule true, by their expressions
	Passes   int             `json:"passes,omitempty"`    // passes of the policy until nothing changed
	Args     []Argument      `json:"args,omitzero"`       // as they were sent; nil: they cannot be read
	ArgsLeft int             `json:"args_left,omitempty"` // how many more there are
}

// Approved is the answer to a question about a call, and the person or approver that gave it. The zero Approved is no answer.
type Approved struct {
	Decision  string `json:"decision"` // approve, edit or reject; for a doubt happened or did_not_happen
	By        string `json:"by"`
	Channel   string `json:"channel"`
	Assurance string `json:"assurance"`
	At        string `json:"at"`
	Comment   string `json:"comment,omitempty"`
	Approval  string `json:"approval_id,omitempty"`
	KeyID     string `json:"key_id,omitempty"` // the key that is named as the signer; [Check] says whether it signed
	KeyName   string `json:"key_name,omitempty"`
	Compared  *bool  `json:"compared,omitempty"` // false: the digest was not compared with what a person saw
	Edits     []Edit `json:"edits,omitempty"`    // the arguments that the person changed
}

// Refused is a proposal that the gateway or a person rejected, or that waits for a person. It can also be a call that was refused
// because of its approval, or a refused attempt to answer a question.
type Refused struct {
	Name     string          `json:"name,omitempty"`
	Approval string          `json:"approval_id,omitempty"` // of an attempt to answer
	Reason   string          `json:"reason,omitempty"`      // if it is not the reason of a proposal
	Until    string          `json:"until,omitempty"`       // of a proposal that waits for a person
	Phase    string          `json:"phase,omitempty"`
	Decision string          `json:"decision"`
	Rule     string          `json:"rule,omitempty"`
	RuleText string          `json:"rule_text,omitempty"`
	Why      string          `json:"why,omitempty"`    // as in [Call]
	Values   json.RawMessage `json:"values,omitempty"` // as in [Call]
	Asked    *Approved       `json:"asked,omitempty"`
}

// Ending is how the run ended. Status is running or waiting if it has not ended.
type Ending struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason,omitempty"`
	Phase      string `json:"phase,omitempty"`
	Meaning    string `json:"meaning,omitempty"`
}

// Spent is what the run used of its budget.
type Spent struct {
	Seconds float64                   `json:"seconds"` // without waiting
	Budget  map[string]patterns.Spent `json:"budget,omitempty"`
	Known   bool                      `json:"-"` // the use is known: the run has ended
	Usage   patterns.UsageBody        `json:"usage"`
}

// Proof says how to check the record.
type Proof struct {
	Kept
	Verify string `json:"verify,omitempty"` // the command; "" if the run's id does not have the usual form
}

// Receipt returns the receipt of the story.
func (s Story) Receipt() Receipt {
	r := Receipt{
		RunID: s.RunID, Pattern: s.Pattern, Principal: s.Principal, Client: s.Client, CreatedAt: s.CreatedAt, EndedAt: s.EndedAt,
		Asked: s.Arguments, ProposedBy: s.proposers(), Calls: []Call{},
		Ended:  Ending{Status: s.Status, StopReason: s.StopReason, Phase: s.Phase, Meaning: meaning(s.StopReason)},
		Spent:  Spent{Seconds: max(0, thousandths(s.Took-s.Waited)), Budget: s.Budget, Known: s.EndedAt != "", Usage: s.Usage},
		Record: Proof{Kept: s.Record},
	}
	if s.Parent != nil {
		r.Parent = s.Parent.RunID
	}
	if isRunID(s.RunID) { // people copy the command into a shell
		r.Record.Verify = fmt.Sprintf("patterngate runs verify %s --head %d:%s", s.RunID, s.Record.Events, strings.TrimPrefix(s.Record.Head, "sha256:"))
	}
	acts := map[string]int{} // the index of the first attempt
	for i, row := range s.Rows {
		if row.isCall() && row.State != string(patterns.Canceled) {
			if at, again := acts[row.actOf()]; again && !s.isEffect(row.Key) && r.Calls[at].Settled == nil {
				s.attempted(&r.Calls[at], row)
				continue
			}
			if act := row.actOf(); act != "" {
				acts[act] = len(r.Calls)
			}
			r.Calls = append(r.Calls, s.call(row, i))
		} else if refused, ok := s.refusedOf(row, i); ok {
			r.Refused = append(r.Refused, refused)
		}
	}
	return r
}

// actOf returns the identity of the call's act, which its other attempts share; "": the call only reads, or did nothing itself.
func (r Row) actOf() string {
	if r.Effect == "read" || r.State == string(Duplicate) || r.act == "" {
		return ""
	}
	return r.Name + " " + r.act
}

// attempted enters another attempt at the act of a call. The act is one call in the receipt, with any number of attempts.
func (s Story) attempted(c *Call, row Row) {
	c.Attempts, c.Reason = max(c.Attempts, 1)+1, row.Reason
	if !s.isEffect(c.Key) {
		c.Status = s.status(row)
	}
}

// isEffect reports whether the run's result has a call under this key. Other attempts have the key of the first.
func (s Story) isEffect(key string) bool {
	return slices.ContainsFunc(s.envelope.Effects, func(e effectShown) bool { return e.Key == key })
}

// refusedOf returns the proposal that row i refused or left undecided; false if there is none.
func (s Story) refusedOf(row Row, i int) (r Refused, ok bool) {
	r = Refused{Name: row.Name, Phase: row.Phase, Decision: "refused", Rule: row.Rule, RuleText: ruleText(row), Why: row.why(), Values: row.Values}
	tool, _ := row.About()
	switch {
	case row.RefusedAnswer():
		r.Approval, r.Reason, r.Asked, r.RuleText = row.Approval, row.Why, row.approved(), meaning(row.Why)
	case row.refusedCall():
		r.Reason, r.RuleText = row.Reason, meaning(row.Reason)
		if by := s.approving(row, i); by != nil {
			r.Asked = by.approved()
		}
	case row.awaitsPerson():
		r.Name, r.Decision, r.Until = tool, "waiting", row.ExpiresAt
	case row.unanswered():
		r.Name, r.Reason = tool, row.Reason
	case row.Kind == Judged && !row.Earlier && row.Decision != "revise" && row.Decision != "escalate": // those two have later rows
		r.Decision = row.Decision
	case row.Kind == string(patterns.HumanEffect) && row.Decision == "reject":
		r.Name, r.Decision, r.Asked = tool, "reject", row.approved()
	default:
		return Refused{}, false
	}
	return r, true
}

func isRunID(id string) bool {
	digits, ok := strings.CutPrefix(id, "run_")
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// isCall reports whether the row is about a call of a tool, made or planned.
func (r Row) isCall() bool { return r.Kind == string(patterns.ToolEffect) && len(r.input) > 0 }

// call returns the call of row i, with the approval before it and the settlement after it.
func (s Story) call(row Row, i int) Call {
	c := Call{
		Key: row.Key, Tool: row.Name, Effect: row.Effect, At: clock(row.began), Decision: row.Decision, Rule: row.Rule, RuleText: ruleText(row),
		Revisions: row.Changed, Status: s.status(row), Reason: row.Reason, ArgsHash: row.ArgsHash, Duplicate: row.State == string(Duplicate),
		Why: row.why(), Values: row.Values, Passes: row.Passes,
	}
	c.Args, c.ArgsLeft = argumentsOf(row.input)
	if by := s.approving(row, i); by != nil {
		c.Approved = by.approved()
	}
	c.Settled = s.settled(row)
	if c.Settled != nil {
		c.Status = map[string]string{"happened": string(gateway.Finished), "did_not_happen": string(gateway.Failed)}[c.Settled.Decision]
	}
	return c
}

// settled returns a person's answer about a call in doubt; nil: no person was asked, or none has answered. The answer is in an
// outcome, and its signature is in a note.
func (s Story) settled(row Row) (by *Approved) {
	if row.State != string(patterns.Unknown) {
		return nil
	}
	for _, r := range s.Rows {
		if _, effect := r.About(); effect == row.Key && row.Key != "" && r.Decision != "" {
			by = r.approved()
		}
	}
	if by == nil {
		return nil
	}
	for _, r := range s.Rows {
		if r.Kind == Note && r.about == row.Key && r.KeyID != "" && r.Decision == by.Decision {
			by.KeyID, by.KeyName, by.Assurance = r.KeyID, r.KeyName, r.Sure
		}
	}
	return by
}

// approving returns the decision that approved the call of row i; nil: there is none. A call that uses an approval names it. A
// decision of a simulated approver applies only to the next call.
func (s Story) approving(row Row, i int) *Row {
	for i--; i >= 0; i-- {
		before := &s.Rows[i] // rows are large
		yes := before.Decision == "approve" || before.Decision == "edit"
		tool, effect := before.About()
		switch {
		case row.Grant != "":
			if before.Approval == row.Grant && yes && (tool == row.Name || row.Share != "" && before.Name == patterns.ApprovePlan) {
				return before
			}
		case before.Branch() != row.Branch():
		case before.isCall():
			return nil
		case tool == row.Name && effect == "" && yes:
			return before
		}
	}
	return nil
}

func (r Row) approved() *Approved {
	at := r.DecidedAt
	if at == "" && r.ended == 0 {
		at = clock(r.began) // it took no time
	} else if at == "" {
		at = clock(r.ended)
	}
	return &Approved{
		Decision: r.Decision, By: r.By, Channel: r.Channel, Assurance: r.Sure, At: at, Comment: r.Comment,
		Approval: r.Approval, KeyID: r.KeyID, KeyName: r.KeyName, Compared: r.Compared, Edits: r.Edits,
	}
}

// status returns the status of a call: that in the run's result, otherwise that of its outcome.
func (s Story) status(row Row) string {
	for _, e := range s.envelope.Effects {
		if e.Key == row.Key && e.Status != "" {
			return e.Status
		}
	}
	switch {
	case row.State == Open:
		return string(gateway.Reserved)
	case row.State == string(patterns.OK), row.State == string(Duplicate), row.Reason == patterns.ReasonBadResult:
		return string(gateway.Finished)
	case row.State == string(patterns.Unknown) && row.Effect != "read":
		return string(gateway.InDoubt)
	}
	return string(gateway.Failed)
}

// proposers lists the authors of the run's proposals, in order, each once.
func (s Story) proposers() []string {
	list := []string{}
	add := func(who string) {
		if !slices.Contains(list, who) {
			list = append(list, who)
		}
	}
	for _, r := range s.Rows {
		switch {
		case r.Kind == string(patterns.CallerEffect) && r.Name != "turn":
			add("caller")
		case r.Kind == string(patterns.ModelEffect) && r.Name != string(patterns.AskAnswer) && r.Name != string(patterns.AskWork):
			who := s.Usage.Model
			if who == "" || who == "caller" { // the end event names the model; a waiting run has none
				who = r.proposer()
			}
			if who != "" {
				add(who)
			}
		}
	}
	if len(list) == 0 && s.Kind == string(gateway.Call) {
		add("caller")
	}
	if len(list) == 0 && s.isPlanning() && slices.ContainsFunc(s.Rows, Row.isCall) {
		add("plan")
	}
	return list
}

// AskedNone reports whether the run asked neither a model nor the offline rules, although its usage names the rules.
func (s Story) AskedNone() bool {
	return s.Usage.Model == patterns.ByRules && s.Usage.Requests == 0 &&
		!slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Kind == string(patterns.ModelEffect) })
}

// meaning returns the registry's text for a stop reason; "" if the registry does not have it.
func meaning(reason string) string {
	row, _ := stopreason.Lookup(reason)
	return row.Meaning
}

// why returns the decision's reason, unless the rule or its text already gives it.
func (r Row) why() string {
	if r.Said == "" || r.Why == r.Rule {
		return ""
	}
	return r.Why
}

// ruleText returns the rule in words: its own text, otherwise its reason, in the registry's words if there are any.
func ruleText(r Row) string {
	if r.Said != "" {
		return r.Said
	}
	if r.Why != "" && r.Why != r.Rule {
		if m := meaning(r.Why); m != "" {
			return m
		}
		return r.Why
	}
	if r.Rule == "" {
		return ""
	}
	for _, family := range []string{"supervisor_block:", "policy_block:"} {
		if row, ok := stopreason.Lookup(family + r.Rule); ok && row.Name == family+r.Rule {
			return row.Meaning
		}
	}
	return ""
}
