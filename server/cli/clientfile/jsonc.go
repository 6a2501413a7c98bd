package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// JSONC is JSON with comments and trailing commas, as editors read it. plain is text with blanks in their place, so that
// an offset in one is an offset in the other:
//
//	text   {"a": 1, /* b */ "c": [2,],}
//	plain  {"a": 1,         "c": [2 ] }
type JSONC struct {
	text, plain []byte
	commas      []int // the trailing ones, ascending
	first       int   // of comments and trailing commas; -1 where there is none
}

// ReadJSONC reads a text that holds at most one value.
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

// jsonFault is a syntax error and its place: the character that was not expected, or the end of the text.
func jsonFault(err error, end int) error {
	fault := &textFault{offset: -1, reason: err.Error(), want: "mend it by hand"}
	if at, ok := errors.AsType[*json.SyntaxError](err); ok {
		fault.offset = max(0, int(at.Offset)-1)
		if strings.HasPrefix(err.Error(), "unexpected end") {
			fault.offset = end
		}
	}
	return fault
}

// blankOut replaces comments and trailing commas in plain by blanks.
func (d *JSONC) blankOut() error {
	last, comma := byte(0), -1 // the last character that counts, and the comma that may prove to be trailing
	for i := 0; i < len(d.plain); {
		switch c := d.plain[i]; {
		case c == '"':
			last, comma, i = c, -1, stringEnd(d.plain, i)
		case c == '/' && i+1 < len(d.plain) && (d.plain[i+1] == '/' || d.plain[i+1] == '*'):
			end := commentEnd(d.plain, i)
			if end < 0 {
				return &textFault{offset: i, reason: "a comment without an end", want: "end it by */"}
			}
			d.loosen(i)
			fill(d.plain[i:end])
			i = end
		case isBlank(c):
			i++
		case c == ',':
			comma = -1
			if last != 0 && strings.IndexByte(",:[{", last) < 0 { // behind a value
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

// loosen notes a place that strict JSON does not have.
func (d *JSONC) loosen(offset int) {
	if d.first < 0 || offset < d.first {
		d.first = offset
	}
}

// fill writes blanks over a text and keeps its lines.
func fill(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// stringEnd is the offset behind the string that begins at i, or the end of the text.
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

// commentEnd is the offset behind the comment that begins at i, before the line's end of a // comment; -1 where a
// comment does not end.
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

// skip is the offset of the next character of plain that counts, or the end of the text.
func (d JSONC) skip(i int) int {
	for i < len(d.plain) && isBlank(d.plain[i]) {
		i++
	}
	return i
}

// jsonMember is a member of an object: the offsets of its name, of its value and behind its value.
type jsonMember struct {
	name           string
	at, value, end int
}

// jsonObject is an object in a text: the offsets of its braces, and its members.
type jsonObject struct {
	open, close int
	members     []jsonMember
}

// object reads the object at an offset; false where another value stands.
func (d JSONC) object(open int) (jsonObject, bool) {
	if d.plain[open] != '{' {
		return jsonObject{}, false
	}
	o := jsonObject{open: open}
	i := d.skip(open + 1)
	for d.plain[i] != '}' {
		m := jsonMember{at: i}
		end := stringEnd(d.plain, i)
		_ = json.Unmarshal(d.plain[i:end], &m.name) // was read before
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

// valueEnd is the offset behind the value that begins at i.
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

// find returns the member of that name. A name that stands twice is a fault: readers differ in which one counts.
func (o jsonObject) find(d JSONC, name string) (member jsonMember, found bool, err error) {
	for _, m := range o.members {
		if m.name != name {
			continue
		}
		if found {
			line, column := position(d.text, member.at)
			return jsonMember{}, false, &textFault{
				offset: m.at, reason: fmt.Sprintf("%s stands here and at %d:%d", jsonText(name), line, column), want: "keep one of the two",
			}
		}
		member, found = m, true
	}
	return member, found, nil
}

// kindAt names the value at an offset.
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

// Values decodes the text; numbers stay as they are spelled. A text without a value is an empty object.
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

// jsonText is a value as one line of JSON, as people write it: <, > and & for themselves.
func jsonText(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts and lists of them
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
