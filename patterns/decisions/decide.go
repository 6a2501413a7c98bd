package decisions

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

const (
	maxBy = 256 // bytes
	// answerWindow is how far the time of an answer may be from the time at which it is taken. Signed acts have the same bound.
	answerWindow = 300 * time.Second
	// maxAttempts is how many refused attempts at one question are recorded, so that they cannot fill a record.
	maxAttempts = 16
)

// Decide implements [patterns.Approvals].
func (a Approvals) Decide(d patterns.Decided) (patterns.Asked, error) {
	ap, ok := journal.ApprovalNumber(d.Approval)
	if a.Store == nil || !ok {
		return patterns.Asked{}, patterns.ErrNoApproval
	}
	var q patterns.Asked
	var row asked
	err := a.Store.View(func(s store.Reader) (err error) {
		q, row, err = a.one(s, ap)
		return err
	})
	if err != nil {
		return q, err
	}
	if err = fitting(q, d, a.Store.Now()); err == nil {
		err = a.answer(row, d, q)
	}
	if err != nil {
		a.attempted(row, d, err)
		return q, err
	}
	a.Host.Changed(q.Question.Run)
	return a.Approval(q.ID)
}

// fitting checks that an answer fits the question. It does not check a signature.
func fitting(q patterns.Asked, d patterns.Decided, now time.Time) error {
	if why := q.State.Why(); why != "" {
		return &patterns.NotOpen{Why: why, Asked: q}
	}
	if d.Digest != q.Digest {
		return &patterns.NotOpen{Why: patterns.WhyChanged, Asked: q}
	}
	executes := ""
	switch d.Choice {
	case gateway.ChooseApprove:
		executes = q.Digest
	case gateway.ChooseEdit:
		if err := fitsTool(q, d.Args); err != nil {
			return err
		}
		executes = q.Question.With(d.Args).Digest()
	case gateway.ChooseReject:
	default:
		return fmt.Errorf(notDecision, patterns.ErrForged, string(d.Choice))
	}
	by := "local:"
	if d.Key != "" {
		by = "key:" + d.Key
	}
	early, late := now.Add(-answerWindow), now.Add(answerWindow)
	switch {
	case d.Executes != executes, d.Choice != gateway.ChooseEdit && d.Args != nil:
		return fmt.Errorf(otherCall, patterns.ErrForged)
	case !strings.HasPrefix(d.By, by), len(d.By) > maxBy, d.Key != "" && d.By != by:
		return fmt.Errorf(noPerson, patterns.ErrForged)
	case !utf8.ValidString(d.Comment), utf8.RuneCountInString(d.Comment) > gateway.MaxComment:
		return fmt.Errorf(commentTooLong, patterns.ErrForged, gateway.MaxComment)
	case d.At.Before(early), d.At.After(late):
		return fmt.Errorf(otherTime, patterns.ErrForged)
	}
	return nil
}

// fitsTool returns a [*patterns.BadEdit] if the arguments are unchanged, or if they do not fit the schema of the tool.
func fitsTool(q patterns.Asked, args map[string]any) error {
	if ijson.Equal(args, q.Question.Args) {
		return &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args", Reason: "not_changed", Want: otherValue}}}
	}
	if _, whole := q.Plan(); whole {
		return &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args", Reason: "no_schema", Want: noPlanEdit}}}
	}
	if len(q.Schema) == 0 {
		return &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args", Reason: "no_schema", Want: noEditHere}}}
	}
	schema, err := catalog.CompileUpstream(q.Schema)
	if err != nil {
		return &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args", Reason: "no_schema", Want: noEditHere}}}
	}
	var list []document.Problem
	for _, wrong := range schema.Check(args) {
		p := document.Problem{Pointer: "/args" + wrong.Pointer, Reason: "bad_args", Want: wrong.Want}
		if got, there := wrong.Pointer.In(args); there {
			p.Got = document.Got(got)
		}
		list = append(list, p)
	}
	if len(list) > 0 {
		return &patterns.BadEdit{Problems: document.CapProblems(list)}
	}
	return nil
}

// answer stores an answer and makes the run ready, in one transaction. Of two answers at the same time only one is taken.
func (a Approvals) answer(row asked, d patterns.Decided, q patterns.Asked) error {
	now := a.Store.Now()
	step := store.AnswerQuestion{
		Approval: row.Approval, Run: row.Run, Digest: q.Digest, Now: now.UnixMicro(), Answer: d.Answer.Object(), Signature: d.Signature, Channel: d.Channel,
	}
	if d.Args != nil {
		step.Args = ijson.Canonical(d.Args)
	}
	err := Signer{a.Store}.whileKeys(func() ([]store.Step, error) {
		keys, same, err := Signer{a.Store}.Ring()
		if err != nil {
			return nil, err
		}
		g := gateway.Grant{Approval: q.ID, Asked: q.Question, Answer: d.Answer, Signature: d.Signature, Least: q.Least, Ring: keys}
		if _, reason := g.Heard(now); reason != "" {
			if d.Key == "" && d.Signature == "" {
				return nil, patterns.ErrUnsigned
			}
			return nil, unheard(keys, d.Key)
		}
		return []store.Step{same, step, store.Wake{N: row.Run}}, nil
	}, &store.Change{Durable: true})
	if store.RefusedBy[store.AnswerQuestion](err) { // another answer was first, or it is too late
		now, err := a.Approval(q.ID)
		if err != nil {
			return err
		}
		why := now.State.Why()
		if why == "" {
			why = patterns.WhyChanged
		}
		return &patterns.NotOpen{Why: why, Asked: now}
	}
	return err
}

// attempted records a refused attempt in the record of a run that waits. It records nothing if the edit was wrong, if the store failed,
// or if the question was decided or over before.
func (a Approvals) attempted(row asked, d patterns.Decided, cause error) {
	reason := gateway.ApprovalInvalid
	_, bad := errors.AsType[*patterns.BadEdit](cause)
	open, closed := errors.AsType[*patterns.NotOpen](cause)
	switch {
	case bad, errors.Is(cause, patterns.ErrJournal), closed && (open.Why == patterns.WhyDecided || open.Why == patterns.WhyOver):
		return
	case closed && open.Why == patterns.WhyExpired:
		reason = gateway.ApprovalExpired
	}
	proposal := map[string]any{"approval": journal.ApprovalID(row.Approval), "digest": ijson.Cut(d.Digest, 128), "decision": ijson.Cut(string(d.Choice), 32)}
	for name, v := range map[string]string{"by": d.By, "channel": d.Channel, "key": d.Key} {
		if v != "" {
			proposal[name] = ijson.Cut(strings.ToValidUTF8(v, "?"), maxBy)
		}
	}
	body := journal.JudgedBody{"phase": patterns.PhaseHuman, "proposal": proposal, "decision": "refused", "reason": reason}
	a.noteRefused(row.Asked, body) // an attempt that cannot be recorded is still refused
	a.Host.Changed("")             // the event may have stopped a process that was about to take the run
}

// noteRefused counts a refused attempt at a question. If the run waits, it also appends a judgment to the record. The record of a run
// that a process owns gets none.
func (a Approvals) noteRefused(row *store.Asked, body journal.JudgedBody) {
	for range tries {
		steps := []store.Step{store.CountRefused{Approval: row.Approval, Most: maxAttempts}}
		err := a.Store.View(func(s store.Reader) error {
			more, err := a.judgedResting(s, row.Run, body)
			steps = append(steps, more...)
			return err
		})
		if err != nil {
			return
		}
		err = a.Store.Do(&store.Change{Steps: steps})
		if !store.IsRefused(err) || store.RefusedBy[store.CountRefused](err) {
			return
		}
	}
}

// judgedResting returns the steps that append a judgment to the record of a run; none if the run does not wait.
func (a Approvals) judgedResting(s store.Reader, n int64, body journal.JudgedBody) ([]store.Step, error) {
	r, err := s.Row(n)
	if err != nil || r == nil || r.State != "parked" {
		return nil, err
	}
	stored, err := s.Events(n)
	if err == nil {
		err = r.Verify(stored)
	}
	if err != nil {
		return nil, err
	}
	e, steps, err := a.Host.Rules().Append(s, n, stored, journal.Event{Kind: patterns.JudgedEvent, Body: body}, a.Store.Now())
	return append(steps, store.Noted{N: n, Epoch: r.Epoch, Head: store.Head{Events: e.Seq, Hash: e.Hash, Newest: e.At}}), err
}
