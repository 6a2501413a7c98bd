package settings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// handsKey returns the key of workers or routes: a mapping of names to {tool or pattern, description}, or a list of tools.
func handsKey(name string, target *[]Hand, routes bool) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOrTools, Ordered: true, Form: func() map[string]any { return handsForm(routes) },
		Entries: true, Brief: true, Below: func() []grammar.Key { return new(Hand).keys(routes) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) { readHands(r, n, path, target, routes) },
		Show: func() any {
			if *target == nil {
				return nil
			}
			shown := make([]grammar.Key, len(*target))
			for i := range *target {
				h := &(*target)[i]
				shown[i] = grammar.Group(h.Name, h.keys(routes)...)
			}
			return shown
		},
		Keep: func() any { // plans and prompts use their order
			if *target == nil {
				return nil
			}
			list := make([]any, len(*target))
			for i := range *target {
				h := &(*target)[i]
				list[i] = map[string]any{h.Name: grammar.ValueOf(h.keys(routes), grammar.Key.Kept)}
			}
			return list
		},
	}
}

func handsForm(routes bool) map[string]any {
	entry := grammar.SchemaOf(new(Hand).keys(routes))
	entry["oneOf"] = []any{
		map[string]any{"required": []any{"tool"}, "properties": map[string]any{"pattern": map[string]any{"type": "null"}}},
		map[string]any{"required": []any{"pattern"}, "properties": map[string]any{"tool": map[string]any{"type": "null"}}},
	}
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "object", "propertyNames": grammar.NameForm, "additionalProperties": grammar.OrNull(entry)}, grammar.ListForm(grammar.NameForm),
	}}
}

// eachHand says what a worker or route is: each {tool or pattern, description}.
func eachHand(routes bool) string {
	names := grammar.NamesOf(new(Hand).keys(routes))
	return eachHandTakes(names[0], strings.Join(names[1:], ", "))
}

func (h *Hand) keys(routes bool) []grammar.Key {
	keys := []grammar.Key{
		grammar.OneTool("tool", &h.Tool),
		patternNameKey("pattern", &h.Pattern),
		grammar.Line("description", &h.Description, tools.MaxDescription, "\n"),
	}
	if routes {
		keys = append(keys, grammar.Expression("reroute", &h.Reroute))
	}
	return keys
}

// patternNameKey returns the key of a pattern's name. A later check, after the whole file is read, finds out whether the
// pattern exists.
func patternNameKey(name string, target *string) grammar.Key {
	key := grammar.OneTool(name, target)
	key.Takes = "pattern"
	return key
}

// readHands reads workers or routes.
func readHands(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, target *[]Hand, routes bool) {
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
		grammar.ToolList("", &names).Read(r, n, path)
		list := []Hand{}
		for i, name := range names {
			if slices.ContainsFunc(list, func(h Hand) bool { return h.Name == name }) {
				r.Faults.Add(r.At(path.Item(i)), path.Item(i), yamldoc.Fault{Reason: namedTwice(name), Want: wantOnce})
				continue
			}
			list = append(list, Hand{Name: name, Tool: name, Item: i + 1})
		}
		*target = list
	default:
		r.Wrong(n, path, wantHandList)
	}
}

// readNamedHands adds entries to those of before, and replaces entries of the same name. A null removes the entry.
func readNamedHands(r *grammar.Reader, members []yamldoc.Member, path *yamldoc.Path, before []Hand, routes bool) []Hand {
	list := slices.Clone(before)
	if list == nil {
		list = []Hand{}
	}
	for _, m := range members {
		below := path.Key(m.Key)
		if !grammar.ToolName.MatchString(m.Key) {
			r.Faults.Add(m.At, below, yamldoc.Fault{Reason: notName, Want: grammar.ToolNames.Want})
			continue
		}
		at := slices.IndexFunc(list, func(h Hand) bool { return h.Name == m.Key })
		if m.Value.Kind == yamldoc.Null {
			if at >= 0 {
				list = slices.Delete(list, at, at+1)
			}
			continue
		}
		h := Hand{Name: m.Key}
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

// readHand reads one worker or route. It reports whether the worker or route can be used.
func readHand(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, h *Hand, routes bool) bool {
	r.Places[path.String()] = n.At
	if n.Kind == yamldoc.Text && grammar.ToolName.MatchString(n.Text) {
		r.Wrong(n, path, wantHand(n.Text, n.Text))
		return false
	}
	if !r.Members(n, path, h.keys(routes), grammar.UnknownKey) {
		return false
	}
	switch said := func(key string) bool { v := n.Member(key); return v != nil && v.Kind != yamldoc.Null }; {
	case said("tool") && said("pattern"):
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: bothToolAndPattern, Want: wantOneOfBoth})
		return false
	case !said("tool") && !said("pattern"):
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: noToolOrPattern, Want: wantToolOrPattern})
	}
	return h.Target() != ""
}

// keptHands returns the workers or routes of a snapshot, which is a list of mappings with one member each.
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

// inputKey returns the key of a mapping of names to JSON schemas. Each schema replaces the earlier one of the same name;
// the other names stay.
func inputKey(name string, target *json.RawMessage) grammar.Key {
	key := grammar.Raw(name, mappingOfSchemas, target, checkListedSchemas)
	read := key.Read
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
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

// withoutNulls returns a mapping without the keys that are null.
func withoutNulls(n *yamldoc.Node) *yamldoc.Node {
	less := *n
	less.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m yamldoc.Member) bool { return m.Value.Kind == yamldoc.Null })
	return &less
}

// laidOver returns the members of below with those of above, which replace members of the same name. New members come last.
func laidOver(below, above json.RawMessage) json.RawMessage {
	all := Members(below)
	for _, m := range Members(above) {
		if at := slices.IndexFunc(all, func(b Member) bool { return b.Name == m.Name }); at >= 0 {
			all[at] = m
		} else {
			all = append(all, m)
		}
	}
	return ObjectText(all)
}

// Member is a member of a JSON object whose order matters.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members returns the members of a JSON object in their order. It returns nil if the value is not an object.
func Members(object json.RawMessage) (list []Member) {
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
		list = append(list, Member{text, value})
	}
	return list
}

// ObjectText returns the JSON object with these members in this order.
func ObjectText(members []Member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(ijson.Append(out, m.Name), ':'), m.Value...)
	}
	return append(out, '}')
}
