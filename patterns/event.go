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
	OutcomeEvent EventKind = "outcome" // recorded after it, or instead of it if nothing was tried
	JudgedEvent  EventKind = "judged"  // a proposal that got no intent
	LateEvent    EventKind = "late"    // an outcome after the outcome; evidence, never replayed
	NoteEvent    EventKind = "note"    // something done to the run from outside: cancel, seize, takeover, detach, settle, reload, rest, wake
	EndEvent     EventKind = "end"
)

// Event is one stored entry of a run's record. It is appended once and never changed.
type Event struct {
	Seq  int64           // from 1
	At   int64           // microseconds since 1970, never falling
	Kind EventKind       //
	Key  string          // the effect's path; "" for start, note and end
	Body json.RawMessage // in canonical form
	Hash []byte          // chains all of the above to the previous event: 32 bytes
}

// Seal computes the hash of the event: SHA-256 over the previous hash (nothing for the first event), then seq and at as 8 bytes each.
// Run id, kind, key and body follow, each after its length as 4 bytes; integers are big-endian. The hash covers the stored bytes
// themselves, so a checker needs no canonicaliser.
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

// Head identifies a record up to one event: the number of events and the hash of the newest. Keep it outside the state file: it shows
// whether the record was cut or rewritten before that event. The zero Head is the head of no record.
type Head struct {
	Events int64
	Hash   []byte
}

// String returns the head in the form N sha256:HEX.
func (h Head) String() string {
	return fmt.Sprintf("%d sha256:%s", h.Events, hex.EncodeToString(h.Hash))
}

// HeadOf returns the head of a whole record.
func HeadOf(events []Event) Head {
	if len(events) == 0 {
		return Head{}
	}
	last := events[len(events)-1]
	return Head{last.Seq, last.Hash}
}

// BrokenRecord says where a record fails its check.
type BrokenRecord struct {
	Seq    int64  // of the first event that does not fit, or of the missing one
	Reason string // in words, from our own vocabulary
}

func (b *BrokenRecord) Error() string { return fmt.Sprintf("event %d: %s", b.Seq, b.Reason) }

// VerifyChain checks that events form a whole record from the first event on. It also checks the length, if length is known (0:
// unknown). It returns a [*BrokenRecord]. It cannot prove that the record was not rewritten as a whole: that needs a kept [Head].
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
