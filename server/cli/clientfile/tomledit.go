package clientfile

import (
	"bytes"
	"slices"
	"strings"
)

// tomlBlock is an entry as a table of its own.
func tomlBlock(e Entry, eol string) string {
	return "[" + tomlKey + "." + e.Name + "]" + eol + "command = " + tomlString(e.Command) + eol + "args = " + tomlList(e.Args)
}

// tomlString is a basic string. JSON's escapes are TOML's too; but a delete character has to be escaped here.
func tomlString(s string) string { return strings.ReplaceAll(string(jsonText(s)), "\x7f", `\u007f`) }

func tomlList(list []string) string { return strings.ReplaceAll(renderList(list), "\x7f", `\u007f`) }

func (TOMLServers) Fresh(e Entry) []byte { return []byte(tomlBlock(e, "\n") + "\n") }

// appended is the text with the entry as its last table. It ends as text ends: with a line's end, or without one.
func (t tomlText) appended(e Entry) []byte {
	eol := lineEnd(t.text)
	block := tomlBlock(e, eol)
	switch {
	case blank(t.text):
		block += eol
	case bytes.HasSuffix(t.text, []byte("\n")):
		block = eol + block + eol
	default:
		block = eol + eol + block
	}
	return append(bytes.Clone(t.text), block...)
}

// extended is appended, where TOML allows another table: what is written in braces is closed.
func (t tomlText) extended(e Entry) ([]byte, error) {
	out := t.appended(e)
	if _, err := readTOML(out); err != nil {
		at, _ := t.find(within(tomlKey))
		return nil, tomlForm(at, e.Name)
	}
	return out, nil
}

func (f TOMLServers) Merge(text []byte, e Entry) ([]byte, error) {
	t, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	servers, err := t.servers()
	if err != nil {
		return nil, err
	}
	entry, found := servers[e.Name]
	if !found {
		return t.extended(e)
	}
	members, ok := entry.(map[string]any)
	if !ok {
		at, _ := t.find(within(tomlKey, e.Name))
		return nil, &textFault{offset: at.at, reason: e.Name + " is no table", want: "write [" + tomlKey + "." + e.Name + "]"}
	}
	switch {
	case e.Starts(members):
		return text, nil
	case stdioEntry(members):
		return t.update(e)
	}
	without, err := f.Remove(text, e.Name)
	if err != nil {
		return nil, err
	}
	if t, err = readTOML(without); err != nil {
		return nil, err
	}
	return t.extended(e)
}

// update sets what starts the program in an entry that is there; the user's own keys stay.
func (t tomlText) update(e Entry) ([]byte, error) {
	_, header := t.find(declares(tomlKey, e.Name))
	_, keys := t.find(func(s tomlStatement) bool { return !s.header && len(s.path) == 3 && within(tomlKey, e.Name)(s) })
	if !header && !keys { // only tables below it
		return t.extended(e)
	}
	text := t.text
	for _, field := range [][2]string{{"args", tomlList(e.Args)}, {"command", tomlString(e.Command)}} { // a new one stands first
		var err error
		if text, err = setTOML(text, e.Name, field[0], field[1]); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// tomlForm refuses what is written in a way that cannot be edited without writing the user's lines anew.
func tomlForm(at tomlStatement, name string) error {
	return &textFault{
		offset: at.at, reason: strings.Join(at.path, ".") + " is written in braces or as a dotted key, which setup does not edit",
		want: "write it as a table [" + tomlKey + "." + name + "]",
	}
}

// setTOML gives one key of an entry its value.
func setTOML(text []byte, name, key, value string) ([]byte, error) {
	t, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	if at, ok := t.find(sets(tomlKey, name, key)); ok {
		return spliced(text, splice{at.value, at.end, value}), nil
	}
	header, ok := t.find(declares(tomlKey, name))
	if !ok {
		at, _ := t.find(within(tomlKey, name))
		return nil, tomlForm(at, name)
	}
	end, eol := t.lineOf(header.end), lineEnd(text)
	line := key + " = " + value
	if end == header.end || text[end-1] != '\n' { // the last line of the text
		return spliced(text, splice{end, end, eol + line}), nil
	}
	return spliced(text, splice{end, end, line + eol}), nil
}

// lineOf is the offset behind the line of an offset, its end included.
func (t tomlText) lineOf(i int) int {
	if end := bytes.IndexByte(t.text[i:], '\n'); end >= 0 {
		return i + end + 1
	}
	return len(t.text)
}

func (TOMLServers) Remove(text []byte, name string) ([]byte, error) {
	t, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	servers, err := t.servers()
	if _, found := servers[name]; err != nil || !found {
		return text, err
	}
	var cuts []splice
	in := within(tomlKey, name)
	for i, s := range t.statements {
		switch {
		case s.nested && in(s) && !slices.ContainsFunc(t.statements[:i], func(o tomlStatement) bool { return in(o) && o.at < s.at && s.end <= o.end }):
			return nil, tomlForm(s, name)
		case s.nested || !in(s):
			continue
		case len(cuts) > 0 && blank(text[cuts[len(cuts)-1].to:lineStart(text, s.at)]):
			cuts[len(cuts)-1].to = t.lineOf(s.end)
		default:
			cuts = append(cuts, splice{from: lineStart(text, s.at), to: t.lineOf(s.end)})
		}
	}
	for i, c := range cuts {
		cuts[i] = t.tidied(c)
	}
	return spliced(text, cuts...), nil
}

// tidied lets a cut take one of the blank lines around it along. It undoes what appended does.
func (t tomlText) tidied(c splice) splice {
	before := t.text[:c.from]
	eol := func() { before = bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r")) }
	after := bytes.HasSuffix(before, []byte("\n\n")) || bytes.HasSuffix(before, []byte("\n\r\n"))
	switch {
	case c.to < len(t.text):
		if next := t.lineOf(c.to); (after || blank(before)) && blank(t.text[c.to:next]) {
			c.to = next
		}
	case bytes.HasSuffix(t.text, []byte("\n")):
		if after {
			eol()
		}
	default: // the last line has no end
		eol()
		eol()
	}
	c.from = len(before)
	return c
}
