package local

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// The assurance that counts when a question is asked becomes a part of the question (spec/surface.md section 9):
//
//	asked while a key is enrolled ─▶ "assurance": "signed" in the intent and its digest
//	the key is removed later ─▶ an unsigned answer still has too low an assurance, and never counts

// assured returns the assurance that a new question is bound to, if its approver wants at least the assurance least. It
// returns "" for user, which needs no binding, and for a rehearsal, which asks no person.
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
	keys, _, err := f.signer().Ring()
	return keys.Counts(f.journal.Now()), err
}

// demands returns what a run waits for, with the assurance that an answer needs now. If the keys cannot be read, the
// answer must be signed.
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
