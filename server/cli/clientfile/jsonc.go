package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// JSONC is a JSON text that may have comments and trailing commas, as editors accept it. In plain, spaces replace these
// characters. So an offset in text is the same offset in plain:
//
//	text   {"a": 1, /* b */ "c": [2,],}
//	plain  {"a": 1,         "c": [2 ] }
type JSONC struct {
	text, plain []byte
	commas      []int // offsets of the trailing commas, ascending
	first       int   // offset of the first comment or trailing comma; -1 for none
}

// ReadJSONC parses a text that holds at most one value. It ignores a byte order mark. It returns an error with the position
// for a syntax error, for a comment without an end and for UTF-16. It keeps text, so the
// caller must not change it later.
func ReadJSONC(text []byte) (JSONC, error) {
	d := JSONC{text: text, plain: bytes.Clone(text), first: -1}
	if err := wideText(text); err != nil {
		return JSONC{}, err
	}
	if bytes.HasPrefix(text, byteOrderMark) {
		copy(d.plain, "   ")
	}
	if err := d.blankOut(); err != nil {
		return JSONC{}, err
	}
	if blank(d.plain) {
		return d, nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(d.plain, &whole); err != nil {
		return JSONC{}, jsonFault(err, len(text))
	}
	return d, nil
}

// jsonFault returns a syntax error with its position: the first unexpected character, or the end of the text.
func jsonFault(err error, end int) error {
	fault := &textFault{offset: -1, reason: notJSON(jsonReason(err.Error())), want: fixByHand}
	if at, ok := errors.AsType[*json.SyntaxError](err); ok {
		fault.offset = max(0, int(at.Offset)-1)
		if strings.HasPrefix(err.Error(), "unexpected end") {
			fault.offset = end
		}
	}
	return fault
}

// jsonReason returns the words of the decoder as a plain sentence, or the words themselves if they are not known.
func jsonReason(words string) string {
	if strings.HasPrefix(words, "unexpected end") {
		return endsEarly
	}
	rest, ok := strings.CutPrefix(words, "invalid character ")
	for _, known := range decoderWords {
		if found, context, cut := strings.Cut(rest, " "+known.words); ok && cut && strings.HasPrefix(found, "'") && strings.HasSuffix(found, "'") {
			if known.literal {
				return inLiteral(found, context)
			}
			return known.says + found
		}
	}
	return words
}

// blankOut replaces comments and trailing commas in plain by spaces, and records their offsets.
func (d *JSONC) blankOut() error {
	last, comma := byte(0), -1 // the last character outside blanks and comments, and the offset of a comma that may be a trailing one
	for i := 0; i < len(d.plain); {
		switch c := d.plain[i]; {
		case c == '"':
			last, comma, i = c, -1, stringEnd(d.plain, i)
		case c == '/' && i+1 < len(d.plain) && (d.plain[i+1] == '/' || d.plain[i+1] == '*'):
			end := commentEnd(d.plain, i)
			if end < 0 {
				return &textFault{offset: i, reason: openComment, want: closeComment}
			}
			d.loosen(i)
			fill(d.plain[i:end])
			i = end
		case isBlank(c):
			i++
		case c == ',':
			comma = -1
			if last != 0 && strings.IndexByte(",:[{", last) < 0 { // after a value
				comma = i
			}
			last, i = c, i+1
		default:
			if (c == '}' || c == ']') && comma >= 0 {
				d.loosen(comma)
				d.plain[comma] = ' '
				d.commas = append(d.commas, comma)
			}
			last, comma, i = c, -1, i+1
		}
	}
	return nil
}

// loosen records the offset of something that strict JSON does not allow.
func (d *JSONC) loosen(offset int) {
	if d.first < 0 || offset < d.first {
		d.first = offset
	}
}

// fill overwrites a text with spaces and keeps its line ends.
func fill(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// isBlank reports whether a character is white space of JSON.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// stringEnd returns the offset after the string that begins at i. It returns the length of the text if the string has no end.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// commentEnd returns the offset after the comment that begins at i. A // comment ends before its line end. The result is
// -1 for a /* comment without an end.
func commentEnd(text []byte, i int) int {
	if text[i+1] == '*' {
		end := bytes.Index(text[i+2:], []byte("*/"))
		if end < 0 {
			return -1
		}
		return i + 2 + end + 2
	}
	if end := bytes.IndexAny(text[i:], "\r\n"); end >= 0 {
		return i + end
	}
	return len(text)
}

// skip returns the offset of the next character of plain that is not blank, or the length of the text.
func (d JSONC) skip(i int) int {
	for i < len(d.plain) && isBlank(d.plain[i]) {
		i++
	}
	return i
}

// jsonMember is a member of an object: its name, and the offsets of its name, of its value and after its value.
type jsonMember struct {
	name           string
	at, value, end int
}

// jsonObject is an object in a text: the offsets of its braces, and its members.
type jsonObject struct {
	open, close int
	members     []jsonMember
}

// object returns the object at an offset. It returns false if the value there is not an object. The text must be valid.
func (d JSONC) object(open int) (jsonObject, bool) {
	if d.plain[open] != '{' {
		return jsonObject{}, false
	}
	o := jsonObject{open: open}
	i := d.skip(open + 1)
	for d.plain[i] != '}' {
		m := jsonMember{at: i}
		end := stringEnd(d.plain, i)
		_ = json.Unmarshal(d.plain[i:end], &m.name) // ReadJSONC has checked it
		m.value = d.skip(d.skip(end) + len(":"))
		m.end = d.valueEnd(m.value)
		o.members = append(o.members, m)
		if i = d.skip(m.end); d.plain[i] == ',' {
			i = d.skip(i + 1)
		}
	}
	o.close = i
	return o, true
}

// valueEnd returns the offset after the value that begins at i.
func (d JSONC) valueEnd(i int) int {
	depth := 0
	for i < len(d.plain) {
		switch c := d.plain[i]; {
		case c == '"':
			if i = stringEnd(d.plain, i); depth == 0 {
				return i
			}
			continue
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 0:
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (isBlank(c) || c == ',' || c == '}' || c == ']'):
			return i
		}
		i++
	}
	return i
}

// find returns the member with this name, and whether there is one. It returns an error if the name occurs twice, because
// readers differ in which one they use.
func (o jsonObject) find(d JSONC, name string) (member jsonMember, found bool, err error) {
	for _, m := range o.members {
		if m.name != name {
			continue
		}
		if found {
			line, column := position(d.text, member.at)
			return jsonMember{}, false, &textFault{
				offset: m.at, reason: hereAndAt(string(jsonText(name)), line, column), want: keepOne,
			}
		}
		member, found = m, true
	}
	return member, found, nil
}

// kindAt returns the kind of the value at an offset in words, for example "an array".
func (d JSONC) kindAt(i int) string {
	switch d.plain[i] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// Values decodes the text, which must hold an object. Numbers are of type json.Number, so they keep their spelling. A text
// without a value is an empty object.
func (d JSONC) Values() (map[string]any, error) {
	values := map[string]any{}
	if blank(d.plain) {
		return values, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(d.plain))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return values, nil
}

// jsonText returns a value as one line of JSON. It does not escape <, > and &.
func jsonText(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings and lists of strings cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
