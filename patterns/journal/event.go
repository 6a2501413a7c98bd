package journal

import (
	"errors"
	"time"

	"patterngate/patterns"
)

// Event is one entry of a run's record with a decoded body. [patterns.Event] is its stored form.
type Event struct {
	Seq  int       // from 1
	At   time.Time // whole microseconds, never falling
	Kind patterns.EventKind
	Key  string // the effect's path; "" for start, note and end
	Body any    // StartBody, IntentBody, OutcomeBody, JudgedBody, NoteBody or EndBody
}

// Seal returns the stored form of an event. before is the hash of the event before it in the record, and nil for the first.
func Seal(runID string, e Event, before []byte) patterns.Event {
	sealed := patterns.Event{Seq: int64(e.Seq), At: e.At.UnixMicro(), Kind: e.Kind, Key: e.Key, Body: Encode(e.Body)}
	sealed.Seal(runID, before)
	return sealed
}

// ErrBroken is returned for a record whose chain, length or bodies are not as they were stored. Nothing is appended to it.
var ErrBroken = errors.New("journal: the record is broken")
