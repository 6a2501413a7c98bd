package store

import (
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Verify checks that events are the whole record of the run, by the length in the row. The error is
// [journal.ErrBroken].
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
