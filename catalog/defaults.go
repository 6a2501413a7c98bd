package catalog

import (
	"slices"

	"patterngate/ijson"
)

// Defaults returns the values that the schema of an object sets for absent members. The caller may change the map.
func (s *Schema) Defaults() map[string]any {
	filled := map[string]any{}
	if s == nil {
		return filled
	}
	root, err := ijson.Decode(s.JSON())
	if err != nil {
		return filled
	}
	schema, _ := root.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, p := range s.Properties() {
		property, _ := properties[p.Name].(map[string]any)
		if v, there := property["default"]; there {
			filled[p.Name] = v
		}
	}
	return filled
}

// Spelled is one property of a schema with its original JSON.
type Spelled struct {
	Name     string
	JSON     []byte
	Required bool
}

// Spelled returns the root's properties in the order of their declaration, each with its original JSON.
func (s *Schema) Spelled() []Spelled {
	if s == nil {
		return nil
	}
	var list []Spelled
	for _, m := range membersOf(s.JSON()) {
		if m.name != "properties" {
			continue
		}
		for _, p := range membersOf(m.value) {
			list = append(list, Spelled{p.name, p.value, slices.Contains(s.root().required, p.name)})
		}
	}
	return list
}
