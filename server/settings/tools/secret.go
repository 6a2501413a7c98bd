package tools

import (
	"os"
	"strings"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

const (
	secretMember = "secret"
	prefixMember = "prefix"
	secretWant   = wantSecret
	MaxText      = 4 << 10 // maximum length of a header, an argument or a variable in bytes
)

// secretWords are the parts of a name that mark its value as secret (spec/config.md section 4, Secrets).
var secretWords = []string{"token", "secret", "password", "passwd", "api_key", "apikey", "private_key", "credential"}

// secretHeaders are the headers that hold only secrets, in small letters.
var secretHeaders = map[string]bool{"authorization": true, "cookie": true, "proxy-authorization": true}

// IsSecretName reports whether the file must not hold the value of that name. It ignores the case and treats - as _.
func IsSecretName(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// IsReference reports whether a mapping is written as a secret reference: it has the member secret.
func IsReference(n *yamldoc.Node) bool {
	return n.Kind == yamldoc.Mapping && n.Member(secretMember) != nil
}

// RefuseLiteral refuses a text where only a secret reference is allowed. The fault has the place of the text, not the text.
func RefuseLiteral(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, want string) {
	r.Faults.Add(n.At, path, yamldoc.Fault{Reason: literalSecret, Want: want})
}

// readValue reads a text, or a reference to a secret.
func readValue(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) (Value, bool) {
	if IsReference(n) {
		ref, _, ok := ReadReference(r, n, path, false)
		return Value{Secret: ref}, ok
	}
	if n.Kind != yamldoc.Text {
		r.Wrong(n, path, wantTextOrSecret)
		return Value{}, false
	}
	if f := faultOfText(n.Text); f.Reason != "" {
		r.Faults.Add(n.At, path, f)
		return Value{}, false
	}
	return Value{Text: n.Text}, true
}

// faultOfText refuses a text that cannot be sent as a header, argument or variable. The fault does not repeat the text.
func faultOfText(text string) yamldoc.Fault {
	if len(text) > MaxText {
		return yamldoc.Fault{Reason: tooLong, Got: yamldoc.NumberText(float64(len(text))) + " bytes", Want: wantAtMost(yamldoc.NumberText(MaxText))}
	}
	if strings.ContainsAny(text, "\x00\r\n") {
		return yamldoc.Fault{Reason: lineEndInside, Want: wantOneLine}
	}
	return yamldoc.Fault{}
}

// reference is a mapping with the place of a secret, and the text before its value in a header.
type reference struct {
	secret SecretRef
	prefix string
}

// keys returns the keys of such a mapping, with prefix if prefixed is true.
func (c *reference) keys(prefixed bool) []grammar.Key {
	secret := grammar.Key{
		Name: secretMember, Takes: secretForms(grammar.Braced(c.secret.execKeys())),
		Form: func() map[string]any {
			return map[string]any{"anyOf": []any{
				map[string]any{"type": "string", "pattern": "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"}, grammar.BriefForm(c.secret.execKeys()),
			}}
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) { c.secret = readSecretPlace(r, n, path) },
		Show: func() any { return c.secret.place() },
	}
	keys := []grammar.Key{secret.Need(secretWant)}
	if prefixed {
		prefix := grammar.Text(prefixMember, &c.prefix, faultOfText)
		keys = append(keys, prefix)
	}
	return keys
}

// shown returns the mapping as the file writes it.
func (c reference) shown() map[string]any {
	return grammar.Set(c.keys(true), new(reference).keys(true))
}

// ReadReference reads {secret: ...}, with a prefix if prefixed is true.
func ReadReference(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, prefixed bool) (ref SecretRef, prefix string, ok bool) {
	var c reference
	before := len(r.Faults.Found)
	r.Group(n, path, c.keys(prefixed), grammar.UnknownKey)
	return c.secret, c.prefix, len(r.Faults.Found) == before && c.secret.Set()
}

// execKeys returns the key of the program that prints the secret.
func (s *SecretRef) execKeys() []grammar.Key {
	exec := grammar.Command(grammar.ExecMember, &s.Exec).Need(wantExec)
	read := exec.Read
	exec.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		if n.Kind != yamldoc.List { // it could be the secret itself
			RefuseLiteral(r, n, path, wantProgramList)
			return
		}
		read(r, n, path)
	}
	return []grammar.Key{exec}
}

// readSecretPlace reads the place of a secret: env:NAME, file:PATH or a program. Its faults do not repeat the value, which
// could be the secret itself.
func readSecretPlace(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) (ref SecretRef) {
	const want = wantReference
	switch n.Kind {
	case yamldoc.Text:
		kind, rest, _ := strings.Cut(n.Text, ":")
		switch {
		case kind == "env" && referenceNames.MatchString(rest) && len(rest) <= 256:
			return SecretRef{Env: rest}
		case kind == "file" && rest != "" && !strings.ContainsAny(rest, "\x00\r\n"):
			return SecretRef{File: grammar.AbsolutePath(r, &yamldoc.Node{Kind: yamldoc.Text, Text: rest, At: n.At})}
		}
		RefuseLiteral(r, n, path, want)
	case yamldoc.Mapping:
		r.Group(n, path, ref.execKeys(), grammar.UnknownKey)
	default:
		RefuseLiteral(r, n, path, want)
	}
	return ref
}

// place returns the place as the file writes it, or nil if there is none.
func (s *SecretRef) place() any {
	switch {
	case s.Env != "":
		return "env:" + s.Env
	case s.File != "":
		return "file:" + s.File
	case len(s.Exec) > 0:
		return grammar.ValueOf(s.execKeys(), grammar.Key.Shown)
	}
	return nil
}

// Shown returns the reference as the file writes it, or nil if there is none.
func (s SecretRef) Shown() any {
	if !s.Set() {
		return nil
	}
	return reference{secret: s}.shown()
}

// shown returns a value as the file writes it.
func (v Value) shown() any {
	if v.Secret.Set() {
		return v.Secret.Shown()
	}
	return v.Text
}

var (
	referenceNames = grammar.Lazily(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// SecretForm is the JSON schema of a secret reference. It refers to [SecretDefinition].
var SecretForm = map[string]any{"$ref": "#/$defs/secret"}

var textOrSecret = map[string]any{"anyOf": []any{grammar.TextForm, SecretForm}}

// SecretDefinition returns the JSON schema that [SecretForm] refers to.
func SecretDefinition() map[string]any { return grammar.BriefForm(new(reference).keys(false)) }

// String returns the place of the secret: env:NAME, file:PATH, or exec: and the program without its arguments.
func (s SecretRef) String() string {
	switch {
	case s.Env != "":
		return "env:" + s.Env
	case s.File != "":
		return "file:" + s.File
	case len(s.Exec) > 0:
		return "exec:" + s.Exec[0]
	}
	return ""
}

// Nowhere returns the reason why a reference leads nowhere, as far as Patterngate can tell without reading or running
// anything. It returns "" if the reference can lead somewhere.
func (s SecretRef) Nowhere(environ []string) string {
	switch {
	case s.Env != "" && machine.Lookup(environ, s.Env) == "":
		return variableNotSet(s.Env)
	case s.File != "":
		info, err := os.Stat(s.File)
		switch {
		case err != nil:
			return s.File + ": " + machine.CauseOf(err).Error()
		case !info.Mode().IsRegular():
			return notFile(s.File)
		case machine.OthersRead(info):
			return readableByOthers(s.File)
		}
	case len(s.Exec) > 0:
		if _, f := machine.FindProgram(s.Exec[0], machine.Lookup(environ, "PATH")); f.Reason != "" {
			return f.Reason
		}
	}
	return ""
}
