package settings

import (
	"bytes"
	"encoding/json"

	"patterngate/catalog"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// JSON returns the effective configuration as one indented document that loads to the same configuration. The API key is a
// reference.
func (c Config) JSON() []byte {
	var out bytes.Buffer
	keys := c.Keys(nil)
	_ = json.Indent(&out, grammar.JSONOf(keys, c.withKey(grammar.ValueOf(keys, grammar.Key.Shown)), false), "", "  ") // the text is valid JSON
	out.WriteByte('\n')
	return out.Bytes()
}

// Value returns the effective configuration as a decoded value, as snapshots keep it. Secrets are references.
func (c Config) Value() map[string]any {
	return c.withKey(grammar.ValueOf(c.Keys(nil), grammar.Key.Kept))
}

// withKey sets llm.api_key to a reference, or deletes it if there is no key.
func (c Config) withKey(root map[string]any) map[string]any {
	group, ok := root["llm"].(map[string]any)
	switch {
	case !ok:
	case c.LLM.APIKey.Set() && !c.LLM.Key.Set():
		group["api_key"] = SecretReference()
	case !c.LLM.Key.Set():
		delete(group, "api_key")
	}
	return root
}

// YAML returns the effective configuration as a file that loads to the same configuration, in the order of the embedded
// default. Comments hold what keys cannot express, such as the provider in force and the masked API key.
func (c Config) YAML() []byte {
	var out bytes.Buffer
	notes := map[string]string{"llm.provider": inForce(c.LLM.Resolved())}
	if c.LLM.keyed() {
		from := KeyVariable
		if c.LLM.Key.Set() {
			from = c.LLM.Key.String()
		}
		notes["llm.provider"] += keyInForce(catalog.Masked, from)
	}
	for _, p := range c.Policies {
		if p.File != "" {
			notes["policies."+p.Name] = "from " + grammar.YAMLWord(p.File)
		}
	}
	for _, p := range c.Patterns {
		for name, figure := range p.Handed {
			notes["patterns."+p.Name+".budget."+name] = inForceOrCaller(yamldoc.NumberText(figure))
		}
	}
	grammar.WriteYAML(&out, c.Keys(nil), nil, func(path string, _ any) string { return notes[path] })
	return out.Bytes()
}
