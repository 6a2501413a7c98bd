package clientfile

import (
	"bytes"
	"slices"
	"strings"
)

// tomlBlock returns an entry as a TOML table, without a line end after its last line.
func tomlBlock(e Entry, eol string) string {
	return "[" + tomlKey + "." + e.Name + "]" + eol + "command = " + tomlString(e.Command) + eol + "args = " + tomlList(e.Args)
}

// tomlString returns a TOML basic string. The escapes of JSON are valid in TOML. TOML also requires an escape for the delete character.
func tomlString(s string) string { return strings.ReplaceAll(string(jsonText(s)), "\x7f", `\u007f`) }

// tomlList returns a TOML array of basic strings.
func tomlList(list []string) string { return strings.ReplaceAll(renderList(list), "\x7f", `\u007f`) }

// Fresh returns the text of a new file that holds only the entry. See [Format].
func (TOMLServers) Fresh(e Entry) []byte { return []byte(tomlBlock(e, "\n") + "\n") }

// appended returns the text with the entry as its last table. The result has a final line end if the text is blank or has one.
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

// extended returns the result of appended. It returns an error if TOML does not allow another table, because the servers are
// in braces.
func (t tomlText) extended(e Entry) ([]byte, error) {
	out := t.appended(e)
	if _, err := readTOML(out); err != nil {
		at, _ := t.find(within(tomlKey))
		return nil, tomlForm(at, e.Name)
	}
	return out, nil
}

// Merge adds the entry or updates the entry with its name. See [Format]. In an entry that starts a program, it sets only
// command and args. It replaces any other entry.
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
		return nil, &textFault{offset: at.at, reason: notATable(e.Name), want: "write [" + tomlKey + "." + e.Name + "]"}
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

// update returns the text with command and args of an existing entry set. The user's other keys stay.
func (t tomlText) update(e Entry) ([]byte, error) {
	_, header := t.find(declares(tomlKey, e.Name))
	_, keys := t.find(func(s tomlStatement) bool { return !s.header && len(s.path) == 3 && within(tomlKey, e.Name)(s) })
	if !header && !keys { // the text has only tables below the entry
		return t.extended(e)
	}
	text := t.text
	for _, field := range [][2]string{{"args", tomlList(e.Args)}, {"command", tomlString(e.Command)}} { // setTOML puts a new key first, so command ends up before args
		var err error
		if text, err = setTOML(text, e.Name, field[0], field[1]); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// tomlForm returns the error for an entry in braces or with dotted keys. Setup does not edit these forms, because it would have to
// rewrite the user's lines.
func tomlForm(at tomlStatement, name string) error {
	return &textFault{
		offset: at.at, reason: uneditable(strings.Join(at.path, ".")),
		want: asTable(tomlKey + "." + name),
	}
}

// setTOML returns the text with one key of an entry set to a value. It puts a new key directly below the header.
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

// lineOf returns the offset after the line of an offset and its line end.
func (t tomlText) lineOf(i int) int {
	if end := bytes.IndexByte(t.text[i:], '\n'); end >= 0 {
		return i + end + 1
	}
	return len(t.text)
}

// Remove removes the entry with this name and the tables below it. See [Format]. It refuses an entry inside a table in braces.
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

// tidied extends a cut by one blank line before or after it. It is the inverse of appended.
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
