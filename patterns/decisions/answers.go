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

// AnsweredOf returns a run's rows that somebody has answered, of the questions that it has asked. Other rows somebody wrote:
// nothing takes them, so nothing may wait until they are taken.
func AnsweredOf(s store.Reader, n int64, asked func(id string) bool) (rows []Answered, err error) {
	list, err := s.Answered(n)
	for _, a := range list {
		if asked(journal.ApprovalID(a.Approval)) {
			rows = append(rows, Answered{a})
		}
	}
	return rows, err
}

// Heard is the outcome of a question that was answered.
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
		return nil, fmt.Errorf("not one JSON document: %w", err)
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

// shownText is what a row keeps of a question besides what stands in the record.
type shownText struct {
	Phase string `json:"phase"`
}

// maxSchema is how long a schema may be that is kept for who edits arguments; a longer one is left out.
const maxSchema = 64 << 10

// KeptSchema returns the schema that is kept for people who edit the arguments; nil: none is.
func KeptSchema(w *patterns.Waiting) json.RawMessage {
	if len(w.Schema) > maxSchema || !json.Valid(w.Schema) {
		return nil
	}
	return w.Schema
}

// ShownText is what the row of a question keeps besides what the record has.
func ShownText(w *patterns.Waiting) []byte {
	text, _ := json.Marshal(shownText{Phase: w.Phase})
	return text
}
