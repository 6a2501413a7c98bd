package catalog

import (
	"encoding/json"
	"slices"
)

// elsewhereKeywords say which members an object may have besides properties.
var elsewhereKeywords = []string{
	"additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames", "dependentSchemas", "dependencies",
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
}

// Closed is a shown schema of a server's tool that takes the arguments which are named, and no others: what whole, the schema
// that the server sent, leaves unsaid, as most do, is not permitted by silence. Where it names no properties at all only those
// may be given that are bounded. Where whole says itself what else there may be, shown stays as it is.
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
