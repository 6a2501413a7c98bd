package patterns

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// ApproverKind says who decides calls for which the policy asks a person. The zero kind rejects.
type ApproverKind string

// The kinds of approvers.
const (
	RejectApprover    ApproverKind = "reject"    // no one can be asked: always reject
	InboxApprover     ApproverKind = "inbox"     // a person, for whom the run waits; not with state in memory
	SimulatedApprover ApproverKind = "simulated" // the demo's approver, which approves up to a cap
)

// Approver decides escalated calls. The zero Approver rejects everything.
type Approver struct {
	Kind   ApproverKind
	CapUSD float64 // of the simulated approver
	// Expires is how long a person may take, in whole seconds; without an answer the call is rejected. Least is the least assurance
	// that counts for a decision; "" is user. Both apply to the inbox.
	Expires time.Duration
	Least   gateway.Assurance
}

// Under returns the approver with the limits of a ruling: the shorter time and the stricter assurance count.
func (a Approver) Under(r gateway.Ruling) Approver {
	if r.Expires > 0 && (a.Expires == 0 || r.Expires < a.Expires) {
		a.Expires = r.Expires
	}
	if r.Least != "" && r.Least.AtLeast(a.least()) {
		a.Least = r.Least
	}
	return a
}

// Suffices reports whether a decision of this assurance, made after this time, satisfies the ruling. An edited call may fall under a
// different rule than the call that the person was asked about.
func Suffices(r gateway.Ruling, sure gateway.Assurance, took time.Duration) bool {
	return r.Decision == gateway.Block || sure.AtLeast(r.Least) && (r.Expires == 0 || took <= r.Expires)
}

// least returns the least assurance that counts for a decision.
func (a Approver) least() gateway.Assurance { return cmp.Or(a.Least, gateway.UserAssurance) }

// Approval is the question to a person: exactly the call that would be made.
type Approval struct {
	Action   gateway.Action
	Question gateway.Question // the same call as it would be sent, without what the engine adds
	Rule     string           // the rule by which the policy asks
	Reason   string           // why the policy asks; "": the rule's name
	Text     string           // words of the rule, for people
	Values   map[string]any   // that made the rule true, by their expressions
	Approver Approver
	Catalog  *catalog.Catalog   // has the call's tool
	Plan     *planning.Envelope // the question is about a whole plan, not a call; nil: about a call
}

// Decision is the answer to an approval question. The zero Decision rejects.
type Decision struct {
	Approved bool
	Args     map[string]any // the approved arguments, perhaps edited; nil: as asked
	Comment  string
	By       string // from the channel, never from a message
	Channel  string // none, simulated, cli, page
	// Assurance says how certain it is that a person decided.
	Assurance gateway.Assurance
	// For the inbox:
	Approval string    // the id of the question
	Key      string    // the id of the key that signed; "" for none
	At       time.Time // when the person decided; zero: when the outcome was recorded
}

// Decide answers for approvers that do not wait for a person. It is deterministic.
func (a Approver) Decide(action gateway.Action) Decision {
	if a.Kind != SimulatedApprover {
		return Decision{Comment: "rejected_by_human", By: "configuration", Channel: "none", Assurance: gateway.NoAssurance}
	}
	d := Decision{By: "simulated", Channel: "simulated", Assurance: gateway.SimulatedAssurance}
	amount, isMoney := action.Args["amount_usd"].(float64)
	if !isMoney {
		d.Approved, d.Args, d.Comment = true, action.Args, "approved_by_human"
		return d
	}
	approved := math.Min(amount, a.CapUSD)
	if approved <= 0 {
		d.Comment = "invalid_requested_amount"
		return d
	}
	args := maps.Clone(action.Args)
	args["amount_usd"] = gateway.Cents(approved)
	d.Approved, d.Args, d.Comment = true, args, "approved_with_cap:"+floatText(approved)
	return d
}

// Value returns the decision in its recorded form.
func (d Decision) Value() map[string]any {
	v := map[string]any{"approved": d.Approved, "comment": d.Comment, "by": d.By, "channel": d.Channel, "assurance": string(d.Assurance)}
	if d.Args != nil {
		v["args"] = d.Args
	}
	if d.Approval != "" {
		v["approval_id"] = d.Approval
	}
	if d.Key != "" {
		v["key_id"] = d.Key
	}
	if !d.At.IsZero() {
		v["decided_at"] = d.At.UTC().Format(time.RFC3339)
	}
	return v
}

// readDecision reads the decision in an outcome. An unreadable one rejects.
func readDecision(v any) Decision {
	obj, _ := v.(map[string]any)
	text := func(name string) string { s, _ := obj[name].(string); return s }
	d := Decision{
		Comment: text("comment"), By: text("by"), Channel: text("channel"), Assurance: gateway.Assurance(text("assurance")),
		Approval: text("approval_id"), Key: text("key_id"),
	}
	d.At, _ = time.Parse(time.RFC3339, text("decided_at"))
	d.Approved, _ = obj["approved"].(bool)
	d.Args, _ = obj["args"].(map[string]any)
	return d
}

// HumanApproval is a person's decision as results show it (spec/surface.md section 1).
type HumanApproval struct {
	Approved      bool              `json:"approved"`
	RevisedAction any               `json:"revised_action,omitempty"`
	Comment       string            `json:"comment"`
	By            string            `json:"by"`
	Channel       string            `json:"channel"`
	Assurance     gateway.Assurance `json:"assurance"`
	ApprovalID    string            `json:"approval_id,omitempty"`
	KeyID         string            `json:"key_id,omitempty"`
	DecidedAt     string            `json:"decided_at"` // RFC 3339, UTC, whole seconds

	// Asked are the arguments that the person was asked about, after all that the policy changed, and Left are those that the
	// person approved. Both have the defaults and what the configuration sets. They are nil if no approval of a call gave
	// arguments. They are not stored: a result that is read from a record has only what its rows tell.
	Asked map[string]any `json:"-"`
	Left  map[string]any `json:"-"`
}

func NewHumanApproval(d Decision, action any, at time.Time) *HumanApproval {
	if !d.At.IsZero() {
		at = d.At
	}
	h := &HumanApproval{
		Approved: d.Approved, Comment: d.Comment, By: d.By, Channel: d.Channel, Assurance: d.Assurance,
		ApprovalID: d.Approval, KeyID: d.Key, DecidedAt: at.UTC().Format(time.RFC3339),
	}
	if d.Approved && d.Args != nil { // a simulated approval always has arguments
		h.RevisedAction = action
	}
	return h
}

// Changing stores what the person was asked about and what they left of it. It does so only if the decision gave arguments.
func (h *HumanApproval) Changing(asked, left gateway.Question) {
	if h.RevisedAction != nil {
		h.Asked, h.Left = asked.Args, left.Args
	}
}

// GivenWith returns the assurance of the decision; "" if h is nil.
func (h *HumanApproval) GivenWith() gateway.Assurance {
	if h == nil {
		return ""
	}
	return h.Assurance
}

// Payload returns the part of the decision that a model sees. Its members are those of the reference programs and no others.
func (h *HumanApproval) Payload() map[string]any {
	v := map[string]any{"approved": h.Approved, "comment": h.Comment}
	if h.RevisedAction != nil {
		v["revised_action"] = h.RevisedAction
	}
	return v
}

// floatText spells a double as the comments of the reference programs do: 800.0, 2e-05 (spec/patterns.md section 1, args_hash rule 4).
func floatText(f float64) string {
	e := strconv.FormatFloat(f, 'e', -1, 64)
	exponent, _ := strconv.Atoi(e[strings.LastIndexByte(e, 'e')+1:])
	if f != 0 && (exponent < -4 || exponent > 15) {
		return e
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if strings.LastIndexByte(s, '.') < 0 {
		s += ".0"
	}
	return s
}

// input returns the question in canonical form, for recording and comparison.
func (a *Approval) input() []byte {
	v := map[string]any{
		"action": a.Action.Row(), "rule": a.Rule, "approver": string(a.Approver.Kind), "cap_usd": a.Approver.CapUSD,
	}
	if a.reason() != a.Rule {
		v["reason"] = a.reason()
	}
	if a.Approver.Kind == InboxApprover {
		delete(v, "cap_usd")
		v["expires_seconds"], v["min_assurance"] = a.Approver.Expires.Seconds(), string(a.Approver.least())
	}
	return ijson.Canonical(v)
}

func (a *Approval) reason() string { return cmp.Or(a.Reason, a.Rule) }

// Because returns the approval with the rule, reason, text and values of a ruling.
func (a Approval) Because(r gateway.Ruling) Approval {
	a.Rule, a.Reason, a.Text, a.Values = cmp.Or(r.Rule, r.Reason), r.Reason, r.Text, r.Values
	return a
}

// waiting returns the Waiting of a run while a person is asked; nil if the run does not wait for a person.
func (a *Approval) waiting(phase string, soFar func() Result) *Waiting {
	if a.Approver.Kind != InboxApprover {
		return nil
	}
	w := &Waiting{
		Kind: ForApproval, Phase: phase, Tool: a.Question.Tool, ArgsHash: ijson.ArgsHash(a.Action.Args), Question: a.Question,
		Rule: a.Rule, Reason: a.reason(), Text: a.Text, Values: a.Values, Least: a.Approver.least(), Phrase: a.Question.Tool,
	}
	if a.Plan != nil {
		w.WholePlan, w.CallEffect, w.Phrase = true, a.Plan.Effect(), SayPlan(*a.Plan, a.Catalog, true)
	} else if tool, ok := a.Catalog.Tool(a.Question.Tool); ok {
		w.CallEffect, w.Phrase, w.Schema = tool.Effect, tool.Say(a.Action.Args), tool.Asked().JSON()
	} else {
		w.CallEffect = catalog.Read // the closing answer
	}
	if soFar != nil {
		w.SoFar = soFar()
		w.SoFar.StopReason, w.SoFar.Phase = "", ""
	}
	return w
}

// SayPlan describes a plan in words for a person: how many steps it has, and which ones change something. The words hold only judged
// typed values. If args is false, they hold no arguments.
func SayPlan(e planning.Envelope, c *catalog.Catalog, args bool) string {
	const most = 3
	writing := e.Writing()
	said := fmt.Sprintf("a plan of %d steps", len(e.Steps))
	if len(e.Steps) == 1 {
		said = "a plan of 1 step"
	}
	if e.Change != nil && e.Change.Kind == "replan" {
		said += ", made anew"
	}
	if len(writing) == 0 {
		return said + " (none writes)"
	}
	destroys := slices.DeleteFunc(slices.Clone(writing), func(s planning.EnvelopeStep) bool { return s.Effect != catalog.Destructive })
	var kinds []string
	for _, kind := range []struct {
		n         int
		one, many string
	}{{len(writing) - len(destroys), "writes", "write"}, {len(destroys), "destroys", "destroy"}} {
		switch {
		case kind.n == 1:
			kinds = append(kinds, "1 "+kind.one)
		case kind.n > 1:
			kinds = append(kinds, fmt.Sprintf("%d %s", kind.n, kind.many))
		}
	}
	var list []string
	for _, s := range writing[:min(len(writing), most)] {
		tool, there := c.Tool(s.Tool)
		switch {
		case !there || !args:
			list = append(list, s.Tool)
		default:
			list = append(list, tool.Say(s.Sent()))
		}
	}
	if more := len(writing) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return said + " (" + strings.Join(kinds, ", ") + ": " + strings.Join(list, "; ") + ")"
}
