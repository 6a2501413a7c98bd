package decisions

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Answered is an answer that was not taken up. Anybody who can write the store may have written it.
type Answered struct{ store.Answered }

// AnsweredOf returns the answered rows of those questions that a run has asked. asked reports whether the run asked the question with an
// id. Other rows are forged: no run takes them up, so no code may wait for that.
func AnsweredOf(s store.Reader, n int64, asked func(id string) bool) (rows []Answered, err error) {
	list, err := s.Answered(n)
	for _, a := range list {
		if asked(journal.ApprovalID(a.Approval)) {
			rows = append(rows, Answered{a})
		}
	}
	return rows, err
}

// Heard returns the outcome of a question that was answered. The state is Failed with a reason if the answer does not count.
func (a Answered) Heard(w *patterns.Waiting, keys gateway.Ring, now time.Time) journal.OutcomeBody {
	d, answer, reason := a.decision(w, keys, now)
	if reason != "" {
		return journal.OutcomeBody{State: patterns.Failed, Reason: reason, Human: true}
	}
	return journal.OutcomeBody{State: patterns.OK, Output: d.Value(), Human: true, Decision: answer.Object(), Signature: a.Signature}
}

func (a Answered) decision(w *patterns.Waiting, keys gateway.Ring, now time.Time) (d patterns.Decision, answer gateway.Answer, reason string) {
	answer, err := gateway.ReadAnswer(a.Answer)
	if err != nil || answer.Approval != w.Approval {
		return d, answer, gateway.ApprovalInvalid
	}
	g := gateway.Grant{Approval: w.Approval, Asked: w.Question, Answer: answer, Signature: a.Signature, Least: w.Least, Ring: keys}
	sent := w.Question
	if answer.Choice == gateway.ChooseEdit {
		edited, err := decodeArgs(a.Args)
		if err != nil {
			return d, answer, gateway.ApprovalInvalid
		}
		sent, d.Args = sent.With(edited), edited
	}
	check := func() (gateway.Assurance, string) { return g.Check(sent, now, false) }
	if answer.Choice == gateway.ChooseReject {
		check = func() (gateway.Assurance, string) { return g.Heard(now) }
	}
	if d.Assurance, reason = check(); reason != "" {
		return d, answer, reason
	}
	d.Approved, d.Comment, d.By, d.Approval, d.Key, d.At = answer.Choice != gateway.ChooseReject, answer.Comment, answer.By, w.Approval, answer.Key, answer.At
	d.Channel = channelOf(a.Channel)
	return d, answer, ""
}

// decodeArgs reads the arguments of an edit.
func decodeArgs(text []byte) (map[string]any, error) {
	v, err := ijson.Decode(text)
	if err != nil {
		return nil, fmt.Errorf(notOneDocument, err)
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("local: arguments are an object")
	}
	return args, nil
}

// Least returns the assurance that an answer to a question needs. It is the highest of three: what its approver wants, what the
// question is bound to, and what the keys demand of an open question.
func Least(wanted string, q gateway.Question, keyed bool) gateway.Assurance {
	least := gateway.Assurance(wanted).Stricter(q.Assurance)
	if keyed {
		least = least.Stricter(gateway.SignedAssurance)
	}
	return least
}

// shownText is the part of a question that only the row has, and not the record.
type shownText struct {
	Phase string `json:"phase"`
}

// maxSchema is the longest schema in bytes that the row keeps for edits of arguments. A longer one is left out.
const maxSchema = 64 << 10

// KeptSchema returns the schema that the row keeps for edits of the arguments. It is nil if the schema is too long or no JSON.
func KeptSchema(w *patterns.Waiting) json.RawMessage {
	if len(w.Schema) > maxSchema || !json.Valid(w.Schema) {
		return nil
	}
	return w.Schema
}

// ShownText returns the text that the row of a question keeps in addition to the record.
func ShownText(w *patterns.Waiting) []byte {
	text, _ := json.Marshal(shownText{Phase: w.Phase})
	return text
}
