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

// Approvals is what a state file knows of the questions that runs put to people. It belongs to the owner of the state, who
// sees the questions of all principals; nothing that a client of the server may call leads here. It decides and never
// executes: a run goes on in whichever process takes it. It is safe for concurrent use.
type Approvals interface {
	// ListApprovals is a page of questions, newest first. Its error is [ErrCursor] or the journal's.
	ListApprovals(ApprovalFilter) (ApprovalPage, error)
	// WaitingApprovals is how many questions wait for an answer now.
	WaitingApprovals() (int, error)
	// Approval is one question as it stands. Its error is [ErrNoApproval] or the journal's.
	Approval(id string) (Asked, error)
	// FindApproval is the id of the one question that begins so: 4 digits or more, with or without ap_. Its error is
	// [ErrNoApproval], or says which ones there are.
	FindApproval(beginning string) (string, error)
	// Decide answers a question, once: of two who answer at once one is told [*NotOpen]. The answer was made by the channel
	// for what it showed, see [Asked.Answer]. What is refused is recorded in the run. Its error is [ErrNoApproval],
	// [*NotOpen], [ErrUnsigned], [ErrForged], [*BadEdit] or the journal's.
	Decide(Decided) (Asked, error)

	// Keys are the approver keys.
	Keys() (gateway.Ring, error)
	// Enroll adds a key. A further one is vouched for by one that counts. Its error is [ErrForged], [ErrUsed] or the
	// journal's.
	Enroll(gateway.PublicKey) error
	// RemoveKey takes a key out of use, by a signed act. Its error is [ErrNoKey], [ErrForged], [ErrUsed] or the journal's.
	RemoveKey(id string, by gateway.SignedAct) error

	// OfferSignIn lets the page be signed in to once, until a time, by who has the token of this SHA-256.
	OfferSignIn(token [32]byte, until time.Time) error
	// SignIn uses an offer up; false: there was none, or its time is over.
	SignIn(token [32]byte) (bool, error)
	// StateID names the state file, hashed: "sha256:" and 64 hex digits. Two processes with one have one state.
	StateID() (string, error)
}

// Owner is what the owner of a state file sees of the runs of all principals. It is safe for concurrent use.
type Owner interface {
	// Find is the id of the one run that begins so, as [Approvals.FindApproval].
	Find(beginning string) (string, error)
	// Run shows a run as it stands; false where there is none.
	Run(id string) (Snapshot, bool)
	// Record is a run's record with the length that was kept at its last rest (0: none yet), even where it is broken.
	Record(id string) (events []Event, kept int64, err error)
	// Kept is a run's record and what is kept beside it, see [VerifyRow].
	Kept(id string) (events []Event, kept Kept, err error)
	// List is a page of runs, newest first.
	List(Filter) (Page, error)
	// Plan is a stored plan of any principal as it stands, see [Plans.Plan].
	Plan(id string) (PlanState, error)
	// Changed returns the ids of runs and plans that have changed since it was asked before, [Everything] where it is not known which,
	// and what to ask with next; at the latest when ctx ends, then none. The first time it is asked with 0.
	Changed(ctx context.Context, since uint64) (ids []string, next uint64)
}

// Everything stands for all runs.
const Everything = "*"

// AskedState says how a question stands. The zero AskedState is none of them.
type AskedState string

// The states of a question.
const (
	AskedOpen    AskedState = "waiting"
	AskedDecided AskedState = "decided" // approved, edited or rejected; see [Asked.Answer]
	AskedExpired AskedState = "expired" // nobody answered in time, which means no
	AskedOver    AskedState = "over"    // its run ended without an answer
)

// Why is why a question in this state is not open; "" where it is.
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

// Asked is a question to a person as it stands.
type Asked struct {
	ID       string           // ap_ and 16 hex digits
	Question gateway.Question // the call, whole
	Digest   string           // of it; what is decided is decided about this
	Key      string           // of the human effect in the run's record
	Parent   string           // of a child run: the run whose call began it; else ""

	Pattern, Principal string
	Phase              string
	Effect             catalog.Effect
	ArgsHash           string
	Phrase             string // the call in words, of judged typed values only
	Rule, Reason       string
	Text               string         // of the rule, for people
	Values             map[string]any // that made it true, by their expressions
	Least              gateway.Assurance
	Schema             json.RawMessage // of the arguments, for who edits them; nil for none, and in lists
	Since              time.Time       // Question.Expires is until when

	State AskedState
	// Of one that was decided:
	Given *Given
	Spent bool // the call was begun
}

// Plan is the plan that the question is about whole; false: it is about one call.
func (a Asked) Plan() (planning.Envelope, bool) {
	if a.Key == "" || a.Question.Step != a.Key {
		return planning.Envelope{}, false
	}
	return planning.ReadEnvelope(a.Question)
}

// Given is an answer as it stands. What it says is a person's, and was judged when it was given, not now.
type Given struct {
	gateway.Answer
	Args      map[string]any // of an edit; nil where they are not kept any more
	Signature string
	Channel   string // cli, page
	Assurance gateway.Assurance
}

// Decided is an answer to a question on its way in.
type Decided struct {
	gateway.Answer
	Args      map[string]any // of an edit: all arguments, as they would be sent
	Signature string         // over the answer; "" for none
	Channel   string         // cli, page
}

// ApprovalFilter says which questions are listed. The zero ApprovalFilter lists those that wait.
type ApprovalFilter struct {
	All    bool   // also what is decided, expired or over
	Rule   string // "": any
	Run    string // of one run; "": of any
	Limit  int    // of rows; 0: 20, at most 1000
	Cursor string // of the page before; opaque
}

// ApprovalPage is some rows of a list.
type ApprovalPage struct {
	Rows []Asked
	Next string // the cursor of the next page; "" on the last
}

// Errors of approvals.
var (
	ErrNoApproval = errors.New("patterns: no such approval")
	ErrNoKey      = errors.New("patterns: no such key")
	// ErrUnsigned is returned for a decision without a signature where only signed ones count.
	ErrUnsigned = errors.New("patterns: only a decision signed by an approver key counts here")
	// ErrForged is returned for a signature, key or answer that is not what it says it is.
	ErrForged = errors.New("patterns: the signature does not hold")
	// ErrKeyRemoved is the [ErrForged] of a key that counted once.
	ErrKeyRemoved = fmt.Errorf("%w: its key was removed", ErrForged)
	// ErrUsed is returned for a signed act that was done before.
	ErrUsed = errors.New("patterns: the signed act was used before")
)

// NotOpen is returned for a question that is not open to this answer.
type NotOpen struct {
	Why   string // changed, decided, expired, over
	Asked Asked  // as it stands
}

func (n *NotOpen) Error() string { return "patterns: the approval is not open: " + n.Why }

// Why a question is not open.
const (
	WhyChanged = "changed" // the answer is about another digest
	WhyDecided = "decided"
	WhyExpired = "expired"
	WhyOver    = "over" // its run ended
)

// BadEdit is returned for changed arguments that the tool would not take.
type BadEdit struct{ Problems []document.Problem }

func (b *BadEdit) Error() string {
	return "patterns: the changed arguments are not what the tool takes"
}
