package clientfile

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TOMLServers is the [Format] of Codex: TOML with a table of servers by name.
type TOMLServers struct{}

const tomlKey = "mcp_servers"

// tomlStatement is a table header, or a key with its value.
type tomlStatement struct {
	path   []string // from the root
	header bool
	array  bool // [[header]], or a key whose value is a list
	inline bool // the value is a table in braces
	nested bool // it is inside such a table
	// These are offsets: at and end of the statement, value of the start of its value.
	at, value, end int
}

// tomlText is a text with its statements and its values.
type tomlText struct {
	text       []byte
	statements []tomlStatement
	values     map[string]any
}

// readTOML parses a text. It ignores a byte order mark.
func readTOML(text []byte) (tomlText, error) {
	if err := wideText(text); err != nil {
		return tomlText{}, err
	}
	plain := bytes.Clone(text)
	if bytes.HasPrefix(text, byteOrderMark) {
		copy(plain, "   ")
	}
	t := tomlText{text: text, values: map[string]any{}}
	if err := toml.Unmarshal(plain, &t.values); err != nil {
		return tomlText{}, tomlFault(err, text)
	}
	p := &unstable.Parser{}
	p.Reset(plain)
	var table []string
	for p.NextExpression() {
		n := p.Expression()
		if n.Kind == unstable.KeyValue {
			t.keep(n, table, plain)
			continue
		}
		path, first, last := tomlPath(n)
		table = path
		t.statements = append(t.statements, tomlStatement{
			path: path, header: true, array: n.Kind == unstable.ArrayTable,
			at: lineStart(plain, first), end: last + bytes.IndexByte(plain[last:], ']') + 1,
		})
	}
	return t, p.Error()
}

// tomlFault returns a syntax error with its position.
func tomlFault(err error, text []byte) error {
	fault := &textFault{offset: -1, reason: strings.TrimPrefix(err.Error(), "toml: "), want: fixByHand}
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, column := at.Position()
		start := 0
		for range row - 1 {
			start += bytes.IndexByte(text[start:], '\n') + 1
		}
		fault.offset = min(start+max(column-1, 0), len(text))
	}
	return fault
}

// tomlPath returns the parts of a statement's key, the offset of the first part, and the offset after the last part.
func tomlPath(n *unstable.Node) (path []string, first, last int) {
	first = -1
	for it := n.Key(); it.Next(); {
		k := it.Node()
		if first < 0 {
			first = int(k.Raw.Offset)
		}
		last = int(k.Raw.Offset + k.Raw.Length)
		path = append(path, string(k.Data))
	}
	return path, first, last
}

// keep records a key with its value. If the value is a table in braces, it records the keys in it too.
func (t *tomlText) keep(n *unstable.Node, table []string, plain []byte) {
	key, first, last := tomlPath(n)
	value := last + bytes.IndexByte(plain[last:], '=') + 1
	value += len(plain[value:]) - len(bytes.TrimLeft(plain[value:], " \t"))
	s := tomlStatement{
		path: slices.Concat(table, key), inline: n.Value().Kind == unstable.InlineTable, array: n.Value().Kind == unstable.Array,
		at: first, value: value, end: int(n.Raw.Offset + n.Raw.Length),
	}
	t.statements = append(t.statements, s)
	if !s.inline {
		return
	}
	within := len(t.statements)
	for it := n.Value().Children(); it.Next(); {
		if it.Node().Kind == unstable.KeyValue {
			t.keep(it.Node(), s.path, plain)
		}
	}
	for i := within; i < len(t.statements); i++ {
		t.statements[i].nested = true
	}
}

// find returns the first statement that meets a test, and whether there is one.
func (t tomlText) find(test func(tomlStatement) bool) (tomlStatement, bool) {
	i := slices.IndexFunc(t.statements, test)
	if i < 0 {
		return tomlStatement{}, false
	}
	return t.statements[i], true
}

// sets returns a test for the statement that gives this key its value.
func sets(path ...string) func(tomlStatement) bool {
	return func(s tomlStatement) bool { return !s.header && slices.Equal(s.path, path) }
}

// declares returns a test for the header of this table.
func declares(path ...string) func(tomlStatement) bool {
	return func(s tomlStatement) bool { return s.header && slices.Equal(s.path, path) }
}

// within returns a test for all statements of a table, with its header and the tables below it.
func within(path ...string) func(tomlStatement) bool {
	return func(s tomlStatement) bool { return len(s.path) >= len(path) && slices.Equal(s.path[:len(path)], path) }
}

// Decode returns the servers by name, and the other keys of the root. See [Format].
func (TOMLServers) Decode(text []byte) (servers, rest map[string]any, err error) {
	t, err := readTOML(text)
	if err != nil {
		return nil, nil, err
	}
	if servers, err = t.servers(); err != nil {
		return nil, nil, err
	}
	delete(t.values, tomlKey)
	return servers, t.values, nil
}

// servers returns the table of servers, or nil if there is none.
func (t tomlText) servers() (map[string]any, error) {
	v, found := t.values[tomlKey]
	servers, ok := v.(map[string]any)
	if found && !ok {
		at, _ := t.find(within(tomlKey))
		return nil, &textFault{offset: at.at, reason: notATable(tomlKey), want: mustBeTable}
	}
	return servers, nil
}
