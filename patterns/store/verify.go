package store

import (
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Verify checks that events are the run's whole record, as far as the row knows it. The error is [journal.ErrBroken].
func (r *Row) Verify(events []patterns.Event) error {
	err := r.Damage
	if err == nil {
		err = patterns.VerifyChain(r.ID(), events, r.Length)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", journal.ErrBroken, err)
	}
	return nil
}
