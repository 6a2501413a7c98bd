package record

import (
	"crypto/ed25519"
	"encoding/base64"
	"maps"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// approver is a person with a key.
type approver struct {
	gateway.PublicKey
	private ed25519.PrivateKey
}

// approverOf makes a key of a seed, vouched for by another, or by itself.
func approverOf(name string, seed byte, enrolled time.Time, by *approver) *approver {
	private := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), seed))
	a := &approver{private: private}
	a.Public = private.Public().(ed25519.PublicKey)
	a.ID, a.Name, a.Enrolled = gateway.KeyID(a.Public), name, enrolled
	if by == nil {
		by = a
	}
	a.Vouched = by.does(gateway.ActEnroll, a.EnrolSubject(), enrolled, seed)
	return a
}

func (a *approver) sign(message []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(a.private, message))
}

func (a *approver) does(act string, subject map[string]any, at time.Time, nonce byte) gateway.SignedAct {
	signed := gateway.SignedAct{Act: gateway.Act{Act: act, Subject: subject, At: at, Nonce: strings.Repeat("0"+string("0123456789abcdef"[nonce%16]), 16), Key: a.ID}}
	signed.Signature = a.sign(signed.Message())
	return signed
}

// removed takes a key out of use.
func removed(a *approver, at time.Time, by *approver) gateway.PublicKey {
	k := a.PublicKey
	k.Removed, k.Dropped = at, by.does(gateway.ActRemove, map[string]any{"id": a.ID}, at, 9)
	return k
}

const signedRun = "run_00000000000000a1"

var signedStart = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// entry is an event before it is sealed; seconds are since the start.
type entry struct {
	seconds float64
	kind    patterns.EventKind
	key     string
	body    map[string]any
}

// sealed makes the record.
func sealed(run string, entries []entry) []patterns.Event {
	var events []patterns.Event
	var before []byte
	for i, x := range entries {
		e := patterns.Event{
			Seq: int64(i + 1), At: signedStart.Add(time.Duration(x.seconds * float64(time.Second))).UnixMicro(), Kind: x.kind, Key: x.key,
			Body: ijson.Canonical(x.body),
		}
		e.Seal(run, before)
		before = e.Hash
		events = append(events, e)
	}
	return events
}

// decoded is a canonical text as a value.
func decoded(text []byte) map[string]any {
	v, err := ijson.Decode(text)
	if err != nil {
		panic(err) // of a test's own text
	}
	return v.(map[string]any)
}

// scene is a refund that was asked about, approved with another amount, made, in doubt, settled and made again.
type scene struct {
	t        testing.TB
	question gateway.Question
	answer   gateway.Answer
	args     map[string]any // that were approved
	by       *approver      // who decides; nil: nobody signs
	entries  []entry
	ring     gateway.Ring
}

// The places of the scene's events.
const (
	atStart = iota
	atEscalated
	atAsked
	atRefused
	atDecided
	atCalled
	atUnknown
	atDoubt
	atSettle
	atSettled
	atAgain
	atDone
	atEnd
)

func newScene(t testing.TB, by *approver, keys ...gateway.PublicKey) *scene {
	s := &scene{t: t, by: by, ring: gateway.NewRing(keys)}
	s.question = gateway.Question{
		Run: signedRun, Step: "issue_refund#1", Tool: "issue_refund", Schema: "sha256:5c", Policy: "sha256:11",
		Args: map[string]any{"amount_usd": 1200.0, "user_id": 42.0}, Expires: signedStart.Add(24 * time.Hour),
	}
	s.args = map[string]any{"amount_usd": 800.0, "user_id": 42.0}
	s.answer = gateway.Answered("ap_00000000000000a1", s.question, gateway.ChooseEdit, s.args)
	s.answer.Comment, s.answer.By, s.answer.At = "800 is what the contract says", "local:1000", signedStart.Add(time.Hour)
	if by != nil {
		s.answer.By, s.answer.Key = "key:"+by.ID, by.ID
	}
	s.entries = []entry{
		atStart:     {0, patterns.StartEvent, "", map[string]any{"run_id": signedRun, "pattern": "supervised_refund", "pattern_kind": "supervisor", "principal": "local:1000"}},
		atEscalated: {1, patterns.JudgedEvent, "issue_refund#judged1", map[string]any{"phase": "supervisor", "decision": "escalate", "rule": "high_refund_requires_human", "proposal": map[string]any{"name": "issue_refund", "args": s.question.Args}}},
		atAsked:     {2, patterns.IntentEvent, "approve#1", nil},
		atRefused: {3000, patterns.JudgedEvent, "", map[string]any{"phase": "human_approval", "decision": "refused", "reason": "approval_invalid",
			"proposal": map[string]any{"approval": s.answer.Approval, "digest": "sha256:00"}}},
		atDecided: {3601, patterns.OutcomeEvent, "approve#1", nil},
		atCalled:  {3602, patterns.IntentEvent, "issue_refund#1", s.call()},
		atUnknown: {3700, patterns.OutcomeEvent, "issue_refund#1", map[string]any{"state": "unknown", "reason": "interrupted"}},
		atDoubt:   {3701, patterns.IntentEvent, "doubt#1/settle#1", map[string]any{"effect_kind": "human", "name": "settle", "input": map[string]any{"effect": "issue_refund#1", "tool": "issue_refund"}}},
		atSettle:  {90000, patterns.NoteEvent, "", map[string]any{"what": "settle", "by": "local:1000", "channel": "cli"}},
		atSettled: {90001, patterns.OutcomeEvent, "doubt#1/settle#1", map[string]any{"state": "ok", "by": "local:1000", "channel": "cli", "output": map[string]any{"happened": false, "by": "local:1000"}}},
		atAgain:   {90002, patterns.IntentEvent, "doubt#1/issue_refund#1", s.call()}, // when the approval would have expired
		atDone:    {90003, patterns.OutcomeEvent, "doubt#1/issue_refund#1", map[string]any{"state": "ok", "output": map[string]any{"refund": true}}},
		atEnd:     {90004, patterns.EndEvent, "", map[string]any{"status": "ok", "stop_reason": "success", "usage": map[string]any{}}},
	}
	s.settle(map[string]any{"run": signedRun, "effect": "issue_refund#1", "happened": false})
	s.write()
	return s
}

// call is the call that spends the approval.
func (s *scene) call() map[string]any {
	return map[string]any{
		"effect_kind": "tool", "name": "issue_refund", "effect": "write", "idempotency_key": "pg_1", "input": maps.Clone(s.args), "grant": s.answer.Approval,
		"verdict": map[string]any{"decision": "escalate", "rule": "high_refund_requires_human", "reason": "high_refund_requires_human", "policy": "sha256:11"},
	}
}

// settle has the settlement signed, where there is a key.
func (s *scene) settle(subject map[string]any) {
	if s.by == nil {
		return
	}
	act := s.by.does(gateway.ActSettle, subject, signedStart.Add(89990*time.Second), 7)
	s.body(atSettle)["act"], s.body(atSettle)["signature"] = decoded(act.Object()), act.Signature
}

// write enters question and answer as they are, with a new signature.
func (s *scene) write() {
	s.entries[atAsked].body = map[string]any{
		"effect_kind": "human", "name": "approve", "rule": "high_refund_requires_human", "digest": s.question.Digest(), "object": decoded(s.question.Object()),
		"input": map[string]any{"action": map[string]any{"name": "issue_refund"}, "approver": "inbox", "min_assurance": "user"},
	}
	a := s.answer
	sure, output := "user", map[string]any{
		"approved": a.Choice != gateway.ChooseReject, "comment": a.Comment, "by": a.By, "channel": "cli", "approval_id": a.Approval,
		"decided_at": a.At.Format(time.RFC3339),
	}
	if a.Choice == gateway.ChooseEdit {
		output["args"] = s.args
	}
	body := map[string]any{"state": "ok", "decision": decoded(a.Object()), "channel": "cli", "by": a.By, "output": output}
	if s.by != nil {
		sure, output["key_id"], body["signature"] = "signed", a.Key, s.by.sign(a.Message())
	}
	body["assurance"], output["assurance"] = sure, sure
	s.entries[atDecided].body = body
}

func (s *scene) body(at int) map[string]any { return s.entries[at].body }

// within is an object within a body.
func (s *scene) within(at int, name string) map[string]any { return s.body(at)[name].(map[string]any) }

func (s *scene) evidence() Evidence {
	return Evidence{RunID: signedRun, Events: sealed(signedRun, s.entries), Ring: s.ring}
}
