package patterns

import (
	"encoding/json"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
)

// WaitingKind says for whom or for what a run waits (spec/surface.md section 1).
type WaitingKind string

// The kinds of waiting.
const (
	ForCaller     WaitingKind = "caller"     // the caller's next proposals
	ForApproval   WaitingKind = "approval"   // a person's decision about a call
	ForSettlement WaitingKind = "settlement" // a person's answer whether a call in doubt happened
	ForRetry      WaitingKind = "retry"      // something that this process lacks
)

// Waiting describes what a run waits for. It can be its caller's next proposals (design section 6.1), a person's decision about a call
// or plan, or a person's answer about a call in doubt. It can also be something that this process lacks. While the run waits, only its
// record is kept. [Engine.Continue] takes the caller's input.
type Waiting struct {
	Kind  WaitingKind
	Key   string // of the effect that waits; set by the engine
	Phase string

	// For a settlement: the call in doubt, and in Cause why its outcome is unknown: crash, timeout, broken_reply. For a retry: Cause
	// is config_missing, tool_missing, secret_missing or journal; Needs names the missing items.
	Effect, Tool, ArgsHash string
	Cause                  string
	Needs                  []string

	// For an approval; Tool and ArgsHash are those of the call. The engine sets the id, and the question's run, step and expiry, which
	// are part of its digest.
	Approval     string           // ap_ and 16 hex digits
	Question     gateway.Question // the call as it would be sent
	CallEffect   catalog.Effect
	Phrase       string          // the call in words, of judged typed values only
	Schema       json.RawMessage // of the arguments
	WholePlan    bool            // the question is about a plan, see [planning.Envelope], not about a call
	Rule, Reason string
	Text         string         // words of the rule, for people
	Values       map[string]any // that made the rule true, by their expressions
	Least        gateway.Assurance

	// Child is the child run that waits, and Pattern its pattern; "": the run itself waits. A parent waits for whatever its child run
	// waits for.
	Child, Pattern string

	// For the caller:
	Turn     int    // 1, 2, ...: the number of the caller's turn
	Argument string // the argument to send: route or actions
	// Names may be chosen, Forbidden no longer; Left is how many more proposals are allowed.
	Names, Forbidden []string
	Left             int
	Last             any            // the newest observation, as rows show it; nil if there is none
	Refused          int            // proposals refused in this turn; SoFar has the problems of the newest
	Ready            []ReadySubtask // for planning: the caller's work; Argument is then results
	SoFar            Result

	Since, Until time.Time // set by the engine; a zero Until is no limit
}
