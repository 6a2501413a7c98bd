package yamldoc

import (
	"encoding/json"
	"strings"
)

// jsonTree reads a text that is known to be one JSON document. The YAML parser reads most of JSON too, but it refuses tabs between
// tokens and has no columns for them.
type jsonTree struct {
	in     sourceText
	limits *limits
	tokens *json.Decoder
}

func readJSON(in sourceText, limits *limits) *Node {
	tokens := json.NewDecoder(strings.NewReader(in.text))
	tokens.UseNumber()
	tree := jsonTree{in, limits, tokens}
	token, start := tree.next()
	return tree.node(token, start, nil, 1)
}

// next returns the next token and the offset where it begins. The text is valid JSON, so there is one.
func (t jsonTree) next() (json.Token, int) {
	start := int(t.tokens.InputOffset())
	for start < len(t.in.text) && strings.IndexByte(" \t\n,:", t.in.text[start]) >= 0 {
		start++
	}
	token, err := t.tokens.Token()
	if err != nil {
		return nil, start
	}
	return token, start
}

func (t jsonTree) node(token json.Token, start int, path *Path, depth int) *Node {
	n := &Node{At: t.in.at(start), nodes: 1}
	if !t.limits.take(1, n.At, path) {
		return n
	}
	switch token := token.(type) {
	case nil:
		n.Kind = Null
	case bool:
		n.Kind, n.Flag = Bool, token
	case json.Number:
		return Scalar(token.String(), n.At, path, t.limits.faults)
	case string:
		n.Kind, n.Text = Text, token
		if t.loneSurrogate(token, start) {
			t.limits.faults.Add(n.At, path, Fault{Reason: halfCharacter, Want: wantWholeCharacter})
			n.Kind = Unreadable
		}
	case json.Delim:
		if t.limits.deep(depth, n.At, path) {
			return n
		}
		if token == '[' {
			t.list(n, path, depth)
		} else {
			t.mapping(n, path, depth)
		}
		return n.Counted()
	}
	return n
}

func (t jsonTree) list(n *Node, path *Path, depth int) {
	n.Kind = List
	for i := 0; t.tokens.More() && !t.limits.over; i++ {
		token, start := t.next()
		n.Items = append(n.Items, t.node(token, start, path.Item(i), depth+1))
	}
	t.next() // the bracket
}

func (t jsonTree) mapping(n *Node, path *Path, depth int) {
	n.Kind = Mapping
	keys := keyList{}
	for t.tokens.More() && !t.limits.over {
		token, start := t.next()
		key, _ := token.(string)
		at, below := t.in.at(start), path.Key(key)
		if !t.limits.take(1, at, below) {
			return
		}
		if t.loneSurrogate(key, start) {
			t.limits.faults.Add(at, below, Fault{Reason: halfCharacter, Want: wantWholeCharacter})
		}
		fresh := keys.add(key, at, below, t.limits.faults)
		token, start = t.next()
		value := t.node(token, start, below, depth+1)
		if fresh {
			n.Members = append(n.Members, Member{key, at, value})
		}
	}
	t.next() // the brace
}

// loneSurrogate reports whether the text that begins at start has half a surrogate pair. The decoder writes U+FFFD for it, so there are
// more U+FFFD than in the source.
func (t jsonTree) loneSurrogate(text string, start int) bool {
	decoded := strings.Count(text, "\ufffd")
	if decoded == 0 {
		return false
	}
	raw := strings.ToLower(t.in.text[start:t.tokens.InputOffset()])
	return decoded > strings.Count(raw, "\ufffd")+strings.Count(raw, `\ufffd`)
}
