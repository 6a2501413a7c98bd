package cli

import (
	"strings"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
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
func isReference(n *yamldoc.Node) bool {
	return n.Kind == yamldoc.Mapping && n.Member(secretMember) != nil
}

// refuseLiteral refuses a text where only a reference may stand. It says nothing of the text but where it stands.
func refuseLiteral(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, want string) {
	r.Faults.Add(n.At, path, yamldoc.Fault{Reason: "a literal", Want: want})
}

// readValue reads a text, or a reference to a secret.
func readValue(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) (Value, bool) {
	if isReference(n) {
		ref, _, ok := readReference(r, n, path, false)
		return Value{Secret: ref}, ok
	}
	if n.Kind != yamldoc.Text {
		r.Wrong(n, path, "write text in quotes, or {secret: \"env:NAME\"}")
		return Value{}, false
	}
	if f := faultOfText(n.Text); f.Reason != "" {
		r.Faults.Add(n.At, path, f)
		return Value{}, false
	}
	return Value{Text: n.Text}, true
}

// faultOfText refuses what cannot be sent as a header, argument or variable. It does not repeat the text.
func faultOfText(text string) yamldoc.Fault {
	if len(text) > maxText {
		return yamldoc.Fault{Reason: "too long", Got: yamldoc.NumberText(float64(len(text))) + " bytes", Want: "write at most " + yamldoc.NumberText(maxText)}
	}
	if strings.ContainsAny(text, "\x00\r\n") {
		return yamldoc.Fault{Reason: "a line end or NUL character within", Want: "write one line"}
	}
	return yamldoc.Fault{}
}

// readReference reads {secret: ...}, with a prefix where one is allowed.
func readReference(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, prefixed bool) (ref SecretRef, prefix string, ok bool) {
	before := len(r.Faults.Found)
	keys := []grammar.Key{{Name: secretMember, Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) { ref = readSecretPlace(r, n, path) }}}
	if prefixed {
		keys = append(keys, grammar.Text(prefixMember, &prefix, faultOfText))
	}
	r.Group(n, path, keys, grammar.UnknownKey)
	if m := n.Member(secretMember); m == nil || m.Kind == yamldoc.Null {
		r.Faults.Add(n.At, path.Key(secretMember), yamldoc.Fault{Reason: "missing", Want: secretWant})
	}
	return ref, prefix, len(r.Faults.Found) == before && ref.Set()
}

// readSecretPlace reads where a secret stands: env:NAME, file:PATH or a program. What is neither may be the secret itself, so
// it is not repeated.
func readSecretPlace(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) (ref SecretRef) {
	const want = `write "env:NAME", "file:PATH" or {exec: [program, argument]}`
	switch n.Kind {
	case yamldoc.Text:
		kind, rest, _ := strings.Cut(n.Text, ":")
		switch {
		case kind == "env" && referenceNames.MatchString(rest) && len(rest) <= 256:
			return SecretRef{Env: rest}
		case kind == "file" && rest != "" && !strings.ContainsAny(rest, "\x00\r\n"):
			return SecretRef{File: absolutePathOf(r, &yamldoc.Node{Kind: yamldoc.Text, Text: rest, At: n.At})}
		}
		refuseLiteral(r, n, path, want)
	case yamldoc.Mapping:
		exec := grammar.Key{Name: notifyExec, Required: "write {exec: [program, argument]}", Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.List { // it may be the secret itself
				refuseLiteral(r, n, path, "write a list: [program, argument]; no shell reads it")
			} else if words, ok := readExecWords(r, n, path); ok {
				ref.Exec = words
			}
		}}
		r.Group(n, path, []grammar.Key{exec}, grammar.UnknownKey)
	default:
		refuseLiteral(r, n, path, want)
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
		return map[string]any{secretMember: map[string]any{notifyExec: grammar.TextValues(s.Exec)}}
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
func keyKey(name string, c *LLMConfig) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "`{secret: \"env:NAME\"}`, `{secret: \"file:PATH\"}` or `{secret: {exec: [program, argument]}}`", Form: func() map[string]any { return secretForm },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if !isReference(n) {
				refuseLiteral(r, n, path, `write {secret: "`+keyReference+`"}`)
				return
			}
			if ref, _, ok := readReference(r, n, path, false); ok {
				c.Key = ref
			}
		},
		Show: func() any { return c.Key.shown() },
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
			c.Key = SecretRef{}
		}
	case from.Source != "" && from.Line == 0:
		path := llm.Key("api_key")
		r.Faults.Add(r.Places[path.String()], path, yamldoc.Fault{
			Reason: "goes only to the llm.base_url beside it, and " + from.Source + " names another", Want: "set " + keyVariable + " too, or unset " + from.Source,
		})
	default:
		c.Referred = c.Key.nowhere(in.Environ) == ""
	}
	if c.Resolved() == "openai" && strings.ContainsFunc(own, func(c rune) bool { return c <= ' ' || c > '~' }) {
		r.Faults.Add(yamldoc.Place{Source: keyVariable}, nil, yamldoc.Fault{
			Reason: "holds white space or characters beyond ASCII", Want: "write the key as the server gave it out",
		})
	}
}

var (
	referenceNames = grammar.Lazily(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

var secretForm = map[string]any{"$ref": "#/$defs/secret"}

var textOrSecret = map[string]any{"anyOf": []any{grammar.TextForm, secretForm}}

// secretDefinition is what [secretForm] refers to.
func secretDefinition() map[string]any {
	return grammar.ObjectForm(map[string]any{
		"secret": map[string]any{"anyOf": []any{
			map[string]any{"type": "string", "pattern": "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"},
			grammar.ObjectForm(map[string]any{notifyExec: grammar.ListForm(grammar.TextForm)}, notifyExec),
		}},
	}, "secret")
}
