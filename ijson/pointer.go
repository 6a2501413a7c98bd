package ijson

import (
	"strconv"
	"strings"
)

// Pointer names a place in a value (RFC 6901), such as "/plan/steps/1/tool". The zero value is the whole value.
type Pointer string

// In escaped text ~1 means / and ~0 means ~. The order of the pairs does not matter, because a replacer makes one pass.
var (
	escapeToken   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")
)

// Member returns the place of the member with that name in p.
func (p Pointer) Member(name string) Pointer {
	return p + "/" + Pointer(escapeToken.Replace(name))
}

// Index returns the place of element i, counted from 0, in p.
func (p Pointer) Index(i int) Pointer {
	return p + "/" + Pointer(strconv.Itoa(i))
}

// Parent returns the place that contains a place. The parent of the whole value is the whole value.
func (p Pointer) Parent() Pointer {
	up := Pointer("")
	tokens := p.Tokens()
	for _, token := range tokens[:max(0, len(tokens)-1)] {
		up = up.Member(token)
	}
	return up
}

// Tokens returns the unescaped member names and indexes of p, outermost first. It returns nil for "" and for text that
// is not a pointer.
func (p Pointer) Tokens() []string {
	tokens, _ := p.split()
	return tokens
}

// In returns the value at p in root and reports whether it exists. The value is shared with root.
func (p Pointer) In(root any) (any, bool) {
	tokens, ok := p.split()
	if !ok {
		return nil, false
	}
	for _, token := range tokens {
		if root, ok = child(root, token); !ok {
			return nil, false
		}
	}
	return root, true
}

// split returns the tokens of p and reports whether p is a pointer. A pointer is empty or begins with a slash, and each
// ~ is before 0 or 1.
func (p Pointer) split() ([]string, bool) {
	if p == "" {
		return nil, true
	}
	if p[0] != '/' {
		return nil, false
	}
	tokens := strings.Split(string(p[1:]), "/")
	for i, token := range tokens {
		if !strings.Contains(token, "~") {
			continue
		}
		if strings.Count(token, "~") != strings.Count(token, "~0")+strings.Count(token, "~1") {
			return nil, false
		}
		tokens[i] = unescapeToken.Replace(token)
	}
	return tokens, true
}

// child returns the member or element of v that token names.
func child(v any, token string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		member, ok := v[token]
		return member, ok
	case []any:
		if i, ok := index(token); ok && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// index returns the number that a token spells, as RFC 6901 requires: digits, no leading zero.
func index(token string) (int, bool) {
	if token == "" || len(token) > 9 || token[0] == '0' && token != "0" {
		return 0, false
	}
	n := 0
	for _, c := range []byte(token) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}
