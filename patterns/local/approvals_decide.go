package local

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
)

const (
	maxBy = 256 // bytes
	// answerWindow is how far the time of an answer may be from the time at which it is taken, as of signed acts.
	answerWindow = 300 * time.Second
	// maxAttempts is how many refused attempts at one question are recorded: nobody fills a record with them.
	maxAttempts = 16
)

// Decide implements [patterns.Approvals].
func (a approvals) Decide(d patterns.Decided) (patterns.Asked, error) {
	ap, ok := journal.ApprovalNumber(d.Approval)
	if a.file == nil || !ok {
		return patterns.Asked{}, patterns.ErrNoApproval
	}
	var q patterns.Asked
	var row *asked
	err := a.file.journal.view(func(s *session) (err error) {
		q, row, err = a.one(s, ap)
		return err
	})
	if err != nil {
		return q, err
	}
	if err = fitting(q, d, a.file.journal.now()); err == nil {
		err = a.answer(row, d, q)
	}
	if err != nil {
		a.attempted(row, d, err)
		return q, err
	}
	a.file.nudge()
	a.file.waiters.announce(q.Question.Run)
	return a.Approval(q.ID)
}

// fitting judges an answer by what was asked.
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
		return fmt.Errorf("%w: %.20q is no decision", patterns.ErrForged, string(d.Choice))
	}
	by := "local:"
	if d.Key != "" {
		by = "key:" + d.Key
	}
	early, late := now.Add(-answerWindow), now.Add(answerWindow)
	switch {
	case d.Executes != executes, d.Choice != gateway.ChooseEdit && d.Args != nil:
		return fmt.Errorf("%w: the answer is about another call", patterns.ErrForged)
	case !strings.HasPrefix(d.By, by), len(d.By) > maxBy, d.Key != "" && d.By != by:
		return fmt.Errorf("%w: the answer does not say who gave it", patterns.ErrForged)
	case !utf8.ValidString(d.Comment), utf8.RuneCountInString(d.Comment) > gateway.MaxComment:
		return fmt.Errorf("%w: a comment has at most %d characters", patterns.ErrForged, gateway.MaxComment)
	case d.At.Before(early), d.At.After(late):
		return fmt.Errorf("%w: the answer was given at another time", patterns.ErrForged)
	}
	return nil
}

// fitsTool refuses changed arguments that the tool would not take, or that are as they were.
func fitsTool(q patterns.Asked, args map[string]any) error {
	if ijson.Equal(args, q.Question.Args) {
		return &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args", Reason: "not_changed", Want: "another value of one argument; approve takes the call as it is"}}}
	}
	if _, whole := q.Plan(); whole {
		return &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args", Reason: "no_schema", Want: "approve or reject: another plan is another question, which a replan asks"}}}
	}
	if len(q.Schema) == 0 {
		return &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args", Reason: "no_schema", Want: "approve or reject: what the tool takes is not known here"}}}
	}
	schema, err := catalog.CompileUpstream(q.Schema)
	if err != nil {
		return &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args", Reason: "no_schema", Want: "approve or reject: what the tool takes is not known here"}}}
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

// answer takes an answer, in one transaction: of two one is taken, and the run is ready with it.
func (a approvals) answer(row *asked, d patterns.Decided, q patterns.Asked) error {
	now := a.file.journal.now()
	var args any
	if d.Args != nil {
		args = ijson.Canonical(d.Args)
	}
	err := a.file.journal.do(&change{sync: true, also: func(s *session) error {
		keys, err := ring(s)
		if err != nil {
			return err
		}
		g := gateway.Grant{Approval: q.ID, Asked: q.Question, Answer: d.Answer, Signature: d.Signature, Least: q.Least, Ring: keys}
		if _, reason := g.Heard(now); reason != "" {
			if d.Key == "" && d.Signature == "" {
				return refusal{patterns.ErrUnsigned}
			}
			return unheard(keys, d.Key)
		}
		changed, err := s.exec(updateAnswered, d.Answer.Object(), args, d.Signature, d.Channel, row.ap, q.Digest, now.UnixMicro())
		if err == nil && changed == 0 {
			err = refusal{errNotOpen}
		}
		if err == nil {
			_, err = s.exec(updateDecided, row.n)
		}
		return err
	}})
	if errors.Is(err, errNotOpen) { // somebody was quicker, or it is too late
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

var errNotOpen = errors.New("local: the approval is not open")

// attempted records an attempt that was refused, in the record of a run that rests. That somebody else had decided before is
// no attempt.
func (a approvals) attempted(row *asked, d patterns.Decided, cause error) {
	reason := gateway.ApprovalInvalid
	_, bad := errors.AsType[*patterns.BadEdit](cause)
	open, closed := errors.AsType[*patterns.NotOpen](cause)
	switch {
	case bad, unrecorded(cause), closed && (open.Why == patterns.WhyDecided || open.Why == patterns.WhyOver):
		return
	case closed && open.Why == patterns.WhyExpired:
		reason = gateway.ApprovalExpired
	}
	proposal := map[string]any{"approval": journal.ApprovalID(row.ap), "digest": ijson.Cut(d.Digest, 128), "decision": ijson.Cut(string(d.Choice), 32)}
	for name, v := range map[string]string{"by": d.By, "channel": d.Channel, "key": d.Key} {
		if v != "" {
			proposal[name] = ijson.Cut(strings.ToValidUTF8(v, "?"), maxBy)
		}
	}
	body := journal.JudgedBody{"phase": patterns.PhaseHuman, "proposal": proposal, "decision": "refused", "reason": reason}
	_ = a.file.journal.do(&change{also: func(s *session) error { // what cannot be recorded is refused all the same
		counted, err := s.exec(updateRefused, row.ap, maxAttempts)
		if err != nil || counted == 0 {
			return err
		}
		return a.file.noteResting(s, row.n, body)
	}})
	a.file.nudge() // it may have come in between where the run was about to be carried on
}

// noteResting appends a judgment to the record of a run that waits. One in somebody's hands has no place for it.
func (f *file) noteResting(s *session, n int64, body journal.JudgedBody) error {
	var r *row
	if err := readRows(s, func(found *row) bool { r = found; return false }, selectRow, n); err != nil || r == nil || r.state != "parked" {
		return err
	}
	stored, err := readEvents(s, n)
	if err == nil {
		err = r.whole(stored)
	}
	if err != nil {
		return refusal{err}
	}
	e, err := f.appendIn(s, n, stored, journal.Event{Kind: patterns.JudgedEvent, Body: body})
	if err == nil {
		_, err = s.exec(updateNoted, e.Seq, e.Hash, e.At, n, r.epoch)
	}
	return err
}
