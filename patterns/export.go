package patterns

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"patterngate/gateway"
	"patterngate/ijson"
)

// These are the limits of an export that [ReadExport] accepts, in bytes.
const (
	MaxExport     = 256 << 20 // of a whole one
	maxExportLine = 16 << 20  // of one event
)

// exportKind and exportFormat are the kind and the format number in the first line of an export.
const (
	exportKind   = "patterngate.export"
	exportFormat = 1
)

// Exported is a record outside its state file (spec/surface.md section 7).
type Exported struct {
	RunID, Pattern string
	Head           Head      // as the first line says
	At             time.Time // when it was exported; not part of the record
	// Keys are the keys that signed something in the record, and the keys that vouch for them. They are not part of the record. Trust
	// them only as far as you know them from elsewhere.
	Keys   []gateway.PublicKey
	Events []Event
}

// Ring returns the approver keys that the export holds.
func (x Exported) Ring() gateway.Ring { return gateway.NewRing(x.Keys) }

// ExportRecord writes a record as JSON Lines: one line about the run, then one line for each event. The body comes last and in its
// stored bytes, so a checker needs no canonicaliser. A run that has not ended is exported with its events so far. The export includes
// the keys that signed something in the record and the keys that vouch for them or removed them.
func ExportRecord(runID, pattern string, events []Event, ring gateway.Ring, exportedAt time.Time) []byte {
	x := Exported{RunID: runID, Pattern: pattern, Head: HeadOf(events), At: exportedAt, Keys: keysOf(events, ring), Events: events}
	size := 256
	for _, e := range events {
		size += 192 + len(e.Key) + len(e.Body)
	}
	text := x.appendFirst(make([]byte, 0, size))
	for _, e := range events {
		text = e.AppendLine(text)
	}
	return text
}

// appendFirst appends the line about the run.
func (x Exported) appendFirst(dst []byte) []byte {
	dst = append(dst, `{"kind":"`+exportKind+`","format":`+strconv.Itoa(exportFormat)+`,"run_id":`...)
	dst = append(ijson.Append(dst, x.RunID), `,"pattern":`...)
	dst = append(ijson.Append(dst, x.Pattern), `,"events":`...)
	dst = append(strconv.AppendInt(dst, x.Head.Events, 10), `,"head":"`...)
	dst = append(hex.AppendEncode(dst, x.Head.Hash), `","exported_at":"`...)
	dst = x.At.UTC().AppendFormat(dst, time.RFC3339)
	dst = append(dst, `","keys":[`...)
	for i, k := range x.Keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendKey(dst, k)
	}
	return append(dst, "]}\n"...)
}

// AppendLine appends the event's line in an export, with its line end.
func (e Event) AppendLine(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"seq":`...), e.Seq, 10)
	dst = strconv.AppendInt(append(dst, `,"at":`...), e.At, 10)
	dst = append(ijson.Append(append(dst, `,"kind":`...), string(e.Kind)), `,"key":`...)
	dst = append(ijson.Append(dst, e.Key), `,"hash":"`...)
	dst = append(hex.AppendEncode(dst, e.Hash), `","body":`...)
	dst = append(dst, e.Body...)
	return append(dst, '}', '\n')
}

// BadExport says which line of a text does not belong to an export.
type BadExport struct {
	Line   int // from 1
	Reason string
}

func (b *BadExport) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// ReadExport reads the output of [ExportRecord], byte for byte. It accepts no other spelling of the same JSON, since the hashes cover
// the stored bytes. It does not verify the record: see [Exported.Verify]. The error is a [*BadExport].
func ReadExport(text []byte) (Exported, error) {
	if len(text) > MaxExport {
		return Exported{}, &BadExport{1, fmt.Sprintf("the text has %d bytes; at most %d are read", len(text), MaxExport)}
	}
	var x Exported
	for n := 1; len(text) > 0 || n == 1; n++ {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		reason := ""
		switch {
		case len(line) > maxExportLine:
			reason = fmt.Sprintf("has %d bytes; at most %d are read", len(line), maxExportLine)
		case !utf8.Valid(line):
			reason = "is not UTF-8"
		case n == 1:
			x, reason = readFirst(line)
		default:
			var e Event
			e, reason = readEvent(line)
			x.Events = append(x.Events, e)
		}
		if reason == "" && !ended {
			reason = "has no line end: the text was cut off"
		}
		if reason != "" {
			return Exported{}, &BadExport{n, reason}
		}
		text = rest
	}
	return x, nil
}

// readFirst reads the line about the run. reason says what is wrong; "" if nothing is.
func readFirst(line []byte) (x Exported, reason string) {
	first := struct {
		Kind, Pattern, Head string
		Format              int
		RunID               string            `json:"run_id"`
		Events              int64             `json:"events"`
		At                  string            `json:"exported_at"`
		Keys                []json.RawMessage `json:"keys"`
	}{}
	if reason := readLine(line, []string{"kind", "format", "run_id", "pattern", "events", "head", "exported_at", "keys"}, &first); reason != "" {
		return x, reason
	}
	switch {
	case first.Kind != exportKind:
		return x, fmt.Sprintf("the kind is %.40q; want %q", first.Kind, exportKind)
	case first.Format != exportFormat:
		return x, fmt.Sprintf("the format is %d; this program reads %d", first.Format, exportFormat)
	case len(first.Keys) > maxExportKeys:
		return x, fmt.Sprintf("it holds %d keys; at most %d are read", len(first.Keys), maxExportKeys)
	}
	hash, ok := readHash(first.Head)
	at, err := time.Parse(time.RFC3339, first.At)
	switch {
	case !ok && first.Head != "":
		return x, "head is not 64 lower-case hexadecimal digits"
	case err != nil:
		return x, "exported_at is not a time such as 2026-11-21T09:30:00Z"
	}
	x = Exported{RunID: first.RunID, Pattern: first.Pattern, Head: Head{first.Events, hash}, At: at}
	for _, text := range first.Keys {
		k, reason := readKey(text)
		if reason != "" {
			return x, reason
		}
		x.Keys = append(x.Keys, k)
	}
	return x, asWritten(line, x.appendFirst(nil))
}

// readEvent reads the line of an event. reason says what is wrong; "" if nothing is.
func readEvent(line []byte) (e Event, reason string) {
	read := struct {
		Seq, At         int64
		Kind, Key, Hash string
		Body            json.RawMessage
	}{}
	if reason := readLine(line, []string{"seq", "at", "kind", "key", "hash", "body"}, &read); reason != "" {
		return e, reason
	}
	hash, ok := readHash(read.Hash)
	if !ok {
		return e, "hash is not 64 lower-case hexadecimal digits"
	}
	e = Event{Seq: read.Seq, At: read.At, Kind: EventKind(read.Kind), Key: read.Key, Body: read.Body, Hash: hash}
	return e, asWritten(line, e.AppendLine(nil))
}

// readLine reads an object with exactly these members.
func readLine(line []byte, names []string, target any) (reason string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil || members == nil {
		return "is no JSON object"
	}
	for _, name := range names {
		if _, ok := members[name]; !ok {
			return name + " is missing"
		}
		delete(members, name)
	}
	if len(members) > 0 {
		return "has members that an export does not have; they are " + strings.Join(names, ", ")
	}
	if err := json.Unmarshal(line, target); err != nil {
		return "a member is of another type than in an export: " + strings.Join(names, ", ")
	}
	return ""
}

// asWritten compares a line with the line that an export would have. Any other spelling is an error, because the hashes do not cover
// it.
func asWritten(line, want []byte) (reason string) {
	if !bytes.Equal(append(line[:len(line):len(line)], '\n'), want) {
		return "is not spelled as an export is: members in order, no blanks between them, no member twice, LF at the end"
	}
	return ""
}

// readHash reads a hash in the spelling of exports and heads.
func readHash(text string) ([]byte, bool) {
	hash, err := hex.DecodeString(text)
	return hash, err == nil && len(hash) == sha256.Size && hex.EncodeToString(hash) == text
}

// Verify checks that the export is a whole record of its run. It checks the chain of events, the first line against them, and a kept
// head if there is one (nil: none). It returns a [*BrokenRecord] for the first broken link; event 0 is the first line. Without a kept
// head it cannot prove that the record was not rewritten as a whole, or cut at its end with a new first line.
func (x Exported) Verify(kept *Head) error {
	if err := VerifyChain(x.RunID, x.Events, x.Head.Events); err != nil {
		return err
	}
	switch start, ok := startOf(x.Events); {
	case HeadOf(x.Events).Events != x.Head.Events:
		return &BrokenRecord{x.Head.Events + 1, fmt.Sprintf("is one more than the %d that the first line counts", x.Head.Events)}
	case !bytes.Equal(HeadOf(x.Events).Hash, x.Head.Hash):
		return &BrokenRecord{0, "the first line names another head than the hash of the last event"}
	case !ok:
		return &BrokenRecord{1, "is no start of a run"}
	case start.RunID != x.RunID:
		return &BrokenRecord{0, "the first line names another run than the start event"}
	case start.Pattern != x.Pattern:
		return &BrokenRecord{0, "the first line names another pattern than the start event"}
	}
	if kept != nil {
		return VerifyKept(x.Events, *kept)
	}
	return nil
}

// startOf returns the body of the start event, if the record begins with one.
func startOf(events []Event) (StartBody, bool) {
	if len(events) == 0 || events[0].Kind != StartEvent {
		return StartBody{}, false
	}
	body, err := DecodeBody(events[0])
	if err != nil {
		return StartBody{}, false
	}
	return *body.(*StartBody), true
}

// VerifyKept checks a record against a head that was kept of it. The chain must have been verified before. The record may have grown
// since, but must not be cut or rewritten before the kept event. It returns a [*BrokenRecord].
func VerifyKept(events []Event, kept Head) error {
	n := int64(len(events))
	switch {
	case kept.Events < 1 || len(kept.Hash) != sha256.Size:
		return &BrokenRecord{0, "the kept head is not a head"}
	case n < kept.Events:
		return &BrokenRecord{n + 1, fmt.Sprintf("missing; the kept head is of %d events, %d are there", kept.Events, n)}
	case !bytes.Equal(events[kept.Events-1].Hash, kept.Hash):
		return &BrokenRecord{kept.Events, "is not the one whose head was kept: it or one before it was rewritten"}
	}
	return nil
}

// ParseHead reads a head as commands show and accept it: N:HEX, N:sha256:HEX, or the form of [Head.String].
func ParseHead(text string) (Head, error) {
	count, hash, spaced := strings.Cut(text, " sha256:")
	if !spaced {
		count, hash, _ = strings.Cut(text, ":")
		hash = strings.TrimPrefix(hash, "sha256:")
	}
	n, err := strconv.ParseInt(count, 10, 64)
	sum, ok := readHash(hash)
	if err != nil || n < 1 || !ok || strconv.FormatInt(n, 10) != count {
		return Head{}, fmt.Errorf("%.80q is not a head; want N:HASH, the number of events and 64 lower-case hexadecimal digits", text)
	}
	return Head{n, sum}, nil
}
