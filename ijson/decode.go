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
	MaxBytes   = 1 << 20   // bytes that Decode and DecodeInto accept
	MaxDepth   = 64        // containers within one another; a scalar has depth 0, [] depth 1
	MaxInteger = 1<<53 - 1 // greatest magnitude of an integer, the same as JavaScript's MAX_SAFE_INTEGER
)

// Decode returns the one JSON document that is in text, of at most [MaxBytes]. Every error is a *[Fault]. The value does
// not share memory with text.
//
// Beyond the grammar of RFC 8259 it demands what RFC 7493 does: UTF-8 without byte order mark, no lone surrogate escapes,
// no member name twice in an object, integers spelled as such within +-[MaxInteger], other numbers within the finite
// doubles, and at most [MaxDepth] levels. Noncharacters are accepted; -0 becomes 0.
func Decode(text []byte) (any, error) { return DecodeLimit(text, MaxBytes) }

// DecodeLimit is [Decode] with another limit of bytes, for files and results whose size is bounded elsewhere.
func DecodeLimit(text []byte, maxBytes int) (any, error) {
	if len(text) > maxBytes {
		return nil, &Fault{Offset: max(maxBytes, 0), Reason: ReasonTooLarge}
	}
	return decode(text, false)
}

// DecodeCanonical reads back what this program wrote: by [Append], or by encoding/json. It is [Decode] without the limit
// of bytes, and with one difference: a whole number beyond +-[MaxInteger] may be spelled in digits, if these are exactly
// the ones that [Append] writes for it. So 1e16, which is written 10000000000000000 (RFC 8785) and which Decode would
// refuse as an integer, comes back as it was. Text from outside is for Decode.
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
	own    bool              // the text is our own
	tokens *jsontext.Decoder // checks grammar and UTF-8; repeated names are found by the maps, for less
	start  int               // where in text the token read last begins
	end    int               // where it ends
	open   []any             // elements of the arrays that are not closed yet, so that each array is allocated once
}

// document reads one value and wants nothing but white space after it.
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

// next reads one token and says what it is.
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

// isBetween reports whether c may stand between two tokens.
func isBetween(c byte) bool {
	return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\r' || c == '\t'
}

// raw returns the text of the token read last.
func (r *reader) raw() []byte { return r.text[r.start:r.end] }

// value returns the value that begins with the token read last, of that kind. Its recursion is bounded by [MaxDepth].
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
	return nil, nil // null: a closing token is never where a value has to be
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

// unquote returns what a valid JSON string says.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // the decoder has checked it
	return string(text)
}

// here is a fault at the token read last.
func (r *reader) here(reason string) *Fault {
	return &Fault{Pointer(r.tokens.StackPointer()), r.start, reason}
}

// fault puts the decoder's error into our words.
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

// reasonAt says what is wrong at offset, by a look at the text: the decoder's own words may change.
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

// inString reports whether a beginning of a document ends within a string.
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
