package store

import (
	"encoding/json"

	"patterngate/gateway"
)

// AddQuestion stores a question that a run asks a person. It always holds. A question that is stored already does not
// change.
type AddQuestion struct {
	Approval, Run, Seq int64 // Seq is the number of the event that asks
	Rule, Digest       string
	Since, Expires     int64
	Shown              []byte
	Schema             json.RawMessage // nil stores none
}

// CloseQuestion closes an open question. It does not hold if the question was answered.
type CloseQuestion struct {
	Approval, Run int64
	State         string
}

// AnswerQuestion stores the answer to an open question. It holds if the question is open, has this digest and does not
// expire before Now. The run of the question must also be unfinished.
type AnswerQuestion struct {
	Approval, Run int64
	Digest        string
	Now           int64
	Answer, Args  []byte
	Signature     string
	Channel       string
}

// HearAnswer notes that a run has read the answer to its question. It holds if the question was answered and the answer
// was not read before.
type HearAnswer struct{ Approval, Run int64 }

// SpendApproval spends an answer that the run has read, for the call with the idempotency key Once. It holds if the
// answer is the given one and no other call has spent it. Share names the part of a plan's approval that is spent; ""
// is all of it.
type SpendApproval struct {
	Approval, Run int64
	Answer        []byte
	Signature     string
	Once, Share   string
}

// CountRefused counts a refused attempt to answer a question. It holds if fewer than Most attempts were counted before.
type CountRefused struct {
	Approval int64
	Most     int
}

// KeysAre holds if the stored approver keys have this mark, see [Keys].
type KeysAre struct{ Mark string }

// Keys holds the stored approver keys. Mark changes when the keys change.
type Keys struct {
	Stored []gateway.PublicKey
	Mark   string
}

// AddKey stores an approver key. It always holds.
type AddKey struct{ Key gateway.PublicKey }

// DropKey notes that an approver key was removed. It always holds.
type DropKey struct {
	ID string
	By gateway.SignedAct
}

// UseAct notes that a signed act was used. It holds if the act was not used before.
type UseAct struct {
	Nonce string
	At    int64
}

// AddSignIn stores the token of a sign-in and deletes those that expired before Now. It always holds.
type AddSignIn struct {
	Token      []byte
	Until, Now int64
}

// UseSignIn deletes a token. It holds if the token is there and has not expired.
type UseSignIn struct {
	Token []byte
	Now   int64
}

// Grant is an answer that the run has read.
type Grant struct {
	Answer    []byte
	Signature string
	Consumed  string // the idempotency key of the call that spent it; "": not spent
}

// Answered is an answered question whose run has not read the answer. Every program that can write the file can have
// written it.
type Answered struct {
	Approval           int64
	Answer, Args       []byte
	Signature, Channel string
}

// Asked is a question with some fields of its run.
type Asked struct {
	Approval, Run, Seq           int64
	Digest                       string
	Since, Expires               int64
	Shown                        []byte
	State                        string
	Answer, Args                 []byte
	Signature, Channel           string
	Refused                      int
	Consumed                     string
	RunState, Pattern, Principal string
	Rule                         string // the rule that asks; the record is authoritative
	Canceled                     bool   // the run ends before its next call
	Parent                       int64  // the parent of a child run; 0: none
}

func (AddQuestion) step()    {}
func (CloseQuestion) step()  {}
func (AnswerQuestion) step() {}
func (HearAnswer) step()     {}
func (SpendApproval) step()  {}
func (CountRefused) step()   {}
func (KeysAre) step()        {}
func (AddKey) step()         {}
func (DropKey) step()        {}
func (UseAct) step()         {}
func (AddSignIn) step()      {}
func (UseSignIn) step()      {}
