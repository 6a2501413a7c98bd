package catalog

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"patterngate/ijson"
)

// member is one member of a JSON object with its undecoded value. The value shares memory with the object's text.
type member struct {
	name  string
	value json.RawMessage
}

// decoded returns the member's value. Its text was decoded before, as part of the whole.
func (m member) decoded() any {
	switch {
	case m.value[0] == '"' && bytes.IndexByte(m.value, '\\') < 0: // the fast way for most values
		return string(m.value[1 : len(m.value)-1])
	case m.value[0] == 't' || m.value[0] == 'f':
		return m.value[0] == 't'
	}
	v, err := ijson.Decode(m.value)
	if err != nil {
		return nil
	}
	return v
}

// text returns the member's value if it is a string, or "".
func (m member) text() string {
	if m.value[0] != '"' {
		return ""
	}
	text, _ := m.decoded().(string)
	return text
}

// membersOf splits the text of a JSON object, which was decoded before, into its members in their order. It returns
// none for text that is not an object. It only looks for the ends of values, because reading 200 tools calls it
// thousands of times.
func membersOf(object json.RawMessage) []member {
	at := afterBlanks(object, 0)
	if at == len(object) || object[at] != '{' {
		return nil
	}
	members := make([]member, 0, 8)
	for at = afterBlanks(object, at+1); at < len(object) && object[at] == '"'; at = afterBlanks(object, at+1) {
		end := ijson.AfterString(object, at)
		name := textOf(object[at:end])
		if at = afterBlanks(object, end); at == len(object) || object[at] != ':' {
			return members
		}
		at = afterBlanks(object, at+1)
		if end = afterValue(object, at); end == at {
			return members
		}
		members = append(members, member{name, object[at:end:end]})
		if at = afterBlanks(object, end); at == len(object) || object[at] != ',' {
			return members
		}
	}
	return members
}

func textOf(quoted []byte) string {
	if len(quoted) > 1 && bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // it was decoded before
	return string(text)
}

func afterBlanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// afterValue returns the index after the value that begins at at.
func afterValue(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			if at = ijson.AfterString(text, at); depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of its container, after a number or a literal
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return at
}

// objectOf returns the text of an object with these members. It is the inverse of membersOf.
func objectOf(members []member) json.RawMessage {
	length := len(`{}`)
	for _, m := range members {
		length += len(m.name) + len(m.value) + len(`"":,`)
	}
	text := append(make([]byte, 0, length), '{')
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(ijson.Append(text, m.name), ':')
		text = append(text, m.value...)
	}
	return append(text, '}')
}
