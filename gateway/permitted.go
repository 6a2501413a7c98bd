package gateway

import (
	"errors"
	"time"

	"patterngate/catalog"
)

// ErrNoPermit is the error of performing the zero Permit.
var ErrNoPermit = errors.New("gateway: no permit")

// Permit is proof that one call was judged and may be made. Only a [Gate] makes one. The zero Permit permits nothing.
// It holds exactly the call that was judged, and only that call is sent.
type Permit struct{ judged *judged } // small: many waiting frames pass permits by value

// judged is a call that was judged. It does not change.
type judged struct {
	tool    catalog.Tool
	args    map[string]any
	hash    string
	attempt int
	verdict Judgment
	// approval is the id of the person's decision about the call, see [Permit.Approval]. share is the step of a plan,
	// see [Permit.Share].
	approval, share string
	person          bool // a person approved it, or a simulated one
	once            string
	weighing        *Weighing      // must hold when the call is recorded; nil: earlier runs do not matter
	proposed        map[string]any // args without what pattern and configuration set; nil: the same as args
}

// Valid reports whether p permits anything.
func (p Permit) Valid() bool { return p.judged != nil }

// Tool returns the tool's name as rules, windows, switches and records know it. The zero Permit has no name: its
// methods return zero values.
func (p Permit) Tool() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Own()
}

// As returns the name by which the pattern knows the tool: a worker's or a route's. Stop reasons use it.
func (p Permit) As() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Name
}

// Pattern returns the pattern that the call starts a run of, and the argument that is its goal. Both are "" for a tool.
func (p Permit) Pattern() (name, goal string) {
	if p.judged == nil {
		return "", ""
	}
	return p.judged.tool.Pattern, p.judged.tool.Goal
}

// Effect returns the tool's declared effect.
func (p Permit) Effect() catalog.Effect {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Effect
}

// Repeatable reports whether the call may be made again if its outcome is unknown.
func (p Permit) Repeatable() bool { return p.judged != nil && p.judged.tool.Repeatable() }

// Hash returns the args_hash of the proposed arguments after revisions, without those that the pattern sets.
func (p Permit) Hash() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.hash
}

// Verdict returns the judgment that let the call through, for the record. That of the zero Permit blocks.
func (p Permit) Verdict() Judgment {
	if p.judged == nil {
		return Judgment{}
	}
	return p.judged.verdict
}

// Approval returns the id of the person's decision that the call spends: ap_ and 16 hex digits. It is "" if no person
// decided; the engine then has nothing to check.
func (p Permit) Approval() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.approval
}

// Share returns the step of an approved plan that the call is. The call spends that step's share of the approval, and
// the rest of the approval stays valid. It is "" if the approval is for this call alone, or there is none.
func (p Permit) Share() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.share
}

// Question returns what a person is asked about the call. The engine adds the run, the step and the expiry.
func (p Permit) Question() Question {
	if p.judged == nil {
		return Question{}
	}
	return Question{Tool: p.judged.tool.Own(), Schema: p.judged.tool.Asked().Hash(), Args: p.judged.args, Policy: p.judged.verdict.Policy}
}

// Args returns the arguments as they are sent, with those that the pattern and the configuration set. Rules, digests,
// effects and people see these. They must not be changed.
func (p Permit) Args() map[string]any {
	if p.judged == nil {
		return nil
	}
	return p.judged.args
}

// Proposed returns the proposed arguments after revisions, with defaults. It leaves out those that the pattern and the
// configuration set. Trace and history show these: they are the arguments that [Permit.Hash] covers. They must not be
// changed.
func (p Permit) Proposed() map[string]any {
	switch {
	case p.judged == nil:
		return nil
	case p.judged.proposed == nil:
		return p.judged.args
	}
	return p.judged.proposed
}

// Server returns where the tool is: the name of a configured server, or http; "" for a built-in tool.
func (p Permit) Server() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Server
}

// Timeout returns the limit for one attempt of the call; 0: only the pattern's deadline applies.
func (p Permit) Timeout() time.Duration {
	if p.judged == nil {
		return 0
	}
	return p.judged.tool.Timeout
}

// Retry returns how the call is retried.
func (p Permit) Retry() catalog.Retry {
	if p.judged == nil {
		return catalog.Retry{}
	}
	return p.judged.tool.Retry
}

// Once returns the business key of the call; "" if the tool has none. Calls with the same key act once over all runs.
func (p Permit) Once() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.once
}
