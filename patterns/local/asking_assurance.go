package local

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// The assurance that counts when a question is asked becomes a part of the question (spec/surface.md section 9):
//
//	asked while a key is enrolled ─▶ "assurance": "signed" in the intent and its digest
//	the key leaves the state file ─▶ an unsigned answer is still below what was asked, and never counts

// assured is the assurance that a new question is bound to, of an approver who wants at least this; "": user, to which nothing
// needs to be bound. A rehearsal asks nobody.
func (b *branch) assured(least gateway.Assurance) gateway.Assurance {
	if b.engine.file != nil && b.dry == nil {
		keyed, err := b.engine.file.keyed()
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

// keyed reports whether only signed answers count now.
func (f *file) keyed() (counts bool, err error) {
	err = f.journal.view(func(s *session) error {
		keys, err := ring(s)
		counts = keys.Counts(f.journal.now())
		return err
	})
	return counts, err
}

// demands is what a run waits for, with the assurance that an answer needs now. Keys that cannot be read demand most.
func (f *file) demands(w *patterns.Waiting) *patterns.Waiting {
	if w == nil || w.Kind != patterns.ForApproval {
		return w
	}
	if keyed, err := f.keyed(); err == nil && !keyed {
		return w
	}
	now := *w
	now.Least = now.Least.Stricter(gateway.SignedAssurance)
	return &now
}

// leastOf is the assurance that an answer to a question needs: what its approver wanted, what it is bound to, and what the keys
// demand of an open one.
func leastOf(wanted string, q gateway.Question, keyed bool) gateway.Assurance {
	least := gateway.Assurance(wanted).Stricter(q.Assurance)
	if keyed {
		least = least.Stricter(gateway.SignedAssurance)
	}
	return least
}
