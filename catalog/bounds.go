package catalog

import (
	"patterngate/ijson"
)

// BoundsAt returns a JSON schema, as a decoded value, for the values at a place in a value that fits s. Approvers see
// it for an argument whose value is not known yet. {} means that nothing is known.
//
// The result contains only what s says of the place itself. It leaves out all descriptions and everything that s leaves
// to other keywords ($ref, anyOf and the like). So each value that s accepts at the place fits the result, but a value
// that fits the result may still be rejected.
func (s *Schema) BoundsAt(p ijson.Pointer) map[string]any {
	v, err := ijson.Decode(s.JSON())
	if err != nil {
		return map[string]any{}
	}
	for _, token := range p.Tokens() {
		if v = below(v, token); v == nil {
			return map[string]any{}
		}
	}
	return kept(v)
}

// below returns the schema of a member or element, or nil if it is not certain which schema applies.
func below(schema any, token string) any {
	of, _ := schema.(map[string]any)
	properties, _ := of["properties"].(map[string]any)
	if member, ok := properties[token]; ok && of["type"] == "object" {
		return member
	}
	if _, tuple := of["prefixItems"]; of["type"] == "array" && !tuple && isIndex(token) {
		return of["items"]
	}
	return nil
}

// judging are the keywords that judge a value by themselves.
var judging = [...]string{
	"type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "required",
}

// kept returns the part of a schema that is valid without the rest of it.
func kept(schema any) map[string]any {
	of, _ := schema.(map[string]any)
	out := map[string]any{}
	for _, name := range judging {
		if v, ok := of[name]; ok {
			out[name] = v
		}
	}
	if properties, ok := of["properties"].(map[string]any); ok {
		members := make(map[string]any, len(properties))
		for name, member := range properties {
			members[name] = kept(member)
		}
		out["properties"] = members
		if _, more := of["patternProperties"]; of["additionalProperties"] == false && !more {
			out["additionalProperties"] = false
		}
	}
	_, tuple := of["prefixItems"]
	if items, ok := of["items"].(map[string]any); ok && !tuple {
		out["items"] = kept(items)
	}
	return out
}
