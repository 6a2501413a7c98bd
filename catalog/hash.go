package catalog

import (
	"patterngate/ijson"
)

// Hash returns the SHA-256 ("sha256:" and hex) of the tools as proposers and the policy see them. It covers each tool's
// name, effect, idempotency and schemas, and the arguments and defaults that the configuration sets. The order of the
// tools and their titles do not count. A nil Catalog has the hash of an empty one.
func (c *Catalog) Hash() string {
	tools := map[string]any{}
	for _, name := range c.Names() {
		t, _ := c.Tool(name)
		tools[name] = t.hashed()
	}
	return hashOf(tools)
}

// hashed returns the tool as a value. Members that most tools do not have are present only when used, so that the
// hashes of other tools do not change.
func (t Tool) hashed() map[string]any {
	v := map[string]any{
		"effect": string(t.Effect), "idempotent": t.Idempotent, "input": t.Input.hashed(), "output": t.Output.hashed(),
	}
	if len(t.Fixed) > 0 {
		v["fixed"] = t.Fixed
	}
	if len(t.Defaults) > 0 {
		v["defaults"] = t.Defaults
	}
	if len(t.Also) > 0 {
		also := make([]any, len(t.Also))
		for i, s := range t.Also {
			also[i] = s.hashed()
		}
		v["also"] = also
	}
	return v
}

// hashed returns the schema as a value, or nil if there is none, because then any value fits. The schema's text was
// decoded before.
func (s *Schema) hashed() any {
	if s == nil {
		return nil
	}
	v, err := ijson.DecodeCanonical(s.raw)
	if err != nil {
		return string(s.raw)
	}
	return v
}

// Hash returns the SHA-256 ("sha256:" and hex) of the schema's canonical form. A nil Schema has the hash of {}.
func (s *Schema) Hash() string {
	if s == nil {
		return hashOf(map[string]any{})
	}
	return s.hash()
}

func hashOf(v any) string { return ijson.Hash(ijson.Canonical(v)) }
