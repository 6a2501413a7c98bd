package yamldoc

import (
	"strconv"

	"patterngate/ijson"
)

// Decoded returns the value of a node as package ijson decodes it: nil, bool, float64, string, []any or map[string]any.
func (n *Node) Decoded() any {
	switch n.Kind {
	case Bool:
		return n.Flag
	case Number:
		return n.Number
	case Text:
		return n.Text
	case List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Decoded()
		}
		return list
	case Mapping:
		object := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			object[m.Key] = m.Value.Decoded()
		}
		return object
	}
	return nil
}

// AppendJSON appends a node as compact JSON. Members keep the order of the document.
func (n *Node) AppendJSON(to []byte) []byte {
	switch n.Kind {
	case List:
		to = append(to, '[')
		for i, item := range n.Items {
			if i > 0 {
				to = append(to, ',')
			}
			to = item.AppendJSON(to)
		}
		return append(to, ']')
	case Mapping:
		to = append(to, '{')
		for i, m := range n.Members {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(ijson.Append(to, m.Key), ':')
			to = m.Value.AppendJSON(to)
		}
		return append(to, '}')
	}
	return ijson.Append(to, n.Decoded())
}

// Readable reports whether a node and all nodes below it could be read.
func (n *Node) Readable() bool {
	for _, item := range n.Items {
		if !item.Readable() {
			return false
		}
	}
	for _, m := range n.Members {
		if !m.Value.Readable() {
			return false
		}
	}
	return n.Kind != Unreadable
}

// Shown returns the form of a value in a fault: the written text of a scalar, or "a list" or "a mapping".
func (n *Node) Shown() string {
	switch n.Kind {
	case Null:
		return "null"
	case Bool:
		return strconv.FormatBool(n.Flag)
	case Number:
		return n.Text
	case Text:
		return Quoted(n.Text)
	case List:
		return aList
	case Mapping:
		return aMapping
	}
	return unreadableValue
}

// NumberText returns a number spelled as in JSON.
func NumberText(n float64) string { return string(ijson.Canonical(n)) }
