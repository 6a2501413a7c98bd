package cli

import (
	"strings"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// keyKey is where the model's key stands. A file says it only where it is not the variable that is asked anyway.
func keyKey(name string, c *LLMConfig) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "`{secret: \"env:NAME\"}`, `{secret: \"file:PATH\"}` or `{secret: {exec: [program, argument]}}`", Form: func() map[string]any { return tools.SecretForm },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if !tools.IsReference(n) {
				tools.RefuseLiteral(r, n, path, `write {secret: "`+keyReference+`"}`)
				return
			}
			if ref, _, ok := tools.ReadReference(r, n, path, false); ok {
				c.Key = ref
			}
		},
		Show: func() any { return c.Key.Shown() },
	}
}

// key takes the model's key: from its variable, else from where the file says (spec/config.md section 9). A key that stands
// beside a base_url is sent there only.
func (r *configLoader) key(in ConfigSources, c *LLMConfig) {
	own := machine.Lookup(in.Environ, keyVariable)
	llm := (*yamldoc.Path)(nil).Key("llm")
	from := r.Places[llm.Key("base_url").String()]
	c.Referred = false
	switch c.APIKey = newSecret(own); {
	case own != "" || !c.Key.Set():
		if own != "" {
			c.Key = tools.SecretRef{}
		}
	case from.Source != "" && from.Line == 0:
		path := llm.Key("api_key")
		r.Faults.Add(r.Places[path.String()], path, yamldoc.Fault{
			Reason: "goes only to the llm.base_url beside it, and " + from.Source + " names another", Want: "set " + keyVariable + " too, or unset " + from.Source,
		})
	default:
		c.Referred = c.Key.Nowhere(in.Environ) == ""
	}
	if c.Resolved() == "openai" && strings.ContainsFunc(own, func(c rune) bool { return c <= ' ' || c > '~' }) {
		r.Faults.Add(yamldoc.Place{Source: keyVariable}, nil, yamldoc.Fault{
			Reason: "holds white space or characters beyond ASCII", Want: "write the key as the server gave it out",
		})
	}
}

// keyReference is where a configuration says that its key stands. A snapshot holds it in the place of the key.
const keyReference = "env:" + keyVariable

// secretReference is how a key is written where it must not stand.
func secretReference() map[string]any { return map[string]any{"secret": keyReference} }
