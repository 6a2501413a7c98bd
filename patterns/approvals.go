package patterns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
)

// Approvals gives the owner of a state file access to the questions that runs ask people, for all principals. No client of the server
// can call it. It decides and never executes: the run continues in the process that takes it. It is safe for concurrent use.
type Approvals interface {
	// ListApprovals returns a page of questions, newest first. Its error is [ErrCursor] or the journal's.
	ListApprovals(ApprovalFilter) (ApprovalPage, error)
	// WaitingApprovals returns how many questions wait for an answer now.
	WaitingApprovals() (int, error)
	// Approval returns one question in its current state. Its error is [ErrNoApproval] or the journal's.
	Approval(id string) (Asked, error)
	// FindApproval returns the id of the only question whose id begins with these digits: 4 or more, with or without ap_. Its error is
	// [ErrNoApproval], or it lists the ids that match.
	FindApproval(beginning string) (string, error)
	// Decide records the answer to a question, once. Of two answers at the same time, one gets [*NotOpen]. The channel made the answer
	// for the question that it showed, see [gateway.Answered]. A refused answer is recorded in the run. The error is [ErrNoApproval],
	// [*NotOpen], [ErrUnsigned], [ErrForged], [*BadEdit] or the journal's.
	Decide(Decided) (Asked, error)

	// Keys returns the approver keys.
	Keys() (gateway.Ring, error)
	// Enroll adds a key. A key that counts must vouch for every key after the first. The error is [ErrForged], [ErrUsed] or the
	// journal's.
	Enroll(gateway.PublicKey) error
	// RemoveKey removes a key by a signed act. Its error is [ErrNoKey], [ErrForged], [ErrUsed] or the journal's.
	RemoveKey(id string, by gateway.SignedAct) error

	// OfferSignIn lets the holder of the token with this SHA-256 sign in to the page once, before a time.
	OfferSignIn(token [32]byte, until time.Time) error
	// SignIn uses up an offer; false: there was none, or its time has passed.
	SignIn(token [32]byte) (bool, error)
	// StateID returns the hashed name of the state file: "sha256:" and 64 hex digits. Two processes with the same id share one state.
	StateID() (string, error)
}

// Owner gives the owner of a state file access to the runs of all principals. It is safe for concurrent use.
type Owner interface {
	// Find returns the id of the only run whose id begins with these digits, as [Approvals.FindApproval] does.
	Find(beginning string) (string, error)
	// Run returns a run in its current state; false if there is none.
	Run(id string) (Snapshot, bool)
	// Record returns a run's record, even a broken one, with the length kept when the run last waited or ended (0: none yet).
	Record(id string) (events []Event, kept int64, err error)
	// Kept returns a run's record and the row that is kept beside it, see [VerifyRow].
	Kept(id string) (events []Event, kept Kept, err error)
	// List returns a page of runs, newest first.
	List(Filter) (Page, error)
	// Plan returns a stored plan of any principal in its current state, see [Plans.Plan].
	Plan(id string) (PlanState, error)
	// Changed waits for changes and returns the ids of runs and plans that have changed since the previous call. The id [Everything]
	// means that it is not known which. next is the argument of the next call; the first call passes 0. When ctx ends, Changed returns
	// no ids.
	Changed(ctx context.Context, since uint64) (ids []string, next uint64)
}

// Everything is the id that means all runs, see [Owner].
const Everything = "*"

// AskedState is the state of a question. The zero AskedState is none of the states.
type AskedState string

// The states of a question.
const (
	AskedOpen    AskedState = "waiting"
	AskedDecided AskedState = "decided" // approved, edited or rejected; see [Given]
	AskedExpired AskedState = "expired" // no answer came in time: rejected
	AskedOver    AskedState = "over"    // its run ended without an answer
)

// Why returns the reason why a question in this state is not open; "" if it is open.
func (s AskedState) Why() string {
	switch s {
	case AskedOpen:
		return ""
	case AskedExpired:
		return WhyExpired
	case AskedOver:
		return WhyOver
	}
	return WhyDecided
}

// Asked is a question to a person in its current state.
type Asked struct {
	ID       string           // ap_ and 16 hex digits
	Question gateway.Question // the whole call
	Digest   string           // of the question; the decision is about this digest
	Key      string           // of the human effect in the run's record
	Parent   string           // of a child run: the run whose call began it; else ""

	Pattern, Principal string
	Phase              string
	Effect             catalog.Effect
	ArgsHash           string
	Phrase             string // the call in words, of judged typed values only
	Rule, Reason       string
	Text               string         // words of the rule, for people
	Values             map[string]any // that made the rule true, by their expressions
	Least              gateway.Assurance
	Schema             json.RawMessage // of the arguments, for edits; nil for none, and in lists
	Since              time.Time       // when it was asked; Question.Expires is its deadline

	State AskedState
	// Of one that was decided:
	Given *Given
	Spent bool // the call was begun
}

// Plan returns the plan if the question is about a whole plan; false: it is about one call.
func (a Asked) Plan() (planning.Envelope, bool) {
	if a.Key == "" || a.Question.Step != a.Key {
		return planning.Envelope{}, false
	}
	return planning.ReadEnvelope(a.Question)
}

// Given is an answer in its current state. It is a person's answer, and was checked when it was given, not now.
type Given struct {
	gateway.Answer
	Args      map[string]any // of an edit; nil if they are no longer kept
	Signature string
	Channel   string // cli, page
	Assurance gateway.Assurance
}

// Decided is a new answer to a question, not yet recorded.
type Decided struct {
	gateway.Answer
	Args      map[string]any // of an edit: all arguments that would be sent
	Signature string         // over the answer; "" for none
	Channel   string         // cli, page
}

// ApprovalFilter says which questions are listed. The zero ApprovalFilter lists those that wait.
type ApprovalFilter struct {
	All    bool   // also questions that were decided, expired or are over
	Rule   string // "": any
	Run    string // of one run; "": of any
	Limit  int    // of rows; 0: 20, at most 1000
	Cursor string // of the page before; opaque
}

// ApprovalPage is one page of a list.
type ApprovalPage struct {
	Rows []Asked
	Next string // the cursor of the next page; "" on the last
}

// Errors of approvals.
var (
	ErrNoApproval = errors.New("patterns: no such approval")
	ErrNoKey      = errors.New("patterns: no such key")
	// ErrUnsigned is returned for a decision without a signature if only signed decisions count.
	ErrUnsigned = errors.New("patterns: only a decision signed by an approver key counts here")
	// ErrForged is returned for a signature, key or answer that is not valid.
	ErrForged = errors.New("patterns: the signature does not hold")
	// ErrKeyRemoved is the [ErrForged] for a key that was removed.
	ErrKeyRemoved = fmt.Errorf("%w: its key was removed", ErrForged)
	// ErrUsed is returned for a signed act that was used before.
	ErrUsed = errors.New("patterns: the signed act was used before")
)

// NotOpen is returned for a question that is not open to this answer.
type NotOpen struct {
	Why   string // changed, decided, expired, over
	Asked Asked  // in its current state
}

func (n *NotOpen) Error() string { return "patterns: the approval is not open: " + n.Why }

// These are the reasons why a question is not open.
const (
	WhyChanged = "changed" // the answer is about another digest
	WhyDecided = "decided"
	WhyExpired = "expired"
	WhyOver    = "over" // its run ended
)

// BadEdit is returned for edited arguments that the tool does not accept.
type BadEdit struct{ Problems []document.Problem }

func (b *BadEdit) Error() string {
	return "patterns: the changed arguments are not what the tool takes"
}
