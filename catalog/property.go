package catalog

import (
	"slices"

	"patterngate/ijson"
)

// Property describes one member of a schema's root object. A field that the schema does not set is zero.
type Property struct {
	Name        string
	Type        string // string, number, integer, boolean, object, array, null; "" means several or any
	Description string
	Format      string
	Pattern     string
	Spelling    string // such as YYYY-MM; a hint, never checked
	Enum        []any  // decoded values
	Required    bool
	Example     string // a string unchanged, any other value as compact JSON
}

// Properties returns the root's properties in the order of their declaration.
func (s *Schema) Properties() []Property {
	if s == nil {
		return nil
	}
	properties := make([]Property, len(s.root().names))
	for i, name := range s.root().names {
		n := s.root().properties[name]
		p := Property{
			Name: name, Type: n.kind, Description: n.description, Format: n.format, Pattern: n.pattern,
			Spelling: n.spelling, Enum: slices.Clone(n.enum), Required: slices.Contains(s.root().required, name),
		}
		if n.hasExample {
			p.Example = plainText(n.example)
		}
		properties[i] = p
	}
	return properties
}

// HasProperty reports whether the root declares a property of that name.
func (s *Schema) HasProperty(name string) bool { return s != nil && s.root().has(name) }

// Example returns one whole argument object for descriptions. It has every required property, and the optional
// properties that have an example. Values come from examples, const, default or enum, and otherwise from the type. A
// value made from the type may not match a pattern or a length. The caller may change the map, but not the values in
// it.
func (s *Schema) Example() map[string]any {
	if s == nil {
		return map[string]any{}
	}
	return s.root().exampleObject()
}

func (n *node) exampleObject() map[string]any {
	object := map[string]any{}
	for _, name := range n.names {
		p := n.properties[name]
		if slices.Contains(n.required, name) || p.hasExample {
			object[name] = p.exampleValue()
		}
	}
	return object
}

func (n *node) exampleValue() any {
	if n.hasExample {
		return n.example
	}
	switch n.kind {
	case "integer", "number":
		return max(1, n.minimum)
	case "boolean":
		return true
	case "array":
		if n.items == nil {
			return []any{}
		}
		return []any{n.items.exampleValue()}
	case "object":
		return n.exampleObject()
	case "null":
		return nil
	}
	return "text"
}

// plainText returns a string unchanged, and any other decoded value as JSON.
func plainText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return string(ijson.Canonical(v))
}

// PropertyNames returns the names of the root's properties in the order of their declaration.
func (s *Schema) PropertyNames() []string {
	var names []string
	for _, p := range s.Properties() {
		names = append(names, p.Name)
	}
	return names
}
