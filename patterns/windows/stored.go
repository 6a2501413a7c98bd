package windows

import (
	"errors"
	"fmt"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// Table is where the calls of runs are kept, seen at one time.
type Table interface {
	// CallsSince are the calls of a tool since a time, of all runs but this one; principal "" are everybody's.
	CallsSince(to *Calls, tool string, since time.Time, but int64, principal string) error
	// Found is what was found out about an act; the zero word is nothing.
	Found(run int64, once string) (store.Settled, error)
	// Mark is the same for as long as the calls of some tools since a time are the same; "": it cannot be told.
	Mark(tools []string, since time.Time) (string, error)
	// Hiding is what values are kept out of it by; nil: they are as they were.
	Hiding() *redaction.Rules
}

// errUnreadable says that somebody wrote into a call's record.
var errUnreadable = errors.New("a call cannot be read")

// Stored is a [Table] over a store.
type Stored struct {
	store.Calls
	redaction.Rules
}

// Hiding implements [Table].
func (t Stored) Hiding() *redaction.Rules { return &t.Rules }

// CallsSince implements [Table].
func (t Stored) CallsSince(to *Calls, tool string, since time.Time, but int64, principal string) error {
	pruned, err := t.Calls.CallsSince(tool, since, but, principal, func(c store.CallEvent) error {
		v, err := journal.DecodeTrusted(c.Body)
		obj, ok := v.(map[string]any)
		if err != nil || !ok {
			return fmt.Errorf("%w: %s of %s", errUnreadable, c.Key, journal.RunID(c.Run))
		}
		if c.Kind == patterns.OutcomeEvent {
			return to.ended(c.Run, c.Key, journal.DecodeOutcome(obj).Outcome())
		}
		e := gateway.Entry{Key: c.Key, Tool: tool, At: time.UnixMicro(c.At).UTC()}
		effect, _ := obj["effect"].(string)
		once, _ := obj["idempotency_key"].(string)
		e.Effect = catalog.Effect(effect)
		e.Args, _ = obj["input"].(map[string]any)
		return to.begun(c.Run, e, once)
	})
	if pruned {
		return errForgotten
	}
	return err
}

// Mark implements [Table].
func (t Stored) Mark(tools []string, since time.Time) (string, error) {
	return t.CallsMark(tools, since)
}

// Found implements [Table].
func (t Stored) Found(run int64, once string) (store.Settled, error) { return t.SettledCall(run, once) }
