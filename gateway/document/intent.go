package document

import (
	"errors"
	"strings"

	"patterngate/ijson"
)

// maxRaw bounds a refused document in a result, in bytes (spec/patterns.md section 0).
const maxRaw = 16 << 10

// Intent is the document in which a model or a caller proposes something, decoded and not yet judged.
type Intent struct {
	// Caller says that the caller of the tool wrote it. Members with one possible value can be left out, and pointers start at
	// the caller's arguments.
	Caller bool
	// At is its place in the caller's arguments, like /plan; empty for a model's reply.
	At ijson.Pointer

	value any
	text  string // a model's reply, or a caller's text that is not JSON
	fault *ijson.Fault

	checklist bool     // value was made from the items of a text
	done      []string // ids of the items that are ticked off
}

// ReadReply decodes the text of a model's reply. The text can be anything: a parser refuses what is not JSON.
func ReadReply(text string) Intent {
	v, err := ijson.Decode([]byte(text))
	if err == nil {
		return Intent{value: v, text: text}
	}
	fault, ok := errors.AsType[*ijson.Fault](err)
	if !ok {
		fault = &ijson.Fault{Reason: notJSON}
	}
	return Intent{text: text, fault: fault}
}

// FromCaller takes a decoded value from the caller's arguments, where at is its place.
func FromCaller(v any, at ijson.Pointer) Intent { return Intent{Caller: true, At: at, value: v} }

// Value returns the decoded value; nil if the reply was not a document.
func (in Intent) Value() any { return in.value }

// Checklist reports whether the document was made from a checklist, and returns the ids of the items that are ticked off.
func (in Intent) Checklist() (done []string, ok bool) { return in.done, in.checklist }

// Raw returns what a result shows of a refused document as raw_plan, raw_route or raw_action: the decoded value, a marked text if
// it was not a document, or the beginning if it is longer than 16 KiB.
func (in Intent) Raw() any {
	text := strings.ToValidUTF8(in.text, "\uFFFD")
	noDocument := in.fault != nil || in.checklist
	if in.Caller && !noDocument {
		text = string(ijson.Canonical(in.value))
	}
	if len(text) > maxRaw {
		return map[string]any{"kind": "truncated", "bytes": float64(len(text)), "raw": ijson.Cut(text, maxRaw)}
	}
	if noDocument {
		return map[string]any{"kind": "invalid", "raw": text}
	}
	return in.value
}
