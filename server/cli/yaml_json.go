package cli

import (
	"encoding/json"
	"strings"
)

// jsonTree reads a text that is known to be one JSON document. The YAML parser would read most of it too, but not
// with tabs between tokens, and it gives no columns there.
type jsonTree struct {
	in     yamlSource
	limits *yamlLimits
	tokens *json.Decoder
}

func readJSON(in yamlSource, limits *yamlLimits) *yamlNode {
	tokens := json.NewDecoder(strings.NewReader(in.text))
	tokens.UseNumber()
	tree := jsonTree{in, limits, tokens}
	token, start := tree.next()
	return tree.node(token, start, nil, 1)
}

// next returns the next token and the offset where it begins. The text was found valid, so there is one.
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

func (t jsonTree) node(token json.Token, start int, path *keyPath, depth int) *yamlNode {
	n := &yamlNode{at: t.in.at(start), nodes: 1}
	if !t.limits.take(1, n.at, path) {
		return n
	}
	switch token := token.(type) {
	case nil:
		n.kind = yamlNull
	case bool:
		n.kind, n.flag = yamlBool, token
	case json.Number:
		return plainScalar(token.String(), n.at, path, t.limits.faults)
	case string:
		n.kind, n.text = yamlText, token
		if t.loneSurrogate(token, start) {
			t.limits.faults.add(n.at, path, Fault{Reason: "half of a surrogate pair", Want: "write both halves, or the character itself"})
			n.kind = yamlBad
		}
	case json.Delim:
		if t.limits.deep(depth, n.at, path) {
			return n
		}
		if token == '[' {
			t.list(n, path, depth)
		} else {
			t.mapping(n, path, depth)
		}
		return n.finish()
	}
	return n
}

func (t jsonTree) list(n *yamlNode, path *keyPath, depth int) {
	n.kind = yamlList
	for i := 0; t.tokens.More() && !t.limits.over; i++ {
		token, start := t.next()
		n.items = append(n.items, t.node(token, start, path.item(i), depth+1))
	}
	t.next() // the bracket
}

func (t jsonTree) mapping(n *yamlNode, path *keyPath, depth int) {
	n.kind = yamlMapping
	keys := keyList{}
	for t.tokens.More() && !t.limits.over {
		token, start := t.next()
		key, _ := token.(string)
		at, below := t.in.at(start), path.key(key)
		if !t.limits.take(1, at, below) {
			return
		}
		if t.loneSurrogate(key, start) {
			t.limits.faults.add(at, below, Fault{Reason: "half of a surrogate pair", Want: "write both halves, or the character itself"})
		}
		fresh := keys.add(key, at, below, t.limits.faults)
		token, start = t.next()
		value := t.node(token, start, below, depth+1)
		if fresh {
			n.members = append(n.members, yamlMember{key, at, value})
		}
	}
	t.next() // the brace
}

// loneSurrogate reports whether the text that begins at start was decoded with a character in the place of half a
// surrogate pair: there are more U+FFFD than were written.
func (t jsonTree) loneSurrogate(text string, start int) bool {
	decoded := strings.Count(text, "\ufffd")
	if decoded == 0 {
		return false
	}
	raw := strings.ToLower(t.in.text[start:t.tokens.InputOffset()])
	return decoded > strings.Count(raw, "\ufffd")+strings.Count(raw, `\ufffd`)
}
