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

// The bounds of an export that [ReadExport] takes, in bytes.
const (
	MaxExport     = 256 << 20 // of a whole one
	maxExportLine = 16 << 20  // of one event
)

// exportKind is what the first line of an export says that it is, and exportFormat in which form.
const (
	exportKind   = "patterngate.export"
	exportFormat = 1
)

// Exported is a record outside of its state file (spec/surface.md section 7).
type Exported struct {
	RunID, Pattern string
	Head           Head      // as the first line says
	At             time.Time // when it was exported; no part of the record
	// Keys are those that signed what is in it, and those that vouch for them; no part of the record either, and worth what
	// is known of them elsewhere.
	Keys   []gateway.PublicKey
	Events []Event
}

// Ring is what the export says of who may sign.
func (x Exported) Ring() gateway.Ring { return gateway.NewRing(x.Keys) }

// ExportRecord writes a record as JSON Lines: a line about the run, then one for each event, its body last and in its
// stored bytes, so that a checker needs no canonicaliser. A run that has not ended is exported as far as it is. Of the
// state file's keys those are written that signed something in it.
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

// appendFirst writes the line about the run.
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

// AppendLine writes the event as an export has it, with its line end.
func (e Event) AppendLine(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"seq":`...), e.Seq, 10)
	dst = strconv.AppendInt(append(dst, `,"at":`...), e.At, 10)
	dst = append(ijson.Append(append(dst, `,"kind":`...), string(e.Kind)), `,"key":`...)
	dst = append(ijson.Append(dst, e.Key), `,"hash":"`...)
	dst = append(hex.AppendEncode(dst, e.Hash), `","body":`...)
	dst = append(dst, e.Body...)
	return append(dst, '}', '\n')
}

// BadExport says which line of a text is not one of an export.
type BadExport struct {
	Line   int // from 1
	Reason string
}

func (b *BadExport) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// ReadExport reads what [ExportRecord] wrote, byte for byte: other spellings of the same JSON are no export, since bodies
// are hashed as they stand. It does not say whether the record holds: see [Exported.Verify]. Its error is a [*BadExport].
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

// readFirst reads the line about the run. reason says what is wrong with it, if anything is.
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
		return x, "exported_at is no time such as 2026-11-21T09:30:00Z"
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

// readEvent reads the line of an event.
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

// asWritten compares a line with what would have been written for it: no other spelling is taken, as none was hashed.
func asWritten(line, want []byte) (reason string) {
	if !bytes.Equal(append(line[:len(line):len(line)], '\n'), want) {
		return "is not spelled as an export is: members in order, no blanks between them, no member twice, LF at the end"
	}
	return ""
}

// readHash reads a hash as exports and heads spell it.
func readHash(text string) ([]byte, bool) {
	hash, err := hex.DecodeString(text)
	return hash, err == nil && len(hash) == sha256.Size && hex.EncodeToString(hash) == text
}

// Verify checks that the export is a whole record of its run: the chain of its events, its first line against them, and a
// kept head where there is one (nil: none). It returns a [*BrokenRecord] that names the first broken link; event 0 is the
// first line. What it cannot prove without a kept head: that nobody wrote all of it anew, or left out its end and wrote
// the first line anew.
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

// startOf is what a record begins with.
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

// VerifyKept checks a record, whose chain was verified, against a head that was kept of it: it may have grown since, but
// was neither cut nor written anew before that place. It returns a [*BrokenRecord].
func VerifyKept(events []Event, kept Head) error {
	n := int64(len(events))
	switch {
	case kept.Events < 1 || len(kept.Hash) != sha256.Size:
		return &BrokenRecord{0, "the kept head is no head"}
	case n < kept.Events:
		return &BrokenRecord{n + 1, fmt.Sprintf("missing; the kept head is of %d events, %d are there", kept.Events, n)}
	case !bytes.Equal(events[kept.Events-1].Hash, kept.Hash):
		return &BrokenRecord{kept.Events, "is not the one whose head was kept: it or one before it was written anew"}
	}
	return nil
}

// ParseHead reads a head as commands show and take it: N:HEX, N:sha256:HEX, or as [Head.String] has it.
func ParseHead(text string) (Head, error) {
	count, hash, spaced := strings.Cut(text, " sha256:")
	if !spaced {
		count, hash, _ = strings.Cut(text, ":")
		hash = strings.TrimPrefix(hash, "sha256:")
	}
	n, err := strconv.ParseInt(count, 10, 64)
	sum, ok := readHash(hash)
	if err != nil || n < 1 || !ok || strconv.FormatInt(n, 10) != count {
		return Head{}, fmt.Errorf("%.80q is no head; want N:HASH, the number of events and 64 lower-case hexadecimal digits", text)
	}
	return Head{n, sum}, nil
}
