package cli

import (
	"bytes"
	"encoding/json"
	"slices"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// handsKey are workers or routes: a mapping of names to {tool or pattern, description}, or a list of tools.
func handsKey(name string, target *[]HandConfig, routes bool) configKey {
	takes := "a mapping of names to {tool or pattern, description}, or a list of tools"
	if routes {
		takes = "a mapping of names to {tool or pattern, description, reroute}, or a list of tools"
	}
	return configKey{
		name: name, takes: takes, ordered: true, form: func() map[string]any { return handsForm(routes) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) { readHands(r, n, path, target, routes) },
		show: func() any {
			if *target == nil {
				return nil
			}
			shown := make([]configKey, len(*target))
			for i := range *target {
				h := &(*target)[i]
				shown[i] = groupKey(h.Name, h.keys(routes)...)
			}
			return shown
		},
		keep: func() any { // their order is that of plans and prompts
			if *target == nil {
				return nil
			}
			list := make([]any, len(*target))
			for i := range *target {
				h := &(*target)[i]
				list[i] = map[string]any{h.Name: groupValue(h.keys(routes), configKey.kept)}
			}
			return list
		},
	}
}

func handsForm(routes bool) map[string]any {
	var h HandConfig
	entry := groupSchema(h.keys(routes))
	entry["oneOf"] = []any{
		map[string]any{"required": []any{"tool"}, "properties": map[string]any{"pattern": map[string]any{"type": "null"}}},
		map[string]any{"required": []any{"pattern"}, "properties": map[string]any{"tool": map[string]any{"type": "null"}}},
	}
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "object", "propertyNames": nameForm, "additionalProperties": orNull(entry)}, listForm(nameForm),
	}}
}

func (h *HandConfig) keys(routes bool) []configKey {
	keys := []configKey{
		oneToolKey("tool", &h.Tool),
		patternNameKey("pattern", &h.Pattern),
		lineKey("description", &h.Description, maxDescription, "\n"),
	}
	if routes {
		keys = append(keys, expressionKey("reroute", &h.Reroute))
	}
	return keys
}

// patternNameKey is the name of a pattern. Whether there is one is seen once the whole file was read.
func patternNameKey(name string, target *string) configKey {
	key := oneToolKey(name, target)
	key.takes = "a pattern's name"
	return key
}

// readHands reads workers or routes.
func readHands(r *configReader, n *yamldoc.Node, path *yamldoc.Path, target *[]HandConfig, routes bool) {
	switch n.Kind {
	case yamldoc.Mapping:
		list := readNamedHands(r, n.Members, path, *target, routes)
		*target = list
	case yamldoc.List:
		if members, ok := keptHands(n); ok {
			*target = readNamedHands(r, members, path, nil, routes)
			return
		}
		var names []string
		toolListKey("", &names).read(r, n, path)
		list := []HandConfig{}
		for i, name := range names {
			if slices.ContainsFunc(list, func(h HandConfig) bool { return h.Name == name }) {
				r.faults.Add(r.at(path.Item(i)), path.Item(i), yamldoc.Fault{Reason: name + " is named twice", Want: "leave one out"})
				continue
			}
			list = append(list, HandConfig{Name: name, Tool: name, Item: i + 1})
		}
		*target = list
	default:
		r.wrong(n, path, "write a mapping of names to {tool: NAME} or {pattern: NAME}, or a list of tools")
	}
}

// readNamedHands lays entries over those that are there; null takes one away.
func readNamedHands(r *configReader, members []yamldoc.Member, path *yamldoc.Path, before []HandConfig, routes bool) []HandConfig {
	list := slices.Clone(before)
	if list == nil {
		list = []HandConfig{}
	}
	for _, m := range members {
		below := path.Key(m.Key)
		if !toolName.MatchString(m.Key) {
			r.faults.Add(m.At, below, yamldoc.Fault{Reason: "not a name", Want: toolNames.want})
			continue
		}
		at := slices.IndexFunc(list, func(h HandConfig) bool { return h.Name == m.Key })
		if m.Value.Kind == yamldoc.Null {
			if at >= 0 {
				list = slices.Delete(list, at, at+1)
			}
			continue
		}
		h := HandConfig{Name: m.Key}
		if m.Value.Kind == yamldoc.Unreadable || !readHand(r, m.Value, below, &h, routes) {
			continue
		}
		if at >= 0 {
			list[at] = h
		} else {
			list = append(list, h)
		}
	}
	return list
}

// readHand reads one worker or route.
func readHand(r *configReader, n *yamldoc.Node, path *yamldoc.Path, h *HandConfig, routes bool) bool {
	r.places[path.String()] = n.At
	if n.Kind == yamldoc.Text && toolName.MatchString(n.Text) {
		r.wrong(n, path, "write {tool: "+n.Text+"} or {pattern: "+n.Text+"}")
		return false
	}
	if !r.members(n, path, h.keys(routes), unknownKey) {
		return false
	}
	switch said := func(key string) bool { v := n.Member(key); return v != nil && v.Kind != yamldoc.Null }; {
	case said("tool") && said("pattern"):
		r.faults.Add(n.At, path, yamldoc.Fault{Reason: "both tool and pattern", Want: "keep one"})
		return false
	case !said("tool") && !said("pattern"):
		r.faults.Add(n.At, path, yamldoc.Fault{Reason: "neither tool nor pattern", Want: "write tool: NAME or pattern: NAME"})
	}
	return h.of() != ""
}

// keptHands are those of a snapshot, a mapping each.
func keptHands(n *yamldoc.Node) (members []yamldoc.Member, ok bool) {
	if n.At != (yamldoc.Place{}) || len(n.Items) == 0 {
		return nil, false
	}
	for _, item := range n.Items {
		if item.Kind != yamldoc.Mapping || len(item.Members) != 1 {
			return nil, false
		}
		members = append(members, item.Members[0])
	}
	return members, true
}

// inputKey is a mapping of names to JSON schemas, laid over what is there name by name.
func inputKey(name string, target *json.RawMessage) configKey {
	key := rawKey(name, "a mapping of arguments to JSON schemas", target, checkListedSchemas)
	read := key.read
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		before := *target
		if n.Kind == yamldoc.Mapping {
			if n = withoutNulls(n); len(n.Members) == 0 {
				return
			}
		}
		if read(r, n, path); len(before) > 0 && n.Kind == yamldoc.Mapping {
			*target = laidOver(before, *target)
		}
	}
	return key
}

// withoutNulls is a mapping less the keys that are null: as if they were absent.
func withoutNulls(n *yamldoc.Node) *yamldoc.Node {
	less := *n
	less.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m yamldoc.Member) bool { return m.Value.Kind == yamldoc.Null })
	return &less
}

// laidOver are the members of one object over those of another, in the order of both.
func laidOver(below, above json.RawMessage) json.RawMessage {
	all := rawMembers(below)
	for _, m := range rawMembers(above) {
		if at := slices.IndexFunc(all, func(b rawMember) bool { return b.name == m.name }); at >= 0 {
			all[at] = m
		} else {
			all = append(all, m)
		}
	}
	return objectText(all)
}

// rawMember is a member of an object whose order matters.
type rawMember struct {
	name  string
	value json.RawMessage
}

// rawMembers are those of an object, in its order; nil where it is none.
func rawMembers(object json.RawMessage) (list []rawMember) {
	tokens := json.NewDecoder(bytes.NewReader(object))
	if open, err := tokens.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for tokens.More() {
		name, err := tokens.Token()
		var value json.RawMessage
		if err != nil || tokens.Decode(&value) != nil {
			return nil
		}
		text, _ := name.(string)
		list = append(list, rawMember{text, value})
	}
	return list
}

// objectText is an object of members.
func objectText(members []rawMember) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(ijson.Append(out, m.name), ':'), m.value...)
	}
	return append(out, '}')
}
