package local

import (
	"cmp"
	"errors"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// A run asks a person in these steps (spec/surface.md section 8):
//
//	intent "approve" ─ one transaction with ─▶ a row of approvals, open ──▶ the run waits
//	                                              │ Decide, from any process: answered, the run is ready
//	the run continues ─ one transaction with ─▶ the outcome in its record, the row is taken
//	the call's intent ─ one transaction with ─▶ the row is consumed, or nothing is recorded and nothing runs

// asking fills in what the engine knows of a question: its id, its step in the run, and its expiry. m is what the
// record has of the question; nil: nothing. A recorded expiry and assurance replace new ones.
func (b *branch) asking(key string, e patterns.Effect, m *memory) patterns.Effect {
	a, _ := e.Act.(patterns.ConsentAct)
	w := *a.Waiting
	switch {
	case m != nil && m.intent != nil:
		w.Until, w.Question.Assurance = m.intent.Until, m.intent.Assurance
	default:
		w.Until = b.engine.now().Add(e.Timeout).UTC().Truncate(time.Second)
		w.Question.Assurance = b.assured(w.Least)
	}
	w.Least = w.Least.Stricter(w.Question.Assurance)
	w.Approval = journal.QuestionID(b.id, key)
	w.Question.Run, w.Question.Step, w.Question.Expires = b.id, b.keys.peek(w.Tool), w.Until
	if w.WholePlan {
		w.Question.Step = key
	}
	if b.questions == nil {
		b.questions = map[string]*patterns.Waiting{}
	}
	b.questions[w.Approval] = &w
	a.Waiting = &w
	e.Act = a
	return e
}

// row returns the step that writes the question's row. It is written with the event that asks.
func (b *branch) row(w *patterns.Waiting) func(journal.Event) []store.Step {
	n := b.record.file.n
	ap, _ := journal.ApprovalNumber(w.Approval)
	return func(intent journal.Event) []store.Step {
		return []store.Step{store.AddQuestion{
			Approval: ap, Run: n, Seq: int64(intent.Seq), Rule: w.Rule, Digest: w.Question.Digest(), Since: intent.At.UnixMicro(), Expires: w.Until.UnixMicro(),
			Shown: decisions.ShownText(w), Schema: decisions.KeptSchema(w),
		}}
	}
}

// entered writes a question to the state file and calls [Engine.Asks] when it is written.
func (b *branch) entered(w *patterns.Waiting, intent journal.Event) {
	asked := patterns.Asked{
		ID: w.Approval, Question: w.Question, Digest: w.Question.Digest(), Key: intent.Key, Pattern: b.job.Spec.Name, Principal: b.job.Principal,
		Phase: w.Phase, Effect: w.CallEffect, ArgsHash: w.ArgsHash, Phrase: cmp.Or(b.record.public(w.Phrase), w.Tool), Rule: w.Rule, Reason: w.Reason, Text: b.record.public(w.Text), Values: b.record.publicValues(w.Values), Least: w.Least,
		Schema: decisions.KeptSchema(w), Since: intent.At.UTC(), State: patterns.AskedOpen,
	}
	if b.job.Parent != nil {
		asked.Parent = b.job.Parent.RunID
	}
	b.record.flush(false, func(err error) {
		if err == nil && b.engine.Asks != nil {
			b.engine.Asks(asked)
		}
	})
}

// lapse returns the step that closes a question's row when its outcome is not a person's answer; nil: the effect is no
// question. An answer that was given at the same moment still counts.
func (b *branch) lapse(e patterns.Effect, out patterns.Outcome) func(journal.Event) []store.Step {
	if !journal.IsQuestion(e) || b.engine.file == nil {
		return nil
	}
	ap, _ := journal.ApprovalNumber(e.Waiting().Approval)
	n := b.record.file.n
	closed := patterns.AskedOver
	if out.Reason == patterns.ReasonExpired {
		closed = patterns.AskedExpired
	}
	step := store.CloseQuestion{Approval: ap, Run: n, State: string(closed)}
	return func(journal.Event) []store.Step { return []store.Step{step} }
}

// errUnspent unwinds a life if its approval or question changed before it could be recorded. The run is then replayed
// and sees the change.
var errUnspent = errors.New("local: the approval could not be spent")

// ungranted returns the reason why an approval does not permit a call. It returns "" if the call may be made, or if it
// needs no decision. If again is true, an earlier life began the call, and the call is made again as the same act.
func (b *branch) ungranted(key, once string, p gateway.Permit, again bool) string {
	if !p.Valid() {
		return ""
	}
	id := p.Approval()
	if id == "" {
		if p.Verdict().Decision == gateway.Escalate && b.job.Spec.Approver.Kind == patterns.InboxApprover {
			return gateway.ApprovalInvalid // only a person may approve here
		}
		return b.unshared(p)
	}
	w := b.questions[id]
	again = again || b.granted[once] == grantOf(id, p.Share())
	switch {
	case w == nil, b.engine.file == nil, w.WholePlan != (p.Share() != ""), !w.WholePlan && !again && key != w.Question.Step:
		return gateway.ApprovalInvalid
	}
	g, err := b.grant(w, p, once, again)
	if err != nil {
		b.unwind(err)
	}
	return g.reason
}

// granted is the result of checking a person's stored answer for one call.
type granted struct {
	reason string       // why the answer does not count; "": it counts
	steps  []store.Step // they spend the approval for the call, if it is still unchanged
}

// grant checks a person's stored answer for one call.
func (b *branch) grant(w *patterns.Waiting, p gateway.Permit, once string, again bool) (g granted, err error) {
	g.reason = gateway.ApprovalInvalid
	err = b.engine.file.journal.View(func(s store.Reader) error {
		g, err = b.grantIn(s, w, p, once, again)
		return err
	})
	return g, err
}

func (b *branch) grantIn(s store.Reader, w *patterns.Waiting, p gateway.Permit, once string, again bool) (granted, error) {
	invalid := granted{reason: gateway.ApprovalInvalid}
	ap, _ := journal.ApprovalNumber(w.Approval)
	stored, found, err := s.Grant(ap, b.record.file.n)
	if err != nil || !found {
		return invalid, err
	}
	keys, err := s.Keys()
	if err != nil {
		return invalid, err
	}
	g := gateway.Grant{Approval: w.Approval, Asked: w.Question, Least: w.Least, Signature: stored.Signature, Ring: gateway.NewRing(keys.Stored)}
	var fault error
	if g.Answer, fault = gateway.ReadAnswer(stored.Answer); fault != nil || g.Answer.Approval != w.Approval {
		return invalid, nil
	}
	sent, consumed := p.Question(), stored.Consumed
	if w.WholePlan {
		if sent, consumed, err = b.shareOf(s, w, p); err != nil {
			return invalid, err
		}
	}
	_, reason := g.Check(sent, b.engine.now(), again)
	if reason == "" && !again && consumed != "" && consumed != once {
		reason = gateway.ApprovalConsumed
	}
	spend := store.SpendApproval{Approval: ap, Run: b.record.file.n, Answer: stored.Answer, Signature: stored.Signature, Once: once, Share: p.Share()}
	return granted{reason, []store.Step{store.KeysAre{Mark: keys.Mark}, spend}}, nil
}

// spend returns the steps that spend an approval with the intent of its call, which is recorded next. It unwinds the
// branch if the approval does not count any more.
func (b *branch) spend(p gateway.Permit, once string) []store.Step {
	id, grant := p.Approval(), grantOf(p.Approval(), p.Share())
	if id == "" || b.granted[once] == grant {
		return nil
	}
	if b.granted == nil {
		b.granted = map[string]string{}
	}
	b.granted[once] = grant
	g, err := b.grant(b.questions[id], p, once, false)
	if err == nil && g.reason != "" {
		err = errUnspent
	}
	if err != nil {
		b.unwind(err)
	}
	return g.steps
}

// answers adds the answers that people have given since to the record of a loaded run. If an answer does not fit its
// question, the record says so, and the run stops there.
func (f *file) answers(l *loaded) error {
	waits := l.dry.questions()
	if len(waits) == 0 {
		return nil
	}
	var rows []decisions.Answered
	var keys gateway.Ring
	err := f.journal.View(func(s store.Reader) (err error) {
		if rows, err = decisions.AnsweredOf(s, l.N, waits.has); err == nil && len(rows) > 0 {
			keys, err = decisions.RingIn(s)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		p := waits[journal.ApprovalID(row.Approval)]
		out := row.Heard(p.effect.Waiting(), keys, f.journal.Now())
		l.events = append(l.events, l.run.record.append(patterns.OutcomeEvent, p.key, f.journal.Now(), out))
		l.answered = append(l.answered, row.Approval)
	}
	return nil
}

// questions are the questions of a run to people whose answers are not in its record yet, by approval.
type questions map[string]pending

func (q questions) has(id string) bool { _, asked := q[id]; return asked }

func (d *rehearsal) questions() questions {
	list := questions{}
	for _, p := range d.open {
		if p.m != nil && journal.IsQuestion(p.effect) {
			list[p.effect.Waiting().Approval] = p
		}
	}
	return list
}
