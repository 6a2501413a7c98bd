package rules

import (
	"strconv"
	"strings"

	"patterngate/server/settings/yamldoc"
)

// Locate follows a member such as rules[2].when from a policy's node. It returns the place of the last key that it found,
// its value, and the path to it.
func Locate(n *yamldoc.Node, member string, path *yamldoc.Path) (key yamldoc.Place, value *yamldoc.Node, below *yamldoc.Path) {
	if n == nil {
		return yamldoc.Place{}, &yamldoc.Node{}, path
	}
	key, list := n.At, ""
	for member != "" {
		if n.Kind == yamldoc.List {
			i, rest, ok := indexed(member)
			if !ok || i >= len(n.Items) {
				return key, n, path
			}
			n, member = n.Items[i], rest
			key, path = n.At, itemStep(list, n, path, i)
			continue
		}
		m := longest(n, member)
		if m == nil {
			return key, n, wordPath(path, member)
		}
		member = strings.TrimPrefix(strings.TrimPrefix(member, m.Key), ".")
		key, n, path, list = m.At, m.Value, path.Key(m.Key), m.Key
	}
	return key, n, path
}

// wordPath adds the next name of member to path, even if the file does not have it: policies.refunds.rules.
func wordPath(path *yamldoc.Path, member string) *yamldoc.Path {
	name, _, _ := strings.Cut(member, ".")
	if yamldoc.IsPlainKey(name) {
		return path.Key(name)
	}
	return path
}

// longest returns the member whose name way begins with. If there are several it returns the longest, as names of arguments
// can contain dots.
func longest(n *yamldoc.Node, way string) *yamldoc.Member {
	found := -1
	for i, m := range n.Members {
		rest, ok := strings.CutPrefix(way, m.Key)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && (found < 0 || len(m.Key) > len(n.Members[found].Key)) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	return &n.Members[found]
}

// indexed splits an index such as [2]. off the front of a way.
func indexed(way string) (i int, rest string, ok bool) {
	inner, open := strings.CutPrefix(way, "[")
	digits, rest, closed := strings.Cut(inner, "]")
	i, err := strconv.Atoi(digits)
	return i, strings.TrimPrefix(rest, "."), open && closed && err == nil && i >= 0
}

// itemStep returns the path of a list item. It uses the name of a rule or test.
func itemStep(list string, n *yamldoc.Node, path *yamldoc.Path, i int) *yamldoc.Path {
	switch list {
	case "rules":
		return ruleItems.Step(n, path, i)
	case "tests":
		return rowItems.Step(n, path, i)
	}
	return path.Item(i)
}
