package clientfile

import (
	"bytes"
	"strings"
)

// JSONServers is the [Format] of most clients: JSON with an object of servers by name, under one member of the root.
type JSONServers struct {
	Member string // the name of that member: mcpServers or servers
	Typed  bool   // a new entry has "type": "stdio"
}

// jsonField is a member to write. Its value is a string, a []string or a []jsonField.
type jsonField struct {
	name  string
	value any
}

// fields returns the members of an entry, in the order in which clients show them.
func (f JSONServers) fields(e Entry) []jsonField {
	fields := []jsonField{{"command", e.Command}, {"args", e.Args}}
	if f.Typed {
		fields = append([]jsonField{{"type", "stdio"}}, fields...)
	}
	return fields
}

// Fresh returns the text of a new file that holds only the entry. See [Format].
func (f JSONServers) Fresh(e Entry) []byte { return f.appended(nil, e) }

// appended returns a text that holds no value, for example only comments, with the entry added at its end.
func (f JSONServers) appended(text []byte, e Entry) []byte {
	eol := lineEnd(text)
	out := bytes.Clone(text)
	if !blank(text) && !bytes.HasSuffix(text, []byte("\n")) {
		out = append(out, eol...) // a // comment ends only with its line
	}
	whole := []jsonField{{f.Member, []jsonField{{e.Name, f.fields(e)}}}}
	return append(append(out, jsonStyle{eol: eol, unit: "  "}.render(whole, "")...), eol...)
}

// loose returns the offset of the first comment or trailing comma, which strict readers refuse. It returns -1 if there is none
// or if the text is not valid.
func (f JSONServers) loose(text []byte) int {
	d, err := ReadJSONC(text)
	if err != nil {
		return -1
	}
	return d.first
}

// Decode returns the servers by name, and the other members of the root. See [Format]. Numbers are of type json.Number.
func (f JSONServers) Decode(text []byte) (servers, rest map[string]any, err error) {
	d, err := ReadJSONC(text)
	if err != nil {
		return nil, nil, err
	}
	if _, _, err := f.servers(d); err != nil {
		return nil, nil, err
	}
	if rest, err = d.Values(); err != nil {
		return nil, nil, err
	}
	servers, _ = rest[f.Member].(map[string]any)
	delete(rest, f.Member)
	return servers, rest, nil
}

// servers returns the root object and the object of servers in it. Each is nil if it is missing.
func (f JSONServers) servers(d JSONC) (root, servers *jsonObject, err error) {
	if blank(d.plain) {
		return nil, nil, nil
	}
	start := d.skip(0)
	o, ok := d.object(start)
	if !ok {
		return nil, nil, &textFault{offset: start, reason: fileIs(d.kindAt(start)), want: mustBeObject}
	}
	member, found, err := o.find(d, f.Member)
	if err != nil || !found {
		return &o, nil, err
	}
	s, ok := d.object(member.value)
	if !ok {
		return nil, nil, &textFault{offset: member.value, reason: f.Member + " is " + d.kindAt(member.value), want: mustBeObject}
	}
	return &o, &s, nil
}

// find returns the object of servers, the entry with this name, and whether there is one.
func (f JSONServers) find(d JSONC, name string) (servers jsonObject, entry jsonMember, found bool, err error) {
	_, s, err := f.servers(d)
	if err != nil || s == nil {
		return jsonObject{}, jsonMember{}, false, err
	}
	entry, found, err = s.find(d, name)
	return *s, entry, found, err
}

// Merge adds the entry or updates the entry with its name. See [Format]. In an entry that starts a program, it sets only
// command and args. It replaces any other entry.
func (f JSONServers) Merge(text []byte, e Entry) ([]byte, error) {
	d, err := ReadJSONC(text)
	if err != nil {
		return nil, err
	}
	root, servers, err := f.servers(d)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return f.appended(text, e), nil
	case servers == nil:
		return d.insert(*root, jsonField{f.Member, []jsonField{{e.Name, f.fields(e)}}}), nil
	}
	at, found, err := servers.find(d, e.Name)
	if err != nil {
		return nil, err
	} else if !found {
		return d.insert(*servers, jsonField{e.Name, f.fields(e)}), nil
	}
	if entry, _ := EntryOf(f, text, e.Name); !stdioEntry(entry) {
		return d.replace(at, f.fields(e)), nil
	} else if e.Starts(entry) {
		return text, nil
	}
	for _, field := range (JSONServers{}).fields(e) { // only command and args; other members stay
		if text, err = f.set(text, e.Name, field); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// stdioEntry reports whether an entry starts a program. Merge updates such an entry and replaces any other.
func stdioEntry(entry any) bool {
	members, ok := entry.(map[string]any)
	if !ok {
		return false
	}
	for _, remote := range []string{"url", "serverUrl", "httpUrl"} {
		if _, ok := members[remote]; ok {
			return false
		}
	}
	kind, typed := members["type"]
	return !typed || kind == "stdio"
}

// set returns the text with one member of an entry set to a value.
func (f JSONServers) set(text []byte, name string, field jsonField) ([]byte, error) {
	d, err := ReadJSONC(text)
	if err != nil {
		return nil, err
	}
	_, at, _, err := f.find(d, name)
	if err != nil {
		return nil, err
	}
	entry, _ := d.object(at.value)
	member, found, err := entry.find(d, field.name)
	switch {
	case err != nil:
		return nil, err
	case found:
		return d.replace(member, field.value), nil
	}
	return d.insert(entry, field), nil
}

// Remove removes the entry with this name. See [Format]. Comments inside the entry are removed with it.
func (f JSONServers) Remove(text []byte, name string) ([]byte, error) {
	d, err := ReadJSONC(text)
	if err != nil {
		return nil, err
	}
	servers, at, found, err := f.find(d, name)
	if err != nil || !found {
		return text, err
	}
	return d.cut(servers, at), nil
}

// WithServersOf returns text with the servers of another text in place of its own, byte for byte. Everything else in text
// stays. It returns [ErrUnsafe] if one of the texts has no object of servers.
func (f JSONServers) WithServersOf(text, other []byte) ([]byte, error) {
	to, err := ReadJSONC(text)
	if err != nil {
		return nil, err
	}
	from, err := ReadJSONC(other)
	if err != nil {
		return nil, err
	}
	_, old, err := f.servers(to)
	if err != nil {
		return nil, err
	}
	_, back, err := f.servers(from)
	if err != nil {
		return nil, err
	}
	if old == nil || back == nil {
		return nil, ErrUnsafe
	}
	return spliced(to.text, splice{old.open, old.close + 1, string(from.text[back.open : back.close+1])}), nil
}

// jsonStyle is the layout of a value: the line end and the unit of indentation. With an empty eol, all is on one line.
type jsonStyle struct{ eol, unit string }

// render returns the JSON of a value whose first line has this indentation.
func (s jsonStyle) render(v any, indent string) string {
	fields, ok := v.([]jsonField)
	if !ok {
		if list, ok := v.([]string); ok {
			return renderList(list)
		}
		return string(jsonText(v))
	}
	gap, end := s.eol+indent+s.unit, s.eol+indent
	if s.eol == "" {
		gap, end = "", ""
	}
	var b strings.Builder
	for i, f := range fields {
		switch {
		case i == 0:
			b.WriteString("{" + gap)
		case gap == "":
			b.WriteString(", ")
		default:
			b.WriteString("," + gap)
		}
		b.WriteString(string(jsonText(f.name)) + ": " + s.render(f.value, indent+s.unit))
	}
	return b.String() + end + "}"
}

// renderList returns a list of strings as JSON on one line. It is valid TOML, except for the delete character.
func renderList(list []string) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(jsonText(w))
	}
	return "[" + strings.Join(words, ", ") + "]"
}
