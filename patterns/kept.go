package patterns

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"patterngate/ijson"
)

// Kept is the row of a run in a state file: the values that lists show, and the head for checking the record. Times are microseconds
// since 1970. The zero value is for a record without a row, such as an export.
type Kept struct {
	State      string // running, ready, parked, ended or broken
	Pattern    string
	Principal  string
	Config     string
	Parent     string // of a child run: the run whose call began it
	Began      int64
	Ended      int64
	Status     string // of a run that ended; so are StopReason, Phase and Summary
	StopReason string
	Phase      string
	Summary    string
	Head       Head // of the record when the run last waited or ended
}

// MaxKeptSummary is the maximum length of the kept summary, in bytes.
const MaxKeptSummary = 200

// VerifyRow compares the row of a run with its record, whose chain was verified before. It returns a [*BrokenRecord] if they differ. The
// row of a run in progress may lack the newest events.
func VerifyRow(kept Kept, events []Event) error {
	if kept.State == "" || len(events) == 0 {
		return nil
	}
	if err := verifyHead(kept, events); err != nil {
		return err
	}
	if err := verifyStart(kept, events[0]); err != nil {
		return err
	}
	return verifyEnd(kept, events)
}

// verifyHead compares the kept length and head. The row of a run that waits or has ended must cover all of its events.
func verifyHead(kept Kept, events []Event) error {
	length := kept.Head.Events
	if length < 0 || length > int64(len(events)) {
		return &BrokenRecord{int64(len(events)) + 1, fmt.Sprintf("missing; %d of %d events are there", len(events), length)}
	}
	if length == 0 && len(kept.Head.Hash) > 0 || length > 0 && !bytes.Equal(events[length-1].Hash, kept.Head.Hash) {
		return &BrokenRecord{max(length, 1), "differs from the head that the run's row keeps"}
	}
	if rests := kept.State == "parked" || kept.State == "ended"; rests && length < int64(len(events)) {
		return &BrokenRecord{length + 1, fmt.Sprintf("is not in the run's row, which keeps a length of %d", length)}
	}
	return nil
}

// verifyStart compares the row with the start event.
func verifyStart(kept Kept, first Event) error {
	body, err := DecodeBody(first)
	start, ok := body.(*StartBody)
	if err != nil || !ok {
		return nil // of a newer version: package record reports that it cannot be read
	}
	parent := ""
	if start.Parent != nil {
		parent = start.Parent.RunID
	}
	for _, m := range []member{
		{"pattern", kept.Pattern, start.Pattern}, {"principal", kept.Principal, start.Principal}, {"configuration", kept.Config, start.Config},
		{"parent", kept.Parent, parent},
	} {
		if err := m.differs(first.Seq); err != nil {
			return err
		}
	}
	if kept.Began != first.At {
		return &BrokenRecord{first.Seq, "has another time than the start in the run's row"}
	}
	return nil
}

// verifyEnd compares the row with the end event, or with the fact that there is none.
func verifyEnd(kept Kept, events []Event) error {
	var last *Event
	for i, e := range events {
		if e.Kind == EndEvent {
			last = &events[i]
		}
	}
	newest := events[len(events)-1].Seq
	switch {
	case kept.State == "broken":
		return &BrokenRecord{newest, "belongs to a record that was found broken earlier; the run's row says so"}
	case kept.State == "ended" && last == nil:
		return &BrokenRecord{newest, "is the last one, but the run's row says that the run ended"}
	case kept.State != "ended" && last != nil:
		return &BrokenRecord{last.Seq, "ends the run, but the run's row says that it has not ended"}
	case last == nil && (kept.Status != "" || kept.StopReason != "" || kept.Ended != 0):
		return &BrokenRecord{newest, "is the last one, but the run's row says how the run ended"}
	case last == nil:
		return nil
	}
	body, err := DecodeBody(*last)
	end, ok := body.(*EndBody)
	if err != nil || !ok {
		return nil
	}
	for _, m := range []member{{"status", kept.Status, end.Status}, {"stop reason", kept.StopReason, end.StopReason}, {"phase", kept.Phase, end.Phase}} {
		if err := m.differs(last.Seq); err != nil {
			return err
		}
	}
	if kept.Ended != last.At {
		return &BrokenRecord{last.Seq, "has another time than the end in the run's row"}
	}
	hidden := kept.Summary == "" && RedactedAsText(last.Body) != nil // a summary that would show a redacted value is not kept
	if summary, known := end.summary(); known && !hidden {
		return member{"summary", kept.Summary, ijson.Cut(summary, MaxKeptSummary)}.differs(last.Seq)
	}
	return nil
}

// summary returns the summary of the kept result; false if it has a redacted value or is not known.
func (b *EndBody) summary() (text string, known bool) {
	if len(b.Envelope) == 0 || string(b.Envelope) == "null" {
		return "", false
	}
	var envelope struct {
		Summary json.RawMessage `json:"summary"`
	}
	if ijson.DecodeKnown(b.Envelope, &envelope) != nil || envelope.Summary == nil {
		return "", false
	}
	err := json.Unmarshal(envelope.Summary, &text)
	return text, err == nil
}

// member is one value of a row, and the value in the record.
type member struct{ name, kept, recorded string }

// differs returns a *BrokenRecord if the two differ. A redacted value is not compared.
func (m member) differs(seq int64) error {
	if m.kept == m.recorded || strings.HasPrefix(m.recorded, `{"`+Redacted+`":`) {
		return nil
	}
	return &BrokenRecord{seq, fmt.Sprintf("has a %s that differs from the run's row", m.name)}
}
