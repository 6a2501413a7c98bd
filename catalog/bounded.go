package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"

	"patterngate/ijson"
)

// Bounded returns a shown schema in which each named argument has the narrower schema that the configuration gives it:
// see [CompileBounds]. If the narrower schema has no type, title or description, it keeps those of the argument. Such
// an argument is required, unless it has optional: true or a default. Faults point to the argument; if there are any,
// the Schema is nil.
func (s *Schema) Bounded(bounds map[string]json.RawMessage) (*Schema, []SchemaFault) {
	if len(bounds) == 0 {
		return s, nil
	}
	var wrong []SchemaFault
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		if f := s.boundFault(name, bounds[name]); f != nil {
			wrong = append(wrong, *f)
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	bounds, within := s.splitWithin(bounds)
	made := newSchema(s.withBounds(bounds), s.spellings)
	made.within = within
	made.boundIn(slices.Collect(maps.Keys(bounds)))
	return made, nil
}

// boundIn compiles these properties apart from the rest of the schema, in the language of written schemas. It leaves
// out no pattern of theirs for lack of room, and checks no format that is only shown. The rest of the schema is
// compiled as a schema from a server.
func (s *Schema) boundIn(names []string) {
	var own []member
	rest := withProperties(s.raw, names, func(p member) member {
		own = append(own, p)
		return member{p.name, json.RawMessage(`{}`)}
	})
	s.fromUpstream()
	compile := compileUpstream(s.tally)
	s.judgeBy(func([]byte) (*santhosh.Schema, error) { return compile(rest) })

	count := &tally{}
	s.bounds = newSchema(objectOf([]member{{"properties", objectOf(own)}}), nil)
	s.bounds.tally = count
	s.bounds.judgeBy(func(raw []byte) (*santhosh.Schema, error) {
		return compileBy(lessShown(raw), func(c *santhosh.Compiler) { c.UseRegexpEngine(count.text) })
	})
}

// boundFault returns why the configuration cannot bound an argument in this way, or nil.
func (s *Schema) boundFault(name string, bound json.RawMessage) *SchemaFault {
	at, root := ijson.Pointer("").Member(name), s.root()
	if !root.has(name) {
		if len(root.names) == 0 && (!root.closed || s.silent) {
			return nil // the tool accepts any argument
		}
		f := &SchemaFault{
			Pointer: at, Reason: noArgument, Misfit: true, Got: string(ijson.Canonical(name)), DidYouMean: Near(name, root.names),
			Want: wantNoBound,
		}
		if len(root.names) > 0 {
			f.Want = oneLine(oneOfNames(strings.Join(root.names, ", ")))
		}
		return f
	}
	was, is := root.properties[name].kind, parseNode(bound).kind
	if slices.ContainsFunc(membersOf(bound), func(m member) bool { return m.name == withinKeyword }) && is == "" && was != "" && was != "string" && was != "array" {
		return &SchemaFault{Pointer: at.Member(withinKeyword), Reason: withinForPaths(was), Want: wantWithoutWithin}
	}
	if was == "" || is == "" || was == is || was == "number" && is == "integer" {
		return nil
	}
	return &SchemaFault{Pointer: at.Member("type"), Reason: otherType, Got: string(ijson.Canonical(is)), Want: was}
}

// withBounds returns the schema's text with the bounds in it.
func (s *Schema) withBounds(bounds map[string]json.RawMessage) json.RawMessage {
	optional := map[string]bool{}
	bounded := func(name string, was []member) json.RawMessage {
		var text json.RawMessage
		text, optional[name] = boundText(was, membersOf(bounds[name]))
		return text
	}
	members := membersOf(s.raw)
	properties := memberAt(&members, "properties", `{}`)
	list := membersOf(properties.value)
	for i, p := range list {
		if _, named := bounds[p.name]; named {
			list[i].value = bounded(p.name, membersOf(p.value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		if !s.root().has(name) {
			list = append(list, member{name, bounded(name, nil)})
		}
	}
	properties.value = objectOf(list)
	required := memberAt(&members, "required", `[]`)
	var names []string
	if json.Unmarshal(required.value, &names) != nil {
		names = nil
	}
	for _, p := range list {
		free, named := optional[p.name]
		switch {
		case named && free:
			names = slices.DeleteFunc(names, func(n string) bool { return n == p.name })
		case named && !slices.Contains(names, p.name):
			names = append(names, p.name)
		}
	}
	if required.value, _ = json.Marshal(names); len(names) == 0 { // a list of strings always marshals
		members = slices.DeleteFunc(members, func(m member) bool { return m.name == "required" })
	}
	return objectOf(members)
}

// memberAt returns the member with that name. If there is none, it adds one at the end.
func memberAt(members *[]member, name, empty string) *member {
	i := slices.IndexFunc(*members, func(m member) bool { return m.name == name })
	if i < 0 {
		i, *members = len(*members), append(*members, member{name, json.RawMessage(empty)})
	}
	return &(*members)[i]
}

// boundText returns a bound without our own keyword, and reports whether the argument is optional. If the bound has no
// type, title or description, boundText adds those that the argument had.
func boundText(was, bound []member) (text json.RawMessage, optional bool) {
	var kept []member
	for _, m := range bound {
		switch m.name {
		case optionalKeyword:
			optional = true
			continue
		case "default":
			optional = true
		}
		kept = append(kept, m)
	}
	for _, m := range was {
		inherits := m.name == "type" || m.name == "title" || m.name == "description"
		if inherits && !slices.ContainsFunc(kept, func(k member) bool { return k.name == m.name }) {
			kept = append(kept, m)
		}
	}
	return objectOf(kept), optional
}
