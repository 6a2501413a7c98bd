package catalog

import (
	"encoding/json"
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
