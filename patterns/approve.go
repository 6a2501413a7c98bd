package patterns

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
)

// ApproverKind says who decides what the policy puts to a person. The zero kind rejects.
type ApproverKind string

// The kinds of approvers.
const (
	RejectApprover    ApproverKind = "reject"    // nobody may be asked: the answer is no
	SimulatedApprover ApproverKind = "simulated" // the demo's person, who approves up to a cap
)

// Approver decides escalated calls. The zero Approver rejects everything.
type Approver struct {
	Kind   ApproverKind
	CapUSD float64 // of the simulated person
}

// Approval is the question to a person: exactly the call that would be made.
type Approval struct {
	Action   gateway.Action
	Rule     string // why the policy asks
	Approver Approver
}

// Decision is a person's answer. The zero Decision is no.
type Decision struct {
	Approved bool
	Args     map[string]any // what was approved, perhaps edited; nil: as asked
	Comment  string
	By       string // from the channel, never from a message
	Channel  string // none, simulated
	// Assurance says how sure it is that a person decided: none, simulated.
	Assurance string
}

// Decide answers for approvers that need nobody's time. It is deterministic.
func (a Approver) Decide(action gateway.Action) Decision {
	if a.Kind != SimulatedApprover {
		return Decision{Comment: "rejected_by_human", By: "configuration", Channel: "none", Assurance: "none"}
	}
	d := Decision{By: "simulated", Channel: "simulated", Assurance: "simulated"}
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

// Value is the decision as it is recorded.
func (d Decision) Value() map[string]any {
	v := map[string]any{"approved": d.Approved, "comment": d.Comment, "by": d.By, "channel": d.Channel, "assurance": d.Assurance}
	if d.Args != nil {
		v["args"] = d.Args
	}
	return v
}

// readDecision is the decision that an outcome holds; anything unreadable is no.
func readDecision(v any) Decision {
	obj, _ := v.(map[string]any)
	text := func(name string) string { s, _ := obj[name].(string); return s }
	d := Decision{Comment: text("comment"), By: text("by"), Channel: text("channel"), Assurance: text("assurance")}
	d.Approved, _ = obj["approved"].(bool)
	d.Args, _ = obj["args"].(map[string]any)
	return d
}

// HumanApproval is a person's decision as results show it (spec/surface.md section 1).
type HumanApproval struct {
	Approved      bool   `json:"approved"`
	RevisedAction any    `json:"revised_action,omitempty"`
	Comment       string `json:"comment"`
	By            string `json:"by"`
	Channel       string `json:"channel"`
	Assurance     string `json:"assurance"`
	DecidedAt     string `json:"decided_at"` // RFC 3339, UTC, whole seconds
}

func humanApproval(d Decision, action gateway.Action, at time.Time) *HumanApproval {
	h := &HumanApproval{
		Approved: d.Approved, Comment: d.Comment, By: d.By, Channel: d.Channel, Assurance: d.Assurance,
		DecidedAt: at.UTC().Format(time.RFC3339),
	}
	if d.Approved {
		h.RevisedAction = action.Row()
	}
	return h
}

// payload is the part of the decision that a model is shown: the seed's members and no others.
func (h *HumanApproval) payload() map[string]any {
	v := map[string]any{"approved": h.Approved, "comment": h.Comment}
	if h.RevisedAction != nil {
		v["revised_action"] = h.RevisedAction
	}
	return v
}

// floatText spells a double as the seeds' comments do: 800.0, 2e-05 (spec/patterns.md section 1, args_hash rule 4).
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

// input is the question in canonical form: what is recorded and compared.
func (a *Approval) input() []byte {
	return ijson.Canonical(map[string]any{
		"action": a.Action.Row(), "rule": a.Rule, "approver": string(a.Approver.Kind), "cap_usd": a.Approver.CapUSD,
	})
}
