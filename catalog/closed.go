package catalog

import (
	"encoding/json"
	"maps"
	"patterngate/ijson"
	"slices"
)

// elsewhereKeywords are the keywords, besides properties, that determine which members an object may have.
var elsewhereKeywords = []string{
	"additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames", "dependentSchemas", "dependencies",
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
}

// Closed returns a shown schema of a server's tool that accepts only the named arguments. whole is the schema that the
// server sent. Most servers do not say whether other arguments are allowed; Closed does not allow them. If whole names
// no properties, only bounded arguments are allowed. If whole says which other arguments are allowed, Closed returns s
// unchanged.
func (s *Schema) Closed(whole *Schema) *Schema {
	if s == nil || whole == nil {
		return s
	}
	silent := true
	for _, m := range membersOf(whole.raw) {
		if slices.Contains(elsewhereKeywords, m.name) {
			return s
		}
		silent = silent && m.name != "properties"
	}
	closed := newSchema(objectOf(append(membersOf(s.raw), member{"additionalProperties", json.RawMessage("false")})), s.spellings)
	closed.within = s.within
	if closed.silent = silent; s.bounds == nil {
		closed.fromUpstream()
	} else {
		closed.boundIn(s.bounds.root().names)
	}
	return closed
}

// Hiding returns the schema with some properties of its root replaced by strings without restrictions. It also removes
// the root's const, enum, default and examples. When arguments are judged, these properties have the value ***
// ([Tool.Fixed]), and rules read it as a string. Hiding ignores names that the schema does not have.
func (s *Schema) Hiding(names ...string) *Schema {
	if s == nil || !slices.ContainsFunc(names, s.root().has) {
		return s
	}
	raw := withProperties(s.raw, names, func(p member) member {
		return member{p.name, json.RawMessage(`{"type":"string","description":"Set by the configuration."}`)}
	})
	hiding := newSchema(objectOf(slices.DeleteFunc(membersOf(raw), func(m member) bool {
		return m.name == "const" || m.name == "enum" || m.name == "default" || m.name == "examples"
	})), s.spellings)
	if s.tally != nil {
		hiding.fromUpstream()
	}
	return hiding
}

// withProperties returns a root schema with other schemas for some properties.
func withProperties(raw json.RawMessage, names []string, other func(member) member) json.RawMessage {
	members := membersOf(raw)
	for i, m := range members {
		if m.name != "properties" {
			continue
		}
		list := membersOf(m.value)
		for j, p := range list {
			if slices.Contains(names, p.name) {
				list[j] = other(p)
			}
		}
		members[i].value = objectOf(list)
	}
	return objectOf(members)
}

// Asked returns the schema of a call as approvers see it: the shown arguments, and each argument that the configuration
// sets with its one value. If the configuration sets none, it returns [Tool.Input].
func (t Tool) Asked() *Schema {
	switch {
	case len(t.Fixed) == 0:
		return t.Input
	case t.asked != nil: // made once, by New
		return t.asked
	}
	return t.withFixed()
}

func (t Tool) withFixed() *Schema {
	members := membersOf(t.Input.JSON())
	properties := memberAt(&members, "properties", `{}`)
	list := membersOf(properties.value)
	names := slices.Sorted(maps.Keys(t.Fixed))
	for _, name := range names {
		text := ijson.Canonical(map[string]any{"const": t.Fixed[name], "description": "Set by the configuration."})
		list = append(list, member{name, text})
	}
	properties.value = objectOf(list)
	required := memberAt(&members, "required", `[]`)
	var wanted []string
	if json.Unmarshal(required.value, &wanted) != nil {
		wanted = nil
	}
	required.value, _ = json.Marshal(append(wanted, names...)) // a list of strings always marshals
	whole := newSchema(objectOf(members), nil)
	if t.Input != nil {
		whole.within = t.Input.within
	}
	whole.fromUpstream()
	return whole
}
