package document

import (
	"errors"
	"strings"

	"patterngate/ijson"
)

// maxRaw is how many bytes of a refused intent a result keeps whole (spec/patterns.md section 0).
const maxRaw = 16 << 10

// Intent is what a model or a caller proposes, decoded and not yet judged.
type Intent struct {
	// Caller says that the caller of the tool wrote it: members with one possible value may be left out, and
	// pointers start at the caller's arguments.
	Caller bool
	// At is where the intent stands in the caller's arguments, like /plan; empty for a model's reply.
	At ijson.Pointer

	value any
	text  string // a model's reply, or a caller's text that is no JSON document
	fault *ijson.Fault

	checklist bool     // value was made of the text's items
	done      []string // ids of the items that are ticked off
}

// ReadReply decodes the text of a model's reply. The text is not trusted to be a document at all.
func ReadReply(text string) Intent {
	v, err := ijson.Decode([]byte(text))
	if err == nil {
		return Intent{value: v, text: text}
	}
	fault, ok := errors.AsType[*ijson.Fault](err)
	if !ok {
		fault = &ijson.Fault{Reason: "not JSON"}
	}
	return Intent{text: text, fault: fault}
}

// FromCaller takes a value from the caller's arguments, decoded before, standing at the pointer at.
func FromCaller(v any, at ijson.Pointer) Intent { return Intent{Caller: true, At: at, value: v} }

// Value is the decoded value; nil where the reply was no document.
func (in Intent) Value() any { return in.value }

// Checklist reports whether the intent was made of a text's items, with the ids of those that were ticked off.
func (in Intent) Checklist() (done []string, ok bool) { return in.done, in.checklist }

// Raw is what a result keeps of a refused intent as raw_plan, raw_route or raw_action: the value as decoded, a
// marked text where it was no document, the beginning of what was longer than 16 KiB.
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
