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

// Receipt is a run on one page, for people who know nothing of it (spec/surface.md section 7).
type Receipt struct {
	RunID      string              `json:"run_id"`
	Pattern    string              `json:"pattern"`
	Principal  string              `json:"principal"`
	Client     patterns.ClientBody `json:"client,omitzero"`
	Parent     string              `json:"parent_run_id,omitempty"` // of a child run
	CreatedAt  string              `json:"created_at"`
	EndedAt    string              `json:"ended_at,omitempty"`
	Asked      json.RawMessage     `json:"asked,omitempty"` // the arguments: a claim
	ProposedBy []string            `json:"proposed_by"`     // caller, rules, plan (a stored one), or a model's name
	Calls      []Call              `json:"calls"`
	Refused    []Refused           `json:"refused,omitempty"` // proposals of which nothing was called
	Ended      Ending              `json:"ended"`
	Spent      Spent               `json:"spent"`
	Record     Proof               `json:"record"`
}

// Call is one call with who let it happen and what came of it.
type Call struct {
	Key       string    `json:"key"`
	Tool      string    `json:"tool"`
	Effect    string    `json:"effect,omitempty"`
	At        string    `json:"at"`
	Decision  string    `json:"decision,omitempty"`
	Rule      string    `json:"rule,omitempty"`
	RuleText  string    `json:"rule_text,omitempty"`
	Why       string    `json:"why,omitempty"` // the decision's reason, where rule and text do not say it
	Revisions []string  `json:"revisions,omitempty"`
	Approved  *Approved `json:"approved_by,omitempty"`
	Settled   *Approved `json:"settled_by,omitempty"` // of one that was in doubt
	Status    string    `json:"status"`               // reserved, done, failed or in_doubt
	Attempts  int       `json:"attempts,omitempty"`   // at the same act, where there was more than one
	Duplicate bool      `json:"duplicate,omitempty"`  // nothing was sent: an earlier call with the same business key had done it
	Reason    string    `json:"reason,omitempty"`
	ArgsHash  string    `json:"args_hash,omitempty"`

	Values   json.RawMessage `json:"values,omitempty"`    // that made the rule true, by their expressions
	Passes   int             `json:"passes,omitempty"`    // of the policy, until nothing changed
	Args     []Argument      `json:"args,omitzero"`       // as they were sent; nil: they cannot be read
	ArgsLeft int             `json:"args_left,omitempty"` // how many more there are
}

// Approved is who was asked about a call, and what they said. The zero Approved is nobody.
type Approved struct {
	Decision  string `json:"decision"` // approve, edit or reject; of a doubt happened or did_not_happen
	By        string `json:"by"`
	Channel   string `json:"channel"`
	Assurance string `json:"assurance"`
	At        string `json:"at"`
	Comment   string `json:"comment,omitempty"`
	Approval  string `json:"approval_id,omitempty"`
	KeyID     string `json:"key_id,omitempty"` // that is said to have signed; [Check] says whether it did
	KeyName   string `json:"key_name,omitempty"`
	Compared  *bool  `json:"compared,omitempty"` // false: the digest was not compared with what a person saw
	Edits     []Edit `json:"edits,omitempty"`    // what they changed
}

// Refused is a proposal that the gate or a person turned down or that waits for one, a call that its approval did not let
// through, or an attempt to answer a question that was refused.
type Refused struct {
	Name     string          `json:"name,omitempty"`
	Approval string          `json:"approval_id,omitempty"` // of an attempt
	Reason   string          `json:"reason,omitempty"`      // of what is no proposal's
	Until    string          `json:"until,omitempty"`       // of what waits for a person
	Phase    string          `json:"phase,omitempty"`
	Decision string          `json:"decision"`
	Rule     string          `json:"rule,omitempty"`
	RuleText string          `json:"rule_text,omitempty"`
	Why      string          `json:"why,omitempty"`    // as in [Call]
	Values   json.RawMessage `json:"values,omitempty"` // as in [Call]
	Asked    *Approved       `json:"asked,omitempty"`
}

// Ending is how the run ended; Status running or waiting where it has not.
type Ending struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason,omitempty"`
	Phase      string `json:"phase,omitempty"`
	Meaning    string `json:"meaning,omitempty"`
}

// Spent is what the run used up.
type Spent struct {
	Seconds float64                   `json:"seconds"` // without waits
	Budget  map[string]patterns.Spent `json:"budget,omitempty"`
	Known   bool                      `json:"-"` // what was used is known: the run has ended
	Usage   patterns.UsageBody        `json:"usage"`
}

// Proof is how the record is checked.
type Proof struct {
	Kept
	Verify string `json:"verify,omitempty"` // the command; none for a run whose id is none of ours
}

// Receipt is the story on one page.
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
	if isRunID(s.RunID) { // people copy it into a shell
		r.Record.Verify = fmt.Sprintf("patterngate runs verify %s --head %d:%s", s.RunID, s.Record.Events, strings.TrimPrefix(s.Record.Head, "sha256:"))
	}
	acts := map[string]int{} // where the first attempt stands
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

// actOf names what a call does in the world, for its further attempts; "": it only reads, or did nothing itself.
func (r Row) actOf() string {
	if r.Effect == "read" || r.State == string(Duplicate) || r.act == "" {
		return ""
	}
	return r.Name + " " + r.act
}

// attempted enters one more attempt at the act of a call: it is done once, however often it was tried.
func (s Story) attempted(c *Call, row Row) {
	c.Attempts, c.Reason = max(c.Attempts, 1)+1, row.Reason
	if !s.isEffect(c.Key) {
		c.Status = s.status(row)
	}
}

// isEffect reports whether the run's result has a call under its own key: further attempts stand under the first one's.
func (s Story) isEffect(key string) bool {
	return slices.ContainsFunc(s.envelope.Effects, func(e effectShown) bool { return e.Key == key })
}

// refusedOf is what was turned down by row i, or is not decided yet, where something was.
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
	case row.Kind == Judged && !row.Earlier && row.Decision != "revise" && row.Decision != "escalate": // those two go on
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

// isCall reports whether the row is about a tool that was, or was to be, called.
func (r Row) isCall() bool { return r.Kind == string(patterns.ToolEffect) && len(r.input) > 0 }

// call is the call of row i, with who approved it before and who settled it later.
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

// settled is what a person said became of a call in doubt; nil: nobody was asked, or has said. The run is told of it by an
// outcome; who signed it stands in a note.
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

// approving is the decision that let the call of row i through; nil: none did. A call that spends an approval names it; a
// decision of who stands in for a person is for the next call alone.
func (s Story) approving(row Row, i int) *Row {
	for i--; i >= 0; i-- {
		before := &s.Rows[i] // they are large
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

// status says what is known about a call: as the run's result has it, else as its outcome says.
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

// proposers lists who proposed what the run did, in order, each once.
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
			if who == "" || who == "caller" { // a run that waits does not say whom it asked
				who = r.proposer()
			}
			if who != "" {
				add(who)
			}
		}
	}
	if len(list) == 0 && s.isPlanning() && slices.ContainsFunc(s.Rows, Row.isCall) {
		add("plan")
	}
	return list
}

// meaning is what the registry says of a stop reason; empty for one that it does not have.
func meaning(reason string) string {
	row, _ := stopreason.Lookup(reason)
	return row.Meaning
}

// why is the decision's reason, where it is not said with the rule already.
func (r Row) why() string {
	if r.Said == "" || r.Why == r.Rule {
		return ""
	}
	return r.Why
}

// ruleText is a rule in words: as it says itself, else its reason, in the registry's words where it has any.
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
