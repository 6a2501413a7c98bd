package catalog

import (
	"crypto/sha256"
	"encoding/hex"

	"patterngate/ijson"
)

// Hash is the SHA-256, "sha256:" and hex, of what the tools are to those who propose and judge: each one's name, effect,
// whether it is idempotent, its schemas, and what a configuration fixes and puts in. The order of the tools does not count,
// nor do their titles. A nil Catalog is an empty one.
func (c *Catalog) Hash() string {
	tools := map[string]any{}
	for _, name := range c.Names() {
		t, _ := c.Tool(name)
		tools[name] = t.hashed()
	}
	return hashOf(tools)
}

// hashed is the tool as a value. What most tools do not have is there only where they do, so that their hash stays.
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

// hashed is the schema as a value; nil where there is none, as any value fits. What a schema says was decoded before.
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

// Hash is the SHA-256, "sha256:" and hex, of the schema's canonical form. A nil Schema is hashed as {}.
func (s *Schema) Hash() string {
	if s == nil {
		return hashOf(map[string]any{})
	}
	return s.hash()
}

func hashOf(v any) string {
	sum := sha256.Sum256(ijson.Canonical(v))
	return "sha256:" + hex.EncodeToString(sum[:])
}
