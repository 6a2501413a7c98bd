package local

import (
	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// Approvals returns the questions that the runs of the state file ask people. In memory there are none, because no
// person could answer them.
func (e *Engine) Approvals() patterns.Approvals {
	return e.keeper().approvals()
}

func (f *file) approvals() patterns.Approvals {
	return decisions.Approvals{Store: f.journal, Host: decider{f}}
}

func (f *file) signed(act gateway.SignedAct, wanted decisions.Wanted, step store.Step) error {
	return f.signer().Signed(act, wanted, &store.Change{Durable: true}, step)
}

func (f *file) switching() { f.back.Stopping.Store(true) }

// decider gives package decisions what it needs of the engine.
type decider struct{ *file }

func (d decider) Rules() redaction.Rules    { return d.hiding() }
func (d decider) Catalog() *catalog.Catalog { return d.Settings().Catalog }

func (d decider) Changed(run string) {
	d.scheduler.nudge()
	if run != "" {
		d.waiters.announce(run)
	}
}

func (f *file) signer() decisions.Signer { return decisions.Signer{Store: f.journal} }

// answers adds the answers that people have given since to the record of a loaded run. If an answer does not fit its
// question, the record says so, and the run stops there.
func (f *file) answers(l *loaded) error {
	waits := l.dry.Questions()
	if len(waits) == 0 {
		return nil
	}
	var rows []decisions.Answered
	var keys gateway.Ring
	err := f.journal.View(func(s store.Reader) (err error) {
		if rows, err = decisions.AnsweredOf(s, l.N, waits.Has); err == nil && len(rows) > 0 {
			keys, err = decisions.RingIn(s)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		p := waits[journal.ApprovalID(row.Approval)]
		out := row.Heard(p.Waiting, keys, f.journal.Now())
		l.events = append(l.events, l.run.Record.Append(patterns.OutcomeEvent, p.Key, f.journal.Now(), out))
		l.answered = append(l.answered, row.Approval)
	}
	return nil
}

// demands returns what a run waits for, with the assurance that an answer needs now. If the keys cannot be read, the
// answer must be signed.
func (f *file) demands(w *patterns.Waiting) *patterns.Waiting {
	if w == nil || w.Kind != patterns.ForApproval {
		return w
	}
	if keyed, err := execution.Keyed(&f.back); err == nil && !keyed {
		return w
	}
	now := *w
	now.Least = now.Least.Stricter(gateway.SignedAssurance)
	return &now
}
