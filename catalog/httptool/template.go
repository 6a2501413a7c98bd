package httptool

import (
	"errors"
	"strings"

	"patterngate/ijson"
)

// template is a text with places for arguments. The zero template is the empty text.
type template []part

// part is a literal text, or the name of an argument.
type part struct {
	literal  string
	argument string // "" for a literal
}

// These are the faults of a template's grammar.
var (
	errOpen  = errors.New(unclosedBrace)
	errClose = errors.New(strayBrace)
	errEmpty = errors.New(emptyBraces)
)

// parseTemplate reads {name} as an argument's place, {{ and }} as braces, and anything else unchanged.
func parseTemplate(text string) (template, error) {
	var t template
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t = append(t, part{literal: literal.String()})
			literal.Reset()
		}
	}
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			literal.WriteString(text)
			break
		}
		literal.WriteString(text[:i])
		brace := text[i : i+1]
		text = text[i+1:]
		if strings.HasPrefix(text, brace) {
			literal.WriteString(brace)
			text = text[1:]
			continue
		}
		if brace == "}" {
			return nil, errClose
		}
		name, rest, ok := strings.Cut(text, "}")
		switch {
		case !ok || strings.Contains(name, "{"):
			return nil, errOpen
		case name == "":
			return nil, errEmpty
		}
		flush()
		t = append(t, part{argument: name})
		text = rest
	}
	flush()
	return t, nil
}

// arguments returns the names of a template's arguments, in order.
func (t template) arguments() []string {
	var names []string
	for _, p := range t {
		if p.argument != "" {
			names = append(names, p.argument)
		}
	}
	return names
}

// alone returns the argument of a template that consists only of it.
func (t template) alone() (string, bool) {
	if len(t) != 1 || t[0].argument == "" {
		return "", false
	}
	return t[0].argument, true
}

// outcome is the result of inserting arguments into a template.
type outcome int

const (
	filled  outcome = iota // a text
	absent                 // an argument is absent or null
	unusual                // an argument is an object or a list
)

// fill inserts arguments. Each value passes through encode, literals do not. The last result is the argument that is
// absent or unusual.
func (t template) fill(args map[string]any, encode func(string) string) (string, outcome, string) {
	var b strings.Builder
	for _, p := range t {
		if p.argument == "" {
			b.WriteString(p.literal)
			continue
		}
		text, ok := scalar(args[p.argument])
		switch {
		case args[p.argument] == nil:
			return "", absent, p.argument
		case !ok:
			return "", unusual, p.argument
		}
		b.WriteString(encode(text))
	}
	return b.String(), filled, ""
}

// scalar returns a string, number or boolean as text.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64, bool:
		return string(ijson.Canonical(v)), true
	}
	return "", false
}

// plain returns a text unchanged.
func plain(text string) string { return text }

// encode percent-encodes all bytes except A-Z a-z 0-9 - . _ ~ (RFC 3986, unreserved).
func encode(text string) string {
	const hex = "0123456789ABCDEF"
	at := strings.IndexFunc(text, func(r rune) bool { return !isUnreserved(r) })
	if at < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)+16), text[:at]...)
	for i := at; i < len(text); i++ {
		if c := text[i]; isUnreserved(rune(c)) {
			out = append(out, c)
		} else {
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}

func isUnreserved(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~", r)
}
