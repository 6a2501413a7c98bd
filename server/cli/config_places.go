package cli

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"patterngate/ijson"
)

// at is where the value of a path stands in the file that was read last, else the nearest value around it.
func (r *configReader) at(path *keyPath) place {
	_, value := r.root.walk(path)
	return value.at
}

// keyAt is where the last key of a path stands, else the nearest value around it.
func (r *configReader) keyAt(path *keyPath) place {
	key, _ := r.root.walk(path)
	return key
}

// walk follows a path as far as it leads: where the last key stands that was found, and its value.
func (n *yamlNode) walk(path *keyPath) (key place, value *yamlNode) {
	if n == nil {
		n = &yamlNode{}
	}
	if path == nil {
		return n.at, n
	}
	key, above := n.walk(path.up)
	if above.kind == yamlList && strings.HasPrefix(path.step, "[") {
		if i := indexOf(strings.Trim(path.step, "[]")); i >= 0 && i < len(above.items) {
			return above.items[i].at, above.items[i]
		}
		return key, above
	}
	if i := slices.IndexFunc(above.members, func(m yamlMember) bool { return m.key == path.step }); i >= 0 {
		return above.members[i].at, above.members[i].value
	}
	return key, above
}

// pathOf joins the steps of a path: keys as they are, items as [0].
func pathOf(steps []string) (path *keyPath) {
	for _, step := range steps {
		path = &keyPath{path, step}
	}
	return path
}

// FaultAt is a fault that was found after the configuration was read, at the value under these keys (items as "[0]"), or at
// the nearest one around it. Its Severity is a fault's where it has none.
func (l LoadedConfig) FaultAt(f Fault, steps ...string) Fault {
	path := pathOf(steps)
	_, value := l.root.walk(path)
	return placed(f, value.at, path, l.Path)
}

// faultAtKey is FaultAt for a key that should not be there.
func (l LoadedConfig) faultAtKey(f Fault, steps ...string) Fault {
	path := pathOf(steps)
	key, _ := l.root.walk(path)
	return placed(f, key, path, l.Path)
}

// FaultIn is FaultAt for a byte of the text that stands there, such as one of a CEL expression: it is placed at the very
// character, however the text is quoted or folded.
func (l LoadedConfig) FaultIn(f Fault, offset int, steps ...string) Fault {
	path := pathOf(steps)
	_, value := l.root.walk(path)
	at := value.at
	if in, ok := prepareText(l.Path, l.text, &configFaults{}); ok && value.kind == yamlText {
		at = value.character(in, offset)
	}
	return placed(f, at, path, l.Path)
}

// FaultInSchema is FaultAt for what stands at a JSON pointer below.
func (l LoadedConfig) FaultInSchema(f Fault, pointer ijson.Pointer, steps ...string) Fault {
	path := pathOf(steps)
	_, value := l.root.walk(path)
	found, _, at := value.find(pointer)
	return placed(f, at, pathOf(slices.Concat(steps, found)), l.Path)
}

func placed(f Fault, at place, path *keyPath, file string) Fault {
	f.File, f.Line, f.Column, f.Path = at.source, at.line, at.column, path.String()
	if f.File == "" {
		f.File = file
	}
	if f.Severity == "" {
		f.Severity = SeverityFault
	}
	return f
}

// Refused is the error of a configuration with these faults, sorted by place; nil where there are none. Warnings among them
// do not count.
func Refused(faults []Fault) error {
	collected := &configFaults{}
	for _, f := range faults {
		if f.Severity != SeverityWarning {
			collected.faults = append(collected.faults, f)
		}
	}
	return collected.err()
}

// character is where the character stands that begins at a byte of a scalar's text, in the source that it was read from.
// White space that folding made or took away has the place of what it was made of.
func (n *yamlNode) character(in yamlSource, offset int) place {
	if n.at.line < 1 || n.at.line > len(in.lines) {
		return n.at
	}
	s := scalarSource{in: in, raw: in.from(n.at), at: in.offsetOf(n.at)}
	s.begin()
	for done := 0; done < len(n.text); {
		r, size := utf8.DecodeRuneInString(n.text[done:])
		at := s.take(r)
		if done += size; done > offset {
			return in.at(s.at + at)
		}
	}
	return in.at(s.at + s.i)
}

// offsetOf is the byte at which a place is.
func (in yamlSource) offsetOf(at place) int {
	return len(in.text) - len(in.from(at))
}

// scalarSource walks over a scalar as it is written, unit by unit: a character, or an escape for one.
type scalarSource struct {
	in    yamlSource
	raw   string // from the scalar's first character on
	at    int    // of raw in the text
	i     int    // in raw
	quote byte   // ' or ", 0 for plain and block text
}

// begin goes past a quote, or the header of a block.
func (s *scalarSource) begin() {
	switch {
	case s.raw == "":
	case s.raw[0] == '"' || s.raw[0] == '\'':
		s.quote, s.i = s.raw[0], 1
	case s.raw[0] == '|' || s.raw[0] == '>':
		s.i = strings.IndexByte(s.raw, '\n') + 1
	}
}

// take goes past what is written for a character and returns where that began.
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

// skip goes past white space, which folding takes away, and escaped line ends.
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

// folded reports an escaped line end.
func (s *scalarSource) folded() bool {
	return s.quote == '"' && strings.HasPrefix(s.raw[s.i:], "\\\n")
}

// unit is how many bytes are written for the character that begins here.
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

// escapeSize is the length of an escape, of JSON's two halves of a character together.
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
