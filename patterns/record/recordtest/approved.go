package recordtest

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Key is the approver key that signed the approvals of the records.
var Key = func() (k struct {
	gateway.PublicKey
	private ed25519.PrivateKey
}) {
	k.private = ed25519.NewKeyFromSeed([]byte("the approver of recorded tests.."))
	k.Public = k.private.Public().(ed25519.PublicKey)
	k.ID, k.Name, k.Enrolled = gateway.KeyID(k.Public), "Anna", Began.Add(-24*time.Hour)
	k.Vouched = gateway.SignedAct{Act: gateway.Act{
		Act: gateway.ActEnroll, Subject: k.EnrolSubject(), At: k.Enrolled, Nonce: strings.Repeat("0a", 16), Key: k.ID,
	}}
	k.Vouched.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, k.Vouched.Message()))
	return k
}()

// KeyText is the public key as the flag --key takes it.
var KeyText = base64.StdEncoding.EncodeToString(Key.Public)

// recordedID is the id of the approval in the records.
const recordedID = "ap_00000000000000a1"

// question returns what a person was asked about a call of the record.
func (r *Recorder) question(step, tool string, args map[string]any) gateway.Question {
	return gateway.Question{Run: r.ID, Step: step, Tool: tool, Schema: "sha256:5c", Policy: "sha256:11", Args: args, Expires: Began.Add(24 * time.Hour)}
}

// asks records a question.
func (r *Recorder) asks(at float64, key string, q gateway.Question, rule string) {
	r.intent(at, key, string(ijson.Canonical(map[string]any{
		"effect_kind": "human", "name": "approve", "rule": rule, "reason": rule, "digest": q.Digest(), "object": r.value(q.Object()),
		"input": map[string]any{"action": map[string]any{"kind": "tool", "name": q.Tool, "args": q.Args}, "rule": rule, "approver": "inbox", "expires_seconds": 86400.0, "min_assurance": "user"},
	})))
}

// answers records an answer to a question, signed by the key. args are those of an edit.
func (r *Recorder) answers(at float64, key string, q gateway.Question, choice gateway.Choice, args map[string]any, comment string) {
	a := gateway.Answered(recordedID, q, choice, args)
	a.Comment, a.By, a.Key, a.At = comment, "key:"+Key.ID, Key.ID, Began.Add(time.Duration(at)*time.Second).Truncate(time.Second)
	output := map[string]any{
		"approved": choice != gateway.ChooseReject, "comment": comment, "by": a.By, "channel": "cli", "assurance": "signed", "approval_id": a.Approval,
		"key_id": a.Key, "decided_at": a.At.Format(time.RFC3339),
	}
	if args != nil {
		output["args"] = args
	}
	r.outcome(at, key, string(ijson.Canonical(map[string]any{
		"state": "ok", "by": a.By, "channel": "cli", "assurance": "signed", "output": output, "decision": r.value(a.Object()),
		"signature": base64.StdEncoding.EncodeToString(ed25519.Sign(Key.private, a.Message())),
	})))
}

// settles records that a person said what became of a call in doubt, signed by the key.
func (r *Recorder) settles(at float64, effect string, happened bool, comment string) {
	act := gateway.Act{
		Act: gateway.ActSettle, Subject: map[string]any{"run": r.ID, "effect": effect, "happened": happened},
		At: Began.Add(time.Duration(at) * time.Second), Nonce: strings.Repeat("0b", 16), Key: Key.ID,
	}
	r.Add(at, patterns.NoteEvent, "", string(ijson.Canonical(map[string]any{
		"what": "settle", "by": "local:1000", "channel": "cli", "reason": comment, "act": act.Value(),
		"signature": base64.StdEncoding.EncodeToString(ed25519.Sign(Key.private, act.Message())),
	})))
}

func (r *Recorder) value(text []byte) any {
	v, err := ijson.Decode(text)
	if err != nil {
		r.T.Fatal(err)
	}
	return v
}

// refusedAnswer records an attempt to answer that was refused.
func (r *Recorder) refusedAnswer(at float64, by, reason string) {
	r.Add(at, patterns.JudgedEvent, "", string(ijson.Canonical(map[string]any{
		"phase": "human_approval", "decision": "refused", "reason": reason,
		"proposal": map[string]any{"approval": recordedID, "digest": "sha256:00", "decision": "approve", "by": by, "channel": "page"},
	})))
}

// asking returns a run that waits for a person. Somebody tried to approve in their place.
func asking(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_000000000000a4a4"}
	r.Start("supervised_refund", "supervisor", `{"goal":"Refund user 42"}`, `{"max_steps":8}`)
	q := r.question("issue_refund#1", "issue_refund", map[string]any{"user_id": 42.0, "amount_usd": 1200.0})
	r.asks(0.5, "approve#1", q, "high_refund_requires_human")
	r.refusedAnswer(60, "local:1000", "approval_invalid")
	return r.Events
}

// lapsed returns a run that was approved too late for its call, after a first question that nobody answered.
func lapsed(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_000000000000a5a5"}
	r.Start("supervised_refund", "supervisor", `{"goal":"Refund user 42"}`, `{"max_steps":8}`)
	args := map[string]any{"user_id": 42.0, "amount_usd": 1200.0}
	q := r.question("issue_refund#1", "issue_refund", args)
	r.asks(0.5, "approve#1", q, "high_refund_requires_human")
	r.outcome(86400, "approve#1", `{"state":"failed","reason":"expired"}`)
	q.Expires = Began.Add(48 * time.Hour)
	r.asks(86401, "approve#2", q, "high_refund_requires_human")
	r.answers(172799, "approve#2", q, gateway.ChooseApprove, nil, "")
	r.outcome(172801, "issue_refund#1", `{"state":"canceled","reason":"approval_expired"}`)
	r.Add(172802, patterns.EndEvent, "", `{"status":"stopped","stop_reason":"approval_expired","phase":"human_approval","usage":{"llm_calls":0,"input_tokens":0,"output_tokens":0}}`)
	return r.Events
}
