package catalog

import (
	"slices"

	"patterngate/ijson"
)

// Property is what a schema says about one member of its root object. What it does not say is zero.
type Property struct {
	Name        string
	Type        string // string, number, integer, boolean, object, array, null; "" means several or any
	Description string
	Format      string
	Pattern     string
	Spelling    string // such as YYYY-MM; a hint, never checked
	Enum        []any  // decoded values
	Required    bool
	Example     string // a text as it is, any other value as compact JSON
}

// Properties lists the root's properties in the order of their declaration.
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

// Example returns one whole argument object: every required property, and the optional ones that have an example of
// their own, taken from examples, const, default or enum, else made up by type. It is for descriptions: a pattern or a
// length is met only by an example that meets it. The caller may change it, but not what it holds.
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

// plainText shows a decoded value: a text as it is, anything else as JSON.
func plainText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return string(ijson.Canonical(v))
}
