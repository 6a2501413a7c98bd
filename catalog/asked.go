package catalog

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/ijson"
)

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
