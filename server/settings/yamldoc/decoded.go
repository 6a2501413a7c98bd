package yamldoc

import (
	"maps"
	"slices"
)

// NodeOf converts a decoded JSON value to a node without a place. The members of a mapping are in the order of their names.
func NodeOf(v any) *Node {
	n := &Node{}
	switch v := v.(type) {
	case nil:
		n.Kind = Null
	case bool:
		n.Kind, n.Flag = Bool, v
	case float64:
		n.Kind, n.Number, n.Text = Number, v, NumberText(v)
	case string:
		n.Kind, n.Text = Text, v
	case []any:
		n.Kind = List
		for _, item := range v {
			n.Items = append(n.Items, NodeOf(item))
		}
	case map[string]any:
		n.Kind = Mapping
		for _, key := range slices.Sorted(maps.Keys(v)) {
			n.Members = append(n.Members, Member{Key: key, Value: NodeOf(v[key])})
		}
	}
	return n.Counted()
}
