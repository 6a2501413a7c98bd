package execution

import (
	"cmp"
	"errors"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
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
		w.Until = b.Backing.Now().Add(e.Timeout).UTC().Truncate(time.Second)
		w.Question.Assurance = b.assured(w.Least)
	}
	w.Least = w.Least.Stricter(w.Question.Assurance)
	w.Approval = journal.QuestionID(b.RunID, key)
	w.Question.Run, w.Question.Step, w.Question.Expires = b.RunID, b.keys.peek(w.Tool), w.Until
	if w.WholePlan {
		w.Question.Step = key
	}
	if b.people.questions == nil {
		b.people.questions = map[string]*patterns.Waiting{}
	}
	b.people.questions[w.Approval] = &w
	a.Waiting = &w
	e.Act = a
	return e
}

// row returns the step that writes the question's row. It is written with the event that asks.
func (b *branch) row(w *patterns.Waiting) func(journal.Event) []store.Step {
	n := b.N
	ap, _ := journal.ApprovalNumber(w.Approval)
	return func(intent journal.Event) []store.Step {
		return []store.Step{store.AddQuestion{
			Approval: ap, Run: n, Seq: int64(intent.Seq), Rule: w.Rule, Digest: w.Question.Digest(), Since: intent.At.UnixMicro(), Expires: w.Until.UnixMicro(),
			Shown: decisions.ShownText(w), Schema: decisions.KeptSchema(w),
		}}
	}
}

// entered writes a question to the store and reports it when it is written.
func (b *branch) entered(w *patterns.Waiting, intent journal.Event) {
	asked := patterns.Asked{
		ID: w.Approval, Question: w.Question, Digest: w.Question.Digest(), Key: intent.Key, Pattern: b.Job.Spec.Name, Principal: b.Job.Principal,
		Phase: w.Phase, Effect: w.CallEffect, ArgsHash: w.ArgsHash, Phrase: cmp.Or(b.Record.sink.Public(w.Phrase), w.Tool), Rule: w.Rule, Reason: w.Reason, Text: b.Record.sink.Public(w.Text), Values: b.Record.sink.publicValues(w.Values), Least: w.Least,
		Schema: decisions.KeptSchema(w), Since: intent.At.UTC(), State: patterns.AskedOpen,
	}
	if b.Job.Parent != nil {
		asked.Parent = b.Job.Parent.RunID
	}
	b.Record.Flush(false, func(err error) {
		if err == nil {
			b.Host.Asked(asked)
		}
	})
}

// closes returns the step that closes a question's row when its outcome is not a person's answer; nil: the effect is no
// question. An answer that was given at the same moment still counts.
func (b *branch) closes(e patterns.Effect, out patterns.Outcome) func(journal.Event) []store.Step {
	if !journal.IsQuestion(e) {
		return nil
	}
	ap, _ := journal.ApprovalNumber(e.Waiting().Approval)
	n := b.N
	closed := patterns.AskedOver
	if out.Reason == patterns.ReasonExpired {
		closed = patterns.AskedExpired
	}
	step := store.CloseQuestion{Approval: ap, Run: n, State: string(closed)}
	return func(journal.Event) []store.Step { return []store.Step{step} }
}

// ErrUnspent unwinds a life if its approval or question changed before it could be recorded. The run is then replayed
// and sees the change.
var ErrUnspent = errors.New("local: the approval could not be spent")

// ungranted returns the reason why an approval does not permit a call. It returns "" if the call may be made, or if it
// needs no decision. If again is true, an earlier life began the call, and the call is made again as the same act.
func (b *branch) ungranted(key, once string, p gateway.Permit, again bool) string {
	if !p.Valid() {
		return ""
	}
	id := p.Approval()
	if id == "" {
		if p.Verdict().Decision == gateway.Escalate && b.Job.Spec.Approver.Kind == patterns.InboxApprover {
			return gateway.ApprovalInvalid // only a person may approve here
		}
		return b.unshared(p)
	}
	w := b.people.questions[id]
	again = again || b.people.granted[once] == grantOf(id, p.Share())
	switch {
	case w == nil, w.WholePlan != (p.Share() != ""), !w.WholePlan && !again && key != w.Question.Step:
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
	err = b.Backing.Store().View(func(s store.Reader) error {
		g, err = b.grantIn(s, w, p, once, again)
		return err
	})
	return g, err
}

func (b *branch) grantIn(s store.Reader, w *patterns.Waiting, p gateway.Permit, once string, again bool) (granted, error) {
	invalid := granted{reason: gateway.ApprovalInvalid}
	ap, _ := journal.ApprovalNumber(w.Approval)
	stored, found, err := s.Grant(ap, b.N)
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
	_, reason := g.Check(sent, b.Backing.Now(), again)
	if reason == "" && !again && consumed != "" && consumed != once {
		reason = gateway.ApprovalConsumed
	}
	spend := store.SpendApproval{Approval: ap, Run: b.N, Answer: stored.Answer, Signature: stored.Signature, Once: once, Share: p.Share()}
	return granted{reason, []store.Step{store.KeysAre{Mark: keys.Mark}, spend}}, nil
}

// spend returns the steps that spend an approval with the intent of its call, which is recorded next. It unwinds the
// branch if the approval does not count any more.
func (b *branch) spend(p gateway.Permit, once string) []store.Step {
	id, grant := p.Approval(), grantOf(p.Approval(), p.Share())
	if id == "" || b.people.granted[once] == grant {
		return nil
	}
	if b.people.granted == nil {
		b.people.granted = map[string]string{}
	}
	b.people.granted[once] = grant
	g, err := b.grant(b.people.questions[id], p, once, false)
	if err == nil && g.reason != "" {
		err = ErrUnspent
	}
	if err != nil {
		b.unwind(err)
	}
	return g.steps
}

// The assurance that counts when a question is asked becomes a part of the question (spec/surface.md section 9):
//
//	asked while a key is enrolled ─▶ "assurance": "signed" in the intent and its digest
//	the key is removed later ─▶ an unsigned answer still has too low an assurance, and never counts

// assured returns the assurance that a new question is bound to, if its approver wants at least the assurance least. It
// returns "" for user, which needs no binding, and for a rehearsal, which asks no person.
func (b *branch) assured(least gateway.Assurance) gateway.Assurance {
	if b.dry == nil {
		keyed, err := Keyed(b.Backing)
		if err != nil {
			b.unwind(err)
		}
		if keyed {
			least = least.Stricter(gateway.SignedAssurance)
		}
	}
	if !least.AtLeast(gateway.SignedAssurance) {
		return ""
	}
	return least
}

// Keyed reports whether only signed answers count now.
func Keyed(b Backing) (counts bool, err error) {
	keys, _, err := decisions.Signer{Store: b.Store()}.Ring()
	return keys.Counts(b.Now()), err
}

// A person can approve a whole plan. The approval is spent step by step: each call spends the share of its subtask, in
// the transaction of its own intent (package gateway, Envelope).

// grantOf returns the name of what a call spends: an approval, or one share of it.
func grantOf(approval, share string) string {
	if share == "" {
		return approval
	}
	return approval + "/" + share
}

// unshared returns the reason why a call that no person decided about must not be made; "": it may. It refuses the
// calls of a plan that a person must approve as a whole and has not approved, except reads. The code of the pattern
// asks for the approval; unshared enforces it.
func (b *branch) unshared(p gateway.Permit) string {
	spec := b.Job.Spec
	asks := spec.Kind == gateway.Planning && spec.Envelope != patterns.RequireNone && spec.Approver.Kind == patterns.InboxApprover
	if asks && p.Effect() != catalog.Read {
		return gateway.ApprovalInvalid
	}
	return ""
}

// shareOf returns the question that a call of a plan spends, and the call that has spent its share already. If the plan
// covers the call as the step of that share, the question is the one about the whole plan. It then has the policy of
// the call, so an approval under another policy does not count. Otherwise it is the call's own question, which has no
// answer.
func (b *branch) shareOf(s store.Reader, w *patterns.Waiting, p gateway.Permit) (sent gateway.Question, by string, err error) {
	ap, _ := journal.ApprovalNumber(w.Approval)
	by, err = s.Share(ap, p.Share())
	plan, ok := planning.ReadEnvelope(w.Question)
	call := p.Question()
	if !ok || !plan.Covers(p.Share(), call) {
		return call, by, err
	}
	sent = w.Question
	sent.Policy = call.Policy
	return sent, by, err
}
