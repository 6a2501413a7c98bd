package yamldoc

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"patterngate/ijson"
)

// Find follows a path as far as the document has it. It returns the place of the last key that it found and the value of that key.
// The node may be nil: the value is then an Unreadable node without a place.
func (n *Node) Find(path *Path) (key Place, value *Node) {
	if n == nil {
		n = &Node{}
	}
	if path == nil {
		return n.At, n
	}
	key, above := n.Find(path.Up)
	if above.Kind == List && strings.HasPrefix(path.Step, "[") {
		if i := Index(strings.Trim(path.Step, "[]")); i >= 0 && i < len(above.Items) {
			return above.Items[i].At, above.Items[i]
		}
		return key, above
	}
	if i := slices.IndexFunc(above.Members, func(m Member) bool { return m.Key == path.Step }); i >= 0 {
		return above.Members[i].At, above.Members[i].Value
	}
	return key, above
}

// PathOf returns the path of these steps: keys unchanged, items as "[0]".
func PathOf(steps []string) (path *Path) {
	for _, step := range steps {
		path = &Path{path, step}
	}
	return path
}

// Character returns the place of the character that begins at a byte of a text node, however the text is quoted or folded. The
// arguments source and text are those that the node was read from. For a node that is no text it is the node's own place.
func (n *Node) Character(source string, text []byte, offset int) Place {
	in, ok := prepareText(source, text, &Faults{})
	if !ok || n.Kind != Text {
		return n.At
	}
	return n.character(in, offset)
}

// character returns the place of the character that begins at a byte of a scalar's text. White space that folding added or removed
// has the place of the text that it came from.
func (n *Node) character(in sourceText, offset int) Place {
	if n.At.Line < 1 || n.At.Line > len(in.lines) {
		return n.At
	}
	s := scalarSource{in: in, raw: in.from(n.At), at: in.offsetOf(n.At)}
	s.begin()
	for done := 0; done < len(n.Text); {
		r, size := utf8.DecodeRuneInString(n.Text[done:])
		at := s.take(r)
		if done += size; done > offset {
			return in.at(s.at + at)
		}
	}
	return in.at(s.at + s.i)
}

// offsetOf returns the byte at which a place is.
func (in sourceText) offsetOf(at Place) int {
	return len(in.text) - len(in.from(at))
}

// scalarSource steps through the written form of a scalar. One unit is a character, or an escape for one.
type scalarSource struct {
	in    sourceText
	raw   string // from the scalar's first character on
	at    int    // of raw in the text
	i     int    // in raw
	quote byte   // ' or ", 0 for plain and block text
}

// begin skips an opening quote, or the header of a block.
func (s *scalarSource) begin() {
	switch {
	case s.raw == "":
	case s.raw[0] == '"' || s.raw[0] == '\'':
		s.quote, s.i = s.raw[0], 1
	case s.raw[0] == '|' || s.raw[0] == '>':
		s.i = strings.IndexByte(s.raw, '\n') + 1
	}
}

// take skips the text of one character and returns where that text began.
func (s *scalarSource) take(r rune) int {
	if r != ' ' && r != '\n' && r != '\t' {
		s.skip()
		at := s.i
		s.i += s.unit()
		return at
	}
	at := s.i
	switch {
	case at >= len(s.raw):
	case s.raw[at] == byte(r) || s.raw[at] == '\n':
		s.i++
	case s.raw[at] == '\\' && s.quote == '"' && !s.folded():
		s.i += s.unit()
	}
	return at
}

// skip skips white space, which folding removes, and escaped line ends.
func (s *scalarSource) skip() {
	for s.i < len(s.raw) {
		switch {
		case strings.IndexByte(" \n\t", s.raw[s.i]) >= 0:
			s.i++
		case s.folded():
			s.i += 2
		default:
			return
		}
	}
}

// folded reports whether an escaped line end begins here.
func (s *scalarSource) folded() bool {
	return s.quote == '"' && strings.HasPrefix(s.raw[s.i:], "\\\n")
}

// unit returns how many bytes are written for the character that begins here.
func (s *scalarSource) unit() int {
	rest := s.raw[s.i:]
	switch {
	case rest == "":
		return 0
	case s.quote == '\'' && strings.HasPrefix(rest, "''"):
		return 2
	case s.quote == '"' && rest[0] == '\\':
		return escapeSize(rest)
	}
	_, size := utf8.DecodeRuneInString(rest)
	return size
}

// escapeSize returns the length of an escape; of two halves of a surrogate pair it is the length of both.
func escapeSize(text string) int {
	written := escape.FindString(text[:min(len(text), 10)])
	if !strings.HasPrefix(written, `\u`) {
		return max(len(written), 1)
	}
	if high, ok := hexRune(text, 2); ok && utf16.IsSurrogate(high) && len(text) >= 12 && text[6:8] == `\u` {
		return 12
	}
	return len(written)
}

func hexRune(text string, at int) (rune, bool) {
	v := rune(0)
	for _, c := range []byte(text[at:min(at+4, len(text))]) {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 {
			return 0, false
		}
		v = v<<4 | rune(digit)
	}
	return v, true
}

// Member returns the value of a key; nil if there is none.
func (n *Node) Member(key string) *Node {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// FindPointer follows a JSON pointer as far as the document has it. It returns the steps that it found, as a [Path] has them, and
// the places of the last one's key and value.
func (n *Node) FindPointer(p ijson.Pointer) (steps []string, key, value Place) {
	key, value = n.At, n.At
	for _, token := range p.Tokens() {
		if n.Kind == List {
			i := Index(token)
			if i < 0 || i >= len(n.Items) {
				return steps, key, value
			}
			n = n.Items[i]
			steps, key, value = append(steps, "["+token+"]"), n.At, n.At
			continue
		}
		i := slices.IndexFunc(n.Members, func(m Member) bool { return m.Key == token })
		if i < 0 {
			return steps, key, value
		}
		steps, key, value = append(steps, token), n.Members[i].At, n.Members[i].Value.At
		n = n.Members[i].Value
	}
	return steps, key, value
}

// Index returns the index that a token of a JSON pointer spells; -1 if it spells none.
func Index(token string) int {
	i := 0
	for _, c := range token {
		if c < '0' || c > '9' || i > maxFileNodes {
			return -1
		}
		i = 10*i + int(c-'0')
	}
	if token == "" {
		return -1
	}
	return i
}
