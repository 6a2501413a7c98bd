package cli

import (
	"strings"

	"patterngate/ijson"
)

const (
	secretMember = "secret"
	prefixMember = "prefix"
	secretWant   = `write {secret: "env:NAME"}`
	maxText      = 4 << 10 // bytes of a header, an argument or a variable
)

// secretWords are what the name of a secret's place contains (spec/config.md section 4, Secrets).
var secretWords = []string{"token", "secret", "password", "passwd", "api_key", "apikey", "private_key", "credential"}

// secretHeaders are the headers that hold nothing but secrets, in small letters.
var secretHeaders = map[string]bool{"authorization": true, "cookie": true, "proxy-authorization": true}

// isSecretName reports a name whose value must not stand in the file: in any case, - as _.
func isSecretName(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// isReference reports a mapping that means to be a secret.
func isReference(n *yamlNode) bool { return n.kind == yamlMapping && n.member(secretMember) != nil }

// literal refuses a text where only a reference may stand. It says nothing of the text but where it stands.
func (r *configReader) literal(n *yamlNode, path *keyPath, want string) {
	r.faults.add(n.at, path, Fault{Reason: "a literal", Want: want})
}

// value reads a text, or a reference to a secret.
func (r *configReader) value(n *yamlNode, path *keyPath) (Value, bool) {
	if isReference(n) {
		ref, _, ok := r.reference(n, path, false)
		return Value{Secret: ref}, ok
	}
	if n.kind != yamlText {
		r.wrong(n, path, "write text in quotes, or {secret: \"env:NAME\"}")
		return Value{}, false
	}
	if f := faultOfText(n.text); f.Reason != "" {
		r.faults.add(n.at, path, f)
		return Value{}, false
	}
	return Value{Text: n.text}, true
}

// faultOfText refuses what cannot be sent as a header, argument or variable. It does not repeat the text.
func faultOfText(text string) Fault {
	if len(text) > maxText {
		return Fault{Reason: "too long", Got: numberText(float64(len(text))) + " bytes", Want: "write at most " + numberText(maxText)}
	}
	if strings.ContainsAny(text, "\x00\r\n") {
		return Fault{Reason: "a line end or NUL character within", Want: "write one line"}
	}
	return Fault{}
}

// reference reads {secret: ...}, with a prefix where one is allowed.
func (r *configReader) reference(n *yamlNode, path *keyPath, prefixed bool) (ref SecretRef, prefix string, ok bool) {
	before := len(r.faults.faults)
	keys := []configKey{{name: secretMember, read: func(r *configReader, n *yamlNode, path *keyPath) { ref = r.secretPlace(n, path) }}}
	if prefixed {
		keys = append(keys, textKey(prefixMember, &prefix, faultOfText))
	}
	r.group(n, path, keys, unknownKey)
	if m := n.member(secretMember); m == nil || m.kind == yamlNull {
		r.faults.add(n.at, path.key(secretMember), Fault{Reason: "missing", Want: secretWant})
	}
	return ref, prefix, len(r.faults.faults) == before && ref.Set()
}

// secretPlace reads where a secret stands: env:NAME, file:PATH or a program. What is neither may be the secret itself, so
// it is not repeated.
func (r *configReader) secretPlace(n *yamlNode, path *keyPath) (ref SecretRef) {
	const want = `write "env:NAME", "file:PATH" or {exec: [program, argument]}`
	switch n.kind {
	case yamlText:
		kind, rest, _ := strings.Cut(n.text, ":")
		switch {
		case kind == "env" && referenceNames.MatchString(rest) && len(rest) <= 256:
			return SecretRef{Env: rest}
		case kind == "file" && rest != "" && !strings.ContainsAny(rest, "\x00\r\n"):
			return SecretRef{File: r.absolute(&yamlNode{kind: yamlText, text: rest, at: n.at})}
		}
		r.literal(n, path, want)
	case yamlMapping:
		exec := configKey{name: notifyExec, required: "write {exec: [program, argument]}", read: func(r *configReader, n *yamlNode, path *keyPath) {
			if n.kind != yamlList { // it may be the secret itself
				r.literal(n, path, "write a list: [program, argument]; no shell reads it")
			} else if words, ok := r.execWords(n, path); ok {
				ref.Exec = words
			}
		}}
		r.group(n, path, []configKey{exec}, unknownKey)
	default:
		r.literal(n, path, want)
	}
	return ref
}

// shown is a reference as the file says it; nil where there is none.
func (s SecretRef) shown() any {
	switch {
	case s.Env != "":
		return map[string]any{secretMember: "env:" + s.Env}
	case s.File != "":
		return map[string]any{secretMember: "file:" + s.File}
	case len(s.Exec) > 0:
		return map[string]any{secretMember: map[string]any{notifyExec: textValues(s.Exec)}}
	}
	return nil
}

// shown is a value as the file says it.
func (v Value) shown() any {
	if v.Secret.Set() {
		return v.Secret.shown()
	}
	return v.Text
}

// keyKey is where the model's key stands. A file says it only where it is not the variable that is asked anyway.
func keyKey(name string, c *LLMConfig) configKey {
	return configKey{
		name: name, takes: "`{secret: \"env:NAME\"}`, `{secret: \"file:PATH\"}` or `{secret: {exec: [program, argument]}}`", form: func() map[string]any { return secretForm },
		read: func(r *configReader, n *yamlNode, path *keyPath) {
			if !isReference(n) {
				r.literal(n, path, `write {secret: "`+keyReference+`"}`)
				return
			}
			if ref, _, ok := r.reference(n, path, false); ok {
				c.Key = ref
			}
		},
		show: func() any { return c.Key.shown() },
	}
}

// key takes the model's key: from its variable, else from where the file says (spec/config.md section 9). A key that stands
// beside a base_url is sent there only.
func (r *configReader) key(in ConfigSources, c *LLMConfig) {
	own := lookup(in.Environ, keyVariable)
	llm := (*keyPath)(nil).key("llm")
	from := r.places[llm.key("base_url").String()]
	c.Referred = false
	switch c.APIKey = newSecret(own); {
	case own != "" || !c.Key.Set():
		if own != "" {
			c.Key = SecretRef{}
		}
	case from.source != "" && from.line == 0:
		path := llm.key("api_key")
		r.faults.add(r.places[path.String()], path, Fault{
			Reason: "goes only to the llm.base_url beside it, and " + from.source + " names another", Want: "set " + keyVariable + " too, or unset " + from.source,
		})
	default:
		c.Referred = c.Key.nowhere(in.Environ) == ""
	}
	if c.Resolved() == "openai" && strings.ContainsFunc(own, func(c rune) bool { return c <= ' ' || c > '~' }) {
		r.faults.add(place{source: keyVariable}, nil, Fault{
			Reason: "holds white space or characters beyond ASCII", Want: "write the key as the server gave it out",
		})
	}
}

// blankText reports a text in which nothing stands.
func blankText(text string) bool { return ijson.Blank(text) }
