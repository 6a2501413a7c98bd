package ijson

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of a document.
const (
	MaxBytes   = 1 << 20   // size in bytes that Decode and DecodeInto accept
	MaxDepth   = 64        // nested containers; a scalar has depth 0, [] has depth 1
	MaxInteger = 1<<53 - 1 // greatest magnitude of an integer, the same as JavaScript's MAX_SAFE_INTEGER
)

// Decode returns the value of the one JSON document in text, which has at most [MaxBytes]. Every error is a *[Fault].
// The value does not share memory with text.
//
// Decode accepts the grammar of RFC 8259 with the restrictions of RFC 7493:
//
//   - UTF-8 without a byte order mark
//   - no lone surrogate escapes
//   - no repeated member names in an object
//   - numbers written as integers within +-[MaxInteger], other numbers within the finite doubles
//   - at most [MaxDepth] levels
//
// Noncharacters are accepted. -0 becomes 0.
func Decode(text []byte) (any, error) { return DecodeLimit(text, MaxBytes) }

// DecodeLimit decodes as [Decode] does, with another limit of bytes. It is for files and results whose size is limited
// elsewhere.
func DecodeLimit(text []byte, maxBytes int) (any, error) {
	if len(text) > maxBytes {
		return nil, &Fault{Offset: max(maxBytes, 0), Reason: ReasonTooLarge}
	}
	return decode(text, false)
}

// DecodeCanonical decodes text that Patterngate wrote, with [Append] or with encoding/json. Use [Decode] for text from
// outside.
//
// It differs from Decode in two ways. It has no limit of bytes. A whole number beyond +-[MaxInteger] may be written in
// digits, if they are the digits that [Append] writes for it. For example, Append writes 1e16 as 10000000000000000 (RFC
// 8785). Decode rejects that integer, but DecodeCanonical accepts it.
func DecodeCanonical(text []byte) (any, error) { return decode(text, true) }

func decode(text []byte, own bool) (any, error) {
	r := reader{text: text, own: own, tokens: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))}
	v, fault := r.document()
	if fault != nil {
		return nil, fault
	}
	return v, nil
}

// reader builds values out of the tokens of one text.
type reader struct {
	text   []byte
	own    bool              // the text was written by Patterngate
	tokens *jsontext.Decoder // checks grammar and UTF-8; the maps find repeated names at less cost
	start  int               // offset in text of the token read last
	end    int               // where it ends
	open   []any             // elements of the arrays that are not closed yet, so that each array is allocated once
}

// document reads one value. Only white space may follow it.
func (r *reader) document() (any, *Fault) {
	kind, fault := r.next()
	if fault != nil {
		return nil, fault
	}
	v, fault := r.value(kind)
	if fault != nil {
		return nil, fault
	}
	if rest := bytes.TrimLeft(r.text[r.end:], " \t\r\n"); len(rest) > 0 {
		return nil, &Fault{Offset: len(r.text) - len(rest), Reason: ReasonAfter}
	}
	return v, nil
}

// next reads one token and returns its kind.
func (r *reader) next() (jsontext.Kind, *Fault) {
	token, err := r.tokens.ReadToken()
	if err != nil {
		return 0, r.fault(err)
	}
	for r.start = r.end; isBetween(r.text[r.start]); {
		r.start++
	}
	r.end = int(r.tokens.InputOffset())
	return token.Kind(), nil
}

// isBetween reports whether c can be between two tokens.
func isBetween(c byte) bool {
	return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\r' || c == '\t'
}

// raw returns the text of the token read last.
func (r *reader) raw() []byte { return r.text[r.start:r.end] }

// value returns the value that begins with the token read last, which has that kind. [MaxDepth] limits its recursion.
func (r *reader) value(kind jsontext.Kind) (any, *Fault) {
	switch kind {
	case jsontext.KindBeginObject:
		return r.object()
	case jsontext.KindBeginArray:
		return r.array()
	case jsontext.KindString:
		return unquote(r.raw()), nil
	case jsontext.KindNumber:
		return r.number()
	case jsontext.KindTrue, jsontext.KindFalse:
		return kind == jsontext.KindTrue, nil
	}
	return nil, nil // null: the decoder never returns a closing token in place of a value
}

func (r *reader) object() (any, *Fault) {
	if r.tokens.StackDepth() > MaxDepth {
		return nil, r.here(ReasonTooDeep)
	}
	members := make(map[string]any)
	for {
		kind, fault := r.next()
		if fault != nil {
			return nil, fault
		}
		if kind == jsontext.KindEndObject {
			return members, nil
		}
		name := unquote(r.raw())
		if _, found := members[name]; found {
			return nil, r.here(ReasonRepeated)
		}
		if kind, fault = r.next(); fault != nil {
			return nil, fault
		}
		if members[name], fault = r.value(kind); fault != nil {
			return nil, fault
		}
	}
}

func (r *reader) array() (any, *Fault) {
	if r.tokens.StackDepth() > MaxDepth {
		return nil, r.here(ReasonTooDeep)
	}
	first := len(r.open)
	for {
		kind, fault := r.next()
		if fault != nil {
			return nil, fault
		}
		if kind == jsontext.KindEndArray {
			break
		}
		v, fault := r.value(kind)
		if fault != nil {
			return nil, fault
		}
		r.open = append(r.open, v)
	}
	list := make([]any, len(r.open)-first)
	copy(list, r.open[first:])
	r.open = r.open[:first]
	return list, nil
}

func (r *reader) number() (any, *Fault) {
	raw := r.raw()
	n, err := strconv.ParseFloat(string(raw), 64)
	asInteger := !bytes.ContainsAny(raw, ".eE")
	switch {
	case asInteger && math.Abs(n) > MaxInteger && !(r.own && err == nil && bytes.Equal(encoder{}.number(nil, n), raw)):
		return nil, r.here(ReasonIntegerRange)
	case err != nil:
		return nil, r.here(ReasonNumberRange)
	}
	return n + 0, nil // -0 + 0 is 0
}

// unquote returns the content of a valid JSON string.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // the decoder has checked it
	return string(text)
}

// here returns a fault at the token read last.
func (r *reader) here(reason string) *Fault {
	return &Fault{Pointer(r.tokens.StackPointer()), r.start, reason}
}

// fault converts an error of the decoder to a Fault.
func (r *reader) fault(err error) *Fault {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok { // io.EOF: there was no value at all
		return &Fault{Offset: len(r.text), Reason: ReasonEmpty}
	}
	at := Pointer(syntax.JSONPointer)
	if errors.Is(err, io.ErrUnexpectedEOF) && utf8.Valid(r.text) {
		return &Fault{at, len(r.text), ReasonCut}
	}
	offset := min(int(syntax.ByteOffset), len(r.text))
	return &Fault{at, offset, reasonAt(r.text, offset)}
}

// reasonAt returns the reason of a fault at offset. It looks at the text, because the decoder's own wording may change.
func reasonAt(text []byte, offset int) string {
	rest := text[offset:]
	char, size := utf8.DecodeRune(rest)
	switch {
	case char == utf8.RuneError && size <= 1:
		return ReasonNotUTF8
	case char == '\ufeff' && offset == 0:
		return ReasonBOM
	case isSurrogateEscape(rest):
		return ReasonSurrogate
	case char < ' ' && inString(text[:offset]):
		return ReasonControl
	}
	return ReasonNotJSON
}

// inString reports whether text, which is the beginning of a document, ends within a string.
func inString(text []byte) bool {
	in := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			in = !in
		case text[i] == '\\': // only in strings
			i++
		}
	}
	return in
}

// isSurrogateEscape reports whether text begins with \ud800 to \udfff.
func isSurrogateEscape(text []byte) bool {
	if len(text) < len(`\ud800`) || text[0] != '\\' || text[1] != 'u' {
		return false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return err == nil && unit >= 0xd800 && unit <= 0xdfff
}
