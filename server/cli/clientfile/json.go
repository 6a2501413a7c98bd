package clientfile

import (
	"bytes"
	"strings"
)

// JSONServers is the JSON of most clients: one object of servers, by name, under a member of the whole.
type JSONServers struct {
	Member string // mcpServers, or servers
	Typed  bool   // a new entry says "type": "stdio"
}

// jsonField is a member to write: a name, and a text, a list of texts or further fields.
type jsonField struct {
	name  string
	value any
}

// fields are an entry's members in the order in which clients show them.
func (f JSONServers) fields(e Entry) []jsonField {
	fields := []jsonField{{"command", e.Command}, {"args", e.Args}}
	if f.Typed {
		fields = append([]jsonField{{"type", "stdio"}}, fields...)
	}
	return fields
}

func (f JSONServers) Fresh(e Entry) []byte { return f.appended(nil, e) }

// appended is a text without a value and the entry behind it.
func (f JSONServers) appended(text []byte, e Entry) []byte {
	eol := lineEnd(text)
	out := bytes.Clone(text)
	if !blank(text) && !bytes.HasSuffix(text, []byte("\n")) {
		out = append(out, eol...) // a // comment ends only with its line
	}
	whole := []jsonField{{f.Member, []jsonField{{e.Name, f.fields(e)}}}}
	return append(append(out, jsonStyle{eol: eol, unit: "  "}.render(whole, "")...), eol...)
}

// loose is the offset of the first comment or trailing comma, which strict readers refuse; -1 where there is none.
func (f JSONServers) loose(text []byte) int {
	d, err := ReadJSONC(text)
	if err != nil {
		return -1
	}
	return d.first
}

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

// servers looks up the whole and the servers' object in it. Nil means that there is none.
func (f JSONServers) servers(d JSONC) (root, servers *jsonObject, err error) {
	if blank(d.plain) {
		return nil, nil, nil
	}
	start := d.skip(0)
	o, ok := d.object(start)
	if !ok {
		return nil, nil, &textFault{offset: start, reason: "the file is " + d.kindAt(start), want: "it must be an object"}
	}
	member, found, err := o.find(d, f.Member)
	if err != nil || !found {
		return &o, nil, err
	}
	s, ok := d.object(member.value)
	if !ok {
		return nil, nil, &textFault{offset: member.value, reason: f.Member + " is " + d.kindAt(member.value), want: "it must be an object"}
	}
	return &o, &s, nil
}

// find looks an entry up.
func (f JSONServers) find(d JSONC, name string) (servers jsonObject, entry jsonMember, found bool, err error) {
	_, s, err := f.servers(d)
	if err != nil || s == nil {
		return jsonObject{}, jsonMember{}, false, err
	}
	entry, found, err = s.find(d, name)
	return *s, entry, found, err
}

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
	for _, field := range (JSONServers{}).fields(e) { // what starts the program; the user's own members stay
		if text, err = f.set(text, e.Name, field); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// stdioEntry reports whether an entry starts a program, so that it can be brought up to date. Any other is replaced.
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

// set gives one member of an entry its value.
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

// jsonStyle is how values are laid out: over lines, or on one where eol is empty.
type jsonStyle struct{ eol, unit string }

// render writes a value whose line is indented so.
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

// renderList writes texts on one line. TOML reads it as well.
func renderList(list []string) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(jsonText(w))
	}
	return "[" + strings.Join(words, ", ") + "]"
}
