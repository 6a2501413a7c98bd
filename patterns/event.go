package patterns

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// EventKind is the kind of an event of a run's record (spec/surface.md section 7).
type EventKind string

// The kinds of events.
const (
	StartEvent   EventKind = "start"
	IntentEvent  EventKind = "intent"  // recorded before the act
	OutcomeEvent EventKind = "outcome" // recorded after it, or instead of it where nothing was tried
	JudgedEvent  EventKind = "judged"  // a proposal that got no intent
	LateEvent    EventKind = "late"    // an outcome after the outcome; evidence, never replayed
	NoteEvent    EventKind = "note"    // what happened to the run from outside: cancel, seize, takeover, detach, settle, rest, wake
	EndEvent     EventKind = "end"
)

// Event is one entry of a run's record as it is stored: appended once, never changed.
type Event struct {
	Seq  int64           // from 1
	At   int64           // microseconds since 1970, never falling
	Kind EventKind       //
	Key  string          // the effect's path; "" for start, note and end
	Body json.RawMessage // in canonical form
	Hash []byte          // chains all of the above to the event before: 32 bytes
}

// Seal computes the event's hash: SHA-256 over the hash before (nothing before the first), seq and at as 8 bytes each,
// then run id, kind, key and body, each behind its length as 4 bytes, integers big-endian. It is over the stored bytes
// themselves, so that a checker needs no canonicaliser.
func (e *Event) Seal(runID string, before []byte) {
	b := make([]byte, 0, 128+len(e.Key)+len(e.Body))
	b = append(b, before...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Seq))
	b = binary.BigEndian.AppendUint64(b, uint64(e.At))
	for _, part := range [...]string{runID, string(e.Kind), e.Key} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(part))), part...)
	}
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(e.Body))), e.Body...)
	sum := sha256.Sum256(b)
	e.Hash = sum[:]
}

// Head names a record up to a place: how many events it has and the hash of the newest. It is what to keep outside:
// against a kept head a record shows whether it was cut or rewritten before that place. The zero Head is of no record.
type Head struct {
	Events int64
	Hash   []byte
}

// String is N sha256:HEX.
func (h Head) String() string {
	return fmt.Sprintf("%d sha256:%s", h.Events, hex.EncodeToString(h.Hash))
}

// HeadOf is the head of a whole record.
func HeadOf(events []Event) Head {
	if len(events) == 0 {
		return Head{}
	}
	last := events[len(events)-1]
	return Head{last.Seq, last.Hash}
}

// BrokenRecord says where a record stops being one.
type BrokenRecord struct {
	Seq    int64  // of the first event that does not fit; of a missing one where it should stand
	Reason string // in words, from our own vocabulary
}

func (b *BrokenRecord) Error() string { return fmt.Sprintf("event %d: %s", b.Seq, b.Reason) }

// VerifyChain checks that events are a whole record from its first event on, and that it has the kept length where that
// is known (0: unknown). It returns a [*BrokenRecord]. What it cannot prove: that the record was not rewritten as a
// whole, for which a kept [Head] is needed.
func VerifyChain(runID string, events []Event, length int64) error {
	var before []byte
	var at int64
	for i, e := range events {
		want := e
		want.Seal(runID, before)
		switch {
		case e.Seq != int64(i+1):
			return &BrokenRecord{int64(i + 1), fmt.Sprintf("missing; the next one is event %d", e.Seq)}
		case !bytes.Equal(want.Hash, e.Hash):
			return &BrokenRecord{e.Seq, "does not follow from the one before"}
		case e.At < at:
			return &BrokenRecord{e.Seq, "is older than the one before"}
		}
		before, at = e.Hash, e.At
	}
	if n := int64(len(events)); n < max(length, 1) {
		return &BrokenRecord{n + 1, fmt.Sprintf("missing; %d of %d events are there", n, max(length, 1))}
	}
	return nil
}
