package memory

import (
	"bytes"

	"patterngate/patterns/store"
)

// onQuestion changes a question of a run if it is in the given state.
func (t *tables) onQuestion(ap, run int64, state string, change func(*question)) bool {
	q := t.questions[ap]
	if q == nil || q.Run != run || q.State != state {
		return false
	}
	next := *q
	change(&next)
	puts(t, t.questions, ap, new(&next))
	return true
}

func (t *tables) addQuestion(s store.AddQuestion) {
	if t.questions[s.Approval] != nil {
		return
	}
	q := &question{schema: s.Schema}
	q.Asked = store.Asked{
		Approval: s.Approval, Run: s.Run, Seq: s.Seq, Rule: s.Rule, Digest: s.Digest, Since: s.Since, Expires: s.Expires, Shown: s.Shown, State: "open",
	}
	puts(t, t.questions, s.Approval, &q)
}

func (t *tables) answer(s store.AnswerQuestion) bool {
	q := t.questions[s.Approval]
	if q == nil || q.Digest != s.Digest || q.Expires <= s.Now {
		return false
	}
	if r := t.runs[q.Run]; r == nil || !isUnfinished(r.State) || r.Canceled {
		return false
	}
	return t.onQuestion(s.Approval, q.Run, "open", func(q *question) {
		q.State, q.Answer, q.Args, q.Signature, q.Channel = "answered", s.Answer, s.Args, s.Signature, s.Channel
	})
}

func (t *tables) spend(s store.SpendApproval) bool {
	q := t.questions[s.Approval]
	if q == nil || !bytes.Equal(q.Answer, s.Answer) || q.Signature != s.Signature {
		return false
	}
	if s.Share == "" {
		return (q.Consumed == "" || q.Consumed == s.Once) && t.onQuestion(s.Approval, s.Run, "taken", func(q *question) { q.Consumed = s.Once })
	}
	of := share{s.Approval, s.Share}
	if once, spent := t.shares[of]; spent && once != s.Once || q.State != "taken" || q.Run != s.Run {
		return false
	}
	puts(t, t.shares, of, &s.Once)
	return t.onQuestion(s.Approval, s.Run, "taken", func(q *question) {
		if q.Consumed == "" {
			q.Consumed = s.Once
		}
	})
}
