package patterns

import (
	"encoding/json"
	"fmt"

	"patterngate/ijson"
)

// StartBody is the body of a start event: the request, its principal, and the configuration. Hashes are sha256: and 64 hex digits.
type StartBody struct {
	RunID          string          `json:"run_id"`
	Pattern        string          `json:"pattern"`      // the tool's name
	PatternKind    string          `json:"pattern_kind"` //
	Version        string          `json:"version"`      // of the program that began it
	Arguments      json.RawMessage `json:"arguments"`    // an object, as the caller sent it
	Principal      string          `json:"principal"`
	Client         ClientBody      `json:"client"`
	Config         string          `json:"config"`  // hash
	Policy         string          `json:"policy"`  // hash
	Catalog        string          `json:"catalog"` // hash
	Budget         json.RawMessage `json:"budget"`  // limits by name
	IdempotencyKey string          `json:"idempotency_key"`
	Parent         *ParentBody     `json:"parent"` // of a child run
	Code           int             `json:"code"`   // version of the pattern code's decisions; 0: a build before version 1
}

// ClientBody identifies the client that asked for the run. Its members are the client's own words and are not checked.
type ClientBody struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Era     string `json:"era"` // of the protocol
}

// ParentBody identifies the effect of another run that began this one.
type ParentBody struct {
	RunID  string          `json:"run_id"`
	Key    string          `json:"key"`
	Within []string        `json:"within"` // the patterns of the enclosing runs, the outermost first
	Share  json.RawMessage `json:"share"`  // what the parent had left for it, by names of limits
}

// IntentBody is the body of an intent event: an effect before it is performed.
type IntentBody struct {
	EffectKind EffectKind      `json:"effect_kind"`
	Name       string          `json:"name"`
	Input      json.RawMessage `json:"input"`
	Phase      string          `json:"phase"` // the phase, if it is recorded

	// Of a call:
	Effect         string       `json:"effect"` // read, write, destructive
	IdempotencyKey string       `json:"idempotency_key"`
	Verdict        *VerdictBody `json:"verdict"`
	Grant          string       `json:"grant"` // the approval that it spends
	Share          string       `json:"share"` // of a plan that was approved whole: the subtask whose share it spends

	// Of a question to a person:
	Object json.RawMessage `json:"object"` // the [gateway.Question] in canonical form; nil if no person was asked
	Digest string          `json:"digest"` // of the object
	Rule   string          `json:"rule"`
	Reason string          `json:"reason"`
	Text   string          `json:"text"`   // words of the rule, for people
	Values json.RawMessage `json:"values"` // that made the rule true, by their expressions
}

// VerdictBody is the result of the policy's review of a call that was made.
type VerdictBody struct {
	Decision  string          `json:"decision"`
	Rule      string          `json:"rule"`
	Reason    string          `json:"reason"`
	Text      string          `json:"text"`   // words of the rule, for people
	Values    json.RawMessage `json:"values"` // that made the rule true, by their expressions
	Revisions []string        `json:"revisions"`
	Passes    int             `json:"passes"`
	Policy    string          `json:"policy"` // hash
	// Proposed is {args} before the policy changed them, if no judged event holds them.
	Proposed json.RawMessage `json:"proposed"`
}

// OutcomeBody is the body of an outcome event or a late event: the result of an effect.
type OutcomeBody struct {
	State  State           `json:"state"`
	Output json.RawMessage `json:"output"`
	Reason string          `json:"reason"`
	Usage  SpentBody       `json:"usage"` // of a model effect, and of a child run
	// For a call that began a run: the run's id, and how many calls the run made.
	ChildRunID string `json:"child_run_id"`
	Calls      int    `json:"calls"`

	// Of a question to a person:
	Decision  json.RawMessage `json:"decision"`  // the [gateway.Answer] in canonical form; a word if no person answered
	Signature string          `json:"signature"` // over the decision; "" for none
	Channel   string          `json:"channel"`
	By        string          `json:"by"`
	Assurance string          `json:"assurance"`
}

// SpentBody is the cost of a question, also by model that was asked. Records of earlier builds have no models.
type SpentBody struct {
	Usage
	Models []ModelUsage `json:"models"`
}

// JudgedBody is the body of a judged event: a proposal that got no intent.
type JudgedBody struct {
	Phase    string          `json:"phase"`
	Proposal json.RawMessage `json:"proposal"`
	Decision string          `json:"decision"` // block, revise, escalate, refused; approve if earlier runs were read
	Rule     string          `json:"rule"`
	Reason   string          `json:"reason"`
	Text     string          `json:"text"`   // words of the rule, for people
	Values   json.RawMessage `json:"values"` // that made the rule true, by their expressions
	Need     []string        `json:"need"`
	Problems json.RawMessage `json:"problems"`

	Revisions []string `json:"revisions"`
	Passes    int      `json:"passes"`
	// Windows holds what a judgment read of earlier runs, by window name; nil: it read none.
	Windows json.RawMessage `json:"windows"`
}

// NoteBody is the body of a note event: something that a person or another process did to the run from outside.
type NoteBody struct {
	What      string `json:"what"` // cancel, seize, takeover, detach, settle, reload, rest, wake
	By        string `json:"by"`
	Channel   string `json:"channel"`
	Signature string `json:"signature"`
	Reason    string `json:"reason"`
	Effect    string `json:"effect"` // the key of the effect that the note is about
	// Act is the signed [gateway.Act] in canonical form; nil if nothing was signed.
	Act json.RawMessage `json:"act"`
}

// EndBody is the body of an end event.
type EndBody struct {
	Status     string          `json:"status"` // ok or stopped
	StopReason string          `json:"stop_reason"`
	Phase      string          `json:"phase"`
	Envelope   json.RawMessage `json:"envelope"` // the full result; nil if none was recorded
	Usage      UsageBody       `json:"usage"`
}

// UsageBody is the cost of the models and the name of the model.
type UsageBody struct {
	Model string `json:"model"`
	Usage
}

// DecodeBody decodes an event's body for display (spec/surface.md section 7). It returns a [*StartBody], [*IntentBody],
// [*OutcomeBody], [*JudgedBody], [*NoteBody] or [*EndBody]. Absent members stay zero, and members of a newer version are ignored. The
// error says that the kind is not known, or which member has another type. The record may still be whole.
func DecodeBody(e Event) (any, error) {
	var body any
	switch e.Kind {
	case StartEvent:
		body = new(StartBody)
	case IntentEvent:
		body = new(IntentBody)
	case OutcomeEvent, LateEvent:
		body = new(OutcomeBody)
	case JudgedEvent:
		body = new(JudgedBody)
	case NoteEvent:
		body = new(NoteBody)
	case EndEvent:
		body = new(EndBody)
	default:
		return nil, fmt.Errorf("event %d: the kind %.40q is not known here", e.Seq, e.Kind)
	}
	err := ijson.DecodeKnown(e.Body, body)
	if err != nil { // a text may have been redacted
		if plain := RedactedAsText(e.Body); plain != nil {
			err = ijson.DecodeKnown(plain, body)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("event %d: body of %s: %w", e.Seq, e.Kind, err)
	}
	return body, nil
}
