package catalog

import (
	"crypto/sha256"
	"encoding/hex"

	"patterngate/ijson"
)

// Hash is the SHA-256, "sha256:" and hex, of what the tools are to those who propose and judge: each one's name, effect,
// whether it is idempotent, and its schemas. The order of the tools does not count, nor do their titles. A nil Catalog is
// an empty one.
func (c *Catalog) Hash() string {
	tools := map[string]any{}
	for _, name := range c.Names() {
		t, _ := c.Tool(name)
		tools[name] = map[string]any{
			"effect": string(t.Effect), "idempotent": t.Idempotent, "input": t.Input.hashed(), "output": t.Output.hashed(),
		}
	}
	return hashOf(tools)
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
