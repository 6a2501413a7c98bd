package gateway

import (
	"errors"
	"time"

	"patterngate/catalog"
)

// ErrNoPermit is what performing the zero Permit gives.
var ErrNoPermit = errors.New("gateway: no permit")

// Permit is proof that one call was judged and may be made. Only a [Gate] makes one; the zero Permit permits
// nothing. It holds what was judged, and exactly that is sent.
type Permit struct{ judged *judged } // small: permits go by value through many frames that wait

// judged is a call that was judged. It never changes.
type judged struct {
	tool    catalog.Tool
	args    map[string]any
	hash    string
	attempt int
	verdict Judgment
	// approval is the one by which a person decided about the call, see [Permit.Approval]; share is of a plan, see
	// [Permit.Share].
	approval, share string
	person          bool // a person approved it, or who stands in for one
	once            string
	weighing        *Weighing      // that has to hold when the call is recorded; nil: earlier runs do not matter
	proposed        map[string]any // args without what pattern and configuration set; nil: they set nothing
}

// Valid reports whether p permits anything.
func (p Permit) Valid() bool { return p.judged != nil }

// Tool is the tool's name, as rules, windows, switches and records know it; the zero Permit has none, nor anything else.
func (p Permit) Tool() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Own()
}

// As is the name by which the pattern knows the tool: a worker's or a route's, for stop reasons.
func (p Permit) As() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Name
}

// Pattern is the pattern of which the call begins a run, and the argument that is its goal; "" of a tool.
func (p Permit) Pattern() (name, goal string) {
	if p.judged == nil {
		return "", ""
	}
	return p.judged.tool.Pattern, p.judged.tool.Goal
}

// Effect is the tool's declared effect.
func (p Permit) Effect() catalog.Effect {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Effect
}

// Repeatable reports whether the call may be made again when nobody knows whether it happened.
func (p Permit) Repeatable() bool { return p.judged != nil && p.judged.tool.Repeatable() }

// Hash is the args_hash of the arguments as proposed and revised, without what the pattern injected.
func (p Permit) Hash() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.hash
}

// Verdict is who let the call through and how, for the record; that of the zero Permit blocks.
func (p Permit) Verdict() Judgment {
	if p.judged == nil {
		return Judgment{}
	}
	return p.judged.verdict
}

// Approval is the id of the decision of a person that the call spends, ap_ and 16 hex digits; "" where no person decided,
// and the engine has nothing to check.
func (p Permit) Approval() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.approval
}

// Share is the step that the call is of a plan which was approved whole: the call spends that step's share of the approval,
// and the approval as a whole stays. "" where the approval is of this call alone, or there is none.
func (p Permit) Share() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.share
}

// Question is the call as a person is asked about it, but for what the engine adds: the run, the step and the expiry.
func (p Permit) Question() Question {
	if p.judged == nil {
		return Question{}
	}
	return Question{Tool: p.judged.tool.Own(), Schema: p.judged.tool.Asked().Hash(), Args: p.judged.args, Policy: p.judged.verdict.Policy}
}

// Args are the arguments as they are sent, with what the pattern and the configuration set: for rules, digest, effects and
// people. They must not be changed.
func (p Permit) Args() map[string]any {
	if p.judged == nil {
		return nil
	}
	return p.judged.args
}

// Proposed are the arguments as proposed and revised, defaults put in, without what the pattern and the configuration set:
// for trace and history, which say no more than [Permit.Hash] does. They must not be changed.
func (p Permit) Proposed() map[string]any {
	switch {
	case p.judged == nil:
		return nil
	case p.judged.proposed == nil:
		return p.judged.args
	}
	return p.judged.proposed
}

// Server is where the tool is: a configured server's name, or http; "" of a tool of ours.
func (p Permit) Server() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Server
}

// Timeout bounds one attempt of the call; 0: the pattern's deadline alone does.
func (p Permit) Timeout() time.Duration {
	if p.judged == nil {
		return 0
	}
	return p.judged.tool.Timeout
}

// Retry says how often the call is made again.
func (p Permit) Retry() catalog.Retry {
	if p.judged == nil {
		return catalog.Retry{}
	}
	return p.judged.tool.Retry
}

// Once is the business key of the call, under which it acts once over all runs; "" where the tool has none.
func (p Permit) Once() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.once
}
