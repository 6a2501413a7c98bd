package catalog

import (
	"patterngate/ijson"
)

// BoundsAt is a JSON schema, as a decoded value, that each value fits which stands at a place in a value that fits s: what
// people are shown of an argument whose value is not known yet. It says what s says of the place by itself; what s leaves to
// other keywords ($ref, anyOf and the like), and all words, are left out, so that a value may fit it and still not be taken.
// {} says nothing.
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

// below is the schema of a member or element; nil where it is not sure that this is the one.
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

// kept is what of a schema stands alone.
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
