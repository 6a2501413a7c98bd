package gateway

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patterngate/ijson"
)

// A person is asked about exactly one call. The answer is valid for exactly that call (spec/surface.md section 8):
//
//	Question ──JCS, SHA-256──▶ digest ──shown──▶ a person ──Answer──▶ signature (with a key)
//	                             │                                        │
//	                             └──────────▶ Check, when it is spent ◀───┘

const (
	approvalType   = "patterngate/approval/v1"
	decisionType   = "patterngate/decision/v1"
	decisionPrefix = "patterngate decision v1\n" // prefix of the signed text, so that no other text passes for a decision
)

// Assurance says how certain it is that a person decided. The zero Assurance is below all others.
type Assurance string

// The assurances, the weakest first.
const (
	NoAssurance        Assurance = "none"      // no person was asked
	SimulatedAssurance Assurance = "simulated" // the simulated person of the demo
	UserAssurance      Assurance = "user"      // any program of the same operating system user could have decided
	SignedAssurance    Assurance = "signed"    // an approver key signed it
)

// assurances are all assurances in order, the zero one first.
var assurances = [...]Assurance{"", NoAssurance, SimulatedAssurance, UserAssurance, SignedAssurance}

// AtLeast reports whether a is the same as least or higher. It is false if a or least is unknown. Every known assurance
// reaches the zero least.
func (a Assurance) AtLeast(least Assurance) bool {
	have, want := slices.Index(assurances[:], a), slices.Index(assurances[:], least)
	return want >= 0 && have >= want
}

// Stricter returns the higher of two assurances.
func (a Assurance) Stricter(b Assurance) Assurance {
	if b.AtLeast(a) {
		return b
	}
	return a
}

// Question is what a person is asked: whether one call of one run may be sent, until a deadline.
type Question struct {
	Run     string // run_ and 16 hex digits
	Step    string // the call's effect key
	Tool    string
	Schema  string         // hash of the tool's input schema; "" for none
	Args    map[string]any // as they would be sent, after all revisions
	Policy  string         // hash of the policy in force; "" for none
	Expires time.Time      // in whole seconds
	// Assurance is the least assurance that was required when the question was asked; "" means user. A lower answer never counts, even
	// if the keys are removed later.
	Assurance Assurance
}

// Object returns the question in canonical form. Its arguments are decoded values.
func (q Question) Object() []byte {
	v := map[string]any{
		"type": approvalType, "run": q.Run, "step": q.Step, "tool": q.Tool, "schema": cmp.Or(q.Schema, HashOfNone), "args": members(q.Args),
		"policy": cmp.Or(q.Policy, HashOfNone), "expires": clock(q.Expires),
	}
	if q.Assurance != "" && q.Assurance != UserAssurance {
		v["assurance"] = string(q.Assurance)
	}
	return ijson.Canonical(v)
}

// HashOfNone is the hash of {}. A question shows it for a tool without a schema, and for a run without a policy.
var HashOfNone = ijson.Hash([]byte("{}"))

// Digest returns the name of the question: "sha256:" and 64 hex digits.
func (q Question) Digest() string { return ijson.Hash(q.Object()) }

// With returns the question about the same call with other arguments.
func (q Question) With(args map[string]any) Question {
	q.Args = args
	return q
}

func members(args map[string]any) map[string]any {
	if args == nil {
		return map[string]any{}
	}
	return args
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Choice is what a person decides. The zero Choice is no decision and approves nothing.
type Choice string

// The choices.
const (
	ChooseApprove Choice = "approve"
	ChooseEdit    Choice = "edit" // with other arguments: another call, which policy reviews again
	ChooseReject  Choice = "reject"
)

// Answer is a person's decision about a question, made by the command or page that takes it.
type Answer struct {
	Approval string // ap_ and 16 hex digits
	Digest   string // of the question as it was shown
	Choice   Choice
	Executes string // digest of what would run; "" for a rejection
	Comment  string
	By       string    // local:<uid> or key:<id>, from the channel
	At       time.Time // in whole seconds
	Key      string    // id of the key that signs; "" for none
	// Uncompared is true if the digest was not compared with what a person saw.
	Uncompared bool
}

// Answered returns a decision about a question that was shown with its digest. The command or page that takes the
// decision calls it. It sets Approval, Digest, Choice and Executes. args are the changed arguments, only for an edit.
func Answered(approval string, q Question, choice Choice, args map[string]any) Answer {
	a := Answer{Approval: approval, Digest: q.Digest(), Choice: choice}
	switch choice {
	case ChooseApprove:
		a.Executes = a.Digest
	case ChooseEdit:
		a.Executes = q.With(args).Digest()
	}
	return a
}

// ReadAnswer reads an answer back from its canonical form, [Answer.Object]. It does not trust the text, and its error
// says what is wrong. It does not know the question: [Grant.Heard] checks the answer against it, and which key or user
// gave it.
func ReadAnswer(text []byte) (Answer, error) {
	var v struct {
		Type     string `json:"type"`
		Approval string `json:"approval"`
		Digest   string `json:"digest"`
		Decision string `json:"decision"`
		Executes string `json:"executes"`
		Comment  string `json:"comment"`
		By       string `json:"by"`
		At       string `json:"at"`
		Key      string `json:"key"`
		Compared *bool  `json:"compared"` // false or absent
	}
	if len(text) > maxAnswer {
		return Answer{}, fmt.Errorf("gateway: an answer of %d bytes", len(text))
	}
	if err := ijson.DecodeInto(text, &v); err != nil {
		return Answer{}, fmt.Errorf("gateway: no answer: %w", err)
	}
	at, err := time.Parse(time.RFC3339, v.At)
	if err != nil {
		return Answer{}, fmt.Errorf("gateway: no answer: %w", err)
	}
	a := Answer{v.Approval, v.Digest, Choice(v.Decision), v.Executes, v.Comment, v.By, at, v.Key, v.Compared != nil && !*v.Compared}
	if !bytes.Equal(a.Object(), text) { // this also catches a wrong type and another spelling of the time
		return Answer{}, errors.New("gateway: the answer is not in canonical form")
	}
	if wrong := a.wrong(); wrong != "" {
		return Answer{}, fmt.Errorf("gateway: no answer: %s", wrong)
	}
	return a, nil
}

const (
	maxAnswer = 16 << 10 // bytes of an answer's text; a character of the comment takes at most 6
	maxBy     = 256      // bytes
)

// MaxComment is the maximum length of the comment of an answer, in characters (spec/surface.md section 6).
const MaxComment = 1000

// wrong returns what is wrong with an answer in itself, without its question; "" if it is valid.
func (a Answer) wrong() string {
	choiceFits := map[Choice]bool{
		ChooseApprove: a.Executes == a.Digest, ChooseEdit: isHex("sha256:", a.Executes, 64), ChooseReject: a.Executes == "",
	}
	fits, known := choiceFits[a.Choice]
	switch {
	case !isHex("ap_", a.Approval, 16):
		return approvalID
	case !isHex("sha256:", a.Digest, 64):
		return digestForm
	case !known:
		return decisionWords
	case !fits:
		return executesForm
	case a.At.IsZero():
		return decidedAt
	case !utf8.ValidString(a.Comment) || utf8.RuneCountInString(a.Comment) > MaxComment:
		return commentLength
	case a.Key != "" && (!isHex("", a.Key, 16) || a.By != "key:"+a.Key):
		return byKey
	case a.Key == "" && (!strings.HasPrefix(a.By, "local:") || len(a.By) > maxBy || !utf8.ValidString(a.By)):
		return byUser
	}
	return ""
}

// isHex reports whether s is the prefix and then this number of hex digits in lower case.
func isHex(prefix, s string, digits int) bool {
	rest, found := strings.CutPrefix(s, prefix)
	return found && len(rest) == digits && strings.Trim(rest, "0123456789abcdef") == ""
}

// Object returns the answer in canonical form, the form that is signed.
func (a Answer) Object() []byte {
	v := map[string]any{
		"type": decisionType, "approval": a.Approval, "digest": a.Digest, "decision": string(a.Choice), "comment": a.Comment,
		"by": a.By, "at": clock(a.At),
	}
	if a.Executes != "" {
		v["executes"] = a.Executes
	}
	if a.Key != "" {
		v["key"] = a.Key
	}
	if a.Uncompared {
		v["compared"] = false
	}
	return ijson.Canonical(v)
}

// Message returns the bytes that a key signs for the answer.
func (a Answer) Message() []byte { return append([]byte(decisionPrefix), a.Object()...) }
