package patterns

import (
	"encoding/json"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
)

// WaitingKind says who or what a run waits for (spec/surface.md section 1).
type WaitingKind string

// The kinds of waiting.
const (
	ForCaller     WaitingKind = "caller"     // the caller's next proposals
	ForApproval   WaitingKind = "approval"   // a person who decides about a call
	ForSettlement WaitingKind = "settlement" // a person who says whether a call in doubt happened
	ForRetry      WaitingKind = "retry"      // something that is missing here
)

// Waiting is what a run waits for: its caller when the proposals have run out (design section 6.1), a person who settles
// a call in doubt, or something that this process lacks. Nothing of the run is held meanwhile but its record; what the
// caller sends is taken by [Engine.Continue].
type Waiting struct {
	Kind  WaitingKind
	Key   string // of the effect that waits; set by the engine
	Phase string

	// Of settlement: the call in doubt and why nobody knows: crash, timeout, broken_reply. Of retry: config_missing,
	// tool_missing, secret_missing, journal; Needs names what is missing.
	Effect, Tool, ArgsHash string
	Cause                  string
	Needs                  []string

	// Of an approval; Tool and ArgsHash are the call's. The id, the question's run, step and expiry, and with these its
	// digest are the engine's.
	Approval     string           // ap_ and 16 hex digits
	Question     gateway.Question // the call as it would be sent
	CallEffect   catalog.Effect
	Phrase       string          // the call in words, of judged typed values only
	Schema       json.RawMessage // of the arguments
	WholePlan    bool            // the question is about a plan, see [planning.Envelope], and not a call
	Rule, Reason string
	Text         string         // of the rule, for people
	Values       map[string]any // that made it true, by their expressions
	Least        gateway.Assurance

	// Child is the child run that waits, and Pattern its pattern; "": the run itself does. What a child run waits for, so does its
	// parent.
	Child, Pattern string

	// Of the caller:
	Turn     int    // 1, 2, ...: which of the caller's turns it is
	Argument string // what is asked for: route or actions
	// Names may be chosen, Forbidden not any more; Left is how often something may be proposed.
	Names, Forbidden []string
	Left             int
	Last             any            // the newest observation, as rows show it; nil where there is none
	Refused          int            // proposals refused at this turn; SoFar has the problems of the newest
	Ready            []ReadySubtask // of planning: the work that the caller is to do; Argument is results
	SoFar            Result

	Since, Until time.Time // set by the engine; a zero Until is no limit
}
