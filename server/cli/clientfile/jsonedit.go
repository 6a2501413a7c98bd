package clientfile

import (
	"bytes"
	"slices"
)

// insert adds a member behind the last one of an object, in the manner of what is there: the same indentation, on lines
// of its own or not, with a trailing comma where the last one has one. A comment behind the last member stays with it.
func (d JSONC) insert(o jsonObject, field jsonField) []byte {
	style, indent := d.style(o)
	after, sep := o.open+1, ""
	var changes []splice
	if n := len(o.members); n > 0 {
		after, sep = o.members[n-1].end, " "
		if comma, ok := d.trailing(o); ok {
			after = comma + 1
		} else {
			changes = append(changes, splice{after, after, ","})
		}
	}
	behind, open := d.trivia(after, o.close, len(o.members) == 0)
	if open && style.eol == "" { // what came there would be part of a // comment
		style.eol = lineEnd(d.text)
	}
	if style.eol != "" {
		sep = style.eol + indent
	}
	with := sep + string(jsonText(field.name)) + ": " + style.render(field.value, indent)
	if _, ok := d.trailing(o); ok {
		with += ","
	}
	if style.eol != "" && bytes.IndexByte(d.text[behind:o.close], '\n') < 0 && (len(o.members) == 0 || open) {
		with += style.eol + indentAt(d.text, o.open)
	}
	return spliced(d.text, append(changes, splice{behind, behind, with})...)
}

// style is how a new member of an object is laid out, and how its line is indented.
func (d JSONC) style(o jsonObject) (style jsonStyle, indent string) {
	root, _ := d.object(d.skip(0))
	style.unit = "  "
	if len(root.members) > 0 {
		first := root.members[0].at
		if bytes.IndexByte(d.text[root.open:first], '\n') < 0 {
			return style, "" // all of it stands on one line, or reads so
		}
		if d.beginsLine(first) {
			style.unit = string(d.text[lineStart(d.text, first):first])
		}
	}
	if n := len(o.members); n > 0 {
		last := o.members[n-1].at
		if bytes.IndexByte(d.text[o.open:last], '\n') < 0 {
			return style, ""
		}
		style.eol = lineEnd(d.text)
		if d.beginsLine(last) {
			return style, string(d.text[lineStart(d.text, last):last])
		}
	}
	style.eol = lineEnd(d.text)
	return style, indentAt(d.text, o.open) + style.unit
}

// beginsLine reports whether nothing but white space stands before an offset on its line.
func (d JSONC) beginsLine(i int) bool {
	return len(bytes.Trim(d.text[lineStart(d.text, i):i], " \t")) == 0
}

// trailing is the comma behind the last member of an object.
func (d JSONC) trailing(o jsonObject) (comma int, ok bool) {
	if len(o.members) == 0 {
		return 0, false
	}
	i, _ := slices.BinarySearch(d.commas, o.members[len(o.members)-1].end)
	if i == len(d.commas) || d.commas[i] > o.close {
		return 0, false
	}
	return d.commas[i], true
}

// trivia is the offset behind the comments that follow i on its line, or on every line up to end; open says that the
// last of them is a // comment, which goes on to the line's end.
func (d JSONC) trivia(i, end int, lines bool) (behind int, open bool) {
	behind = i
	for i < end {
		switch c := d.text[i]; {
		case c == ' ' || c == '\t' || lines && isBlank(c):
			i++
		case c == '/':
			open = d.text[i+1] == '/'
			i = commentEnd(d.text, i)
			behind = i
		default:
			return behind, open
		}
	}
	return behind, open
}

// replace gives a member another value, laid out as the old one was.
func (d JSONC) replace(m jsonMember, value any) []byte {
	style := jsonStyle{eol: lineEnd(d.text), unit: "  "}
	root, _ := d.object(d.skip(0))
	if s, _ := d.style(root); s.eol == "" || bytes.IndexByte(d.text[m.value:m.end], '\n') < 0 && d.plain[m.value] == '{' {
		style.eol = ""
	} else {
		style.unit = s.unit
	}
	return spliced(d.text, splice{m.value, m.end, style.render(value, indentAt(d.text, m.at))})
}

// cut takes a member out, with its comma and the line that it leaves empty. It undoes insert where other members
// stand before.
func (d JSONC) cut(o jsonObject, m jsonMember) []byte {
	i := slices.IndexFunc(o.members, func(other jsonMember) bool { return other.at == m.at })
	if i < len(o.members)-1 {
		return d.cutBefore(m, d.skip(m.end))
	}
	changes := []splice{{from: m.at, to: m.end}}
	comma, trailing := d.trailing(o)
	switch {
	case trailing && blank(d.text[m.end:comma]):
		changes[0].to = comma + 1
	case trailing && i == 0: // a comment stands between, and stays
		changes = append(changes, splice{from: comma, to: comma + 1})
	default:
		trailing = false // or it becomes the comma of the member before
	}
	switch end := changes[0].to; {
	case i > 0:
		return d.cutLast(o.members[i-1], m, end, trailing)
	case blank(d.text[o.open+1:m.at]) && blank(d.text[end:o.close]):
		return spliced(d.text, splice{from: o.open + 1, to: o.close})
	case len(changes) == 1:
		changes[0] = d.line(m.at, end)
	}
	return spliced(d.text, changes...)
}

// cutBefore takes out a member that others follow, and the comma behind it.
func (d JSONC) cutBefore(m jsonMember, comma int) []byte {
	if comma > m.end { // a comment stands between, and stays
		return spliced(d.text, splice{from: m.at, to: m.end}, splice{from: comma, to: comma + 1})
	}
	whole := d.line(m.at, comma+1)
	if whole.to == comma+1 { // more follows on the line
		for whole.to < len(d.text) && (d.text[whole.to] == ' ' || d.text[whole.to] == '\t') {
			whole.to++
		}
	}
	return spliced(d.text, whole)
}

// cutLast takes out the last member, and the comma before it unless that becomes the trailing one.
func (d JSONC) cutLast(before, m jsonMember, end int, trailing bool) []byte {
	comma := d.skip(before.end)
	from, _ := d.trivia(comma+1, m.at, false)
	out := splice{from: from, to: end}
	if !blank(d.text[from:m.at]) { // a comment above the member stays
		out = d.line(m.at, end)
	}
	if trailing {
		return spliced(d.text, out)
	}
	if from == comma+1 && out.from == from {
		return spliced(d.text, splice{from: comma, to: end})
	}
	return spliced(d.text, splice{from: comma, to: comma + 1}, out)
}

// line is the change that takes out what stands from at to end, and the whole line where nothing else is on it.
func (d JSONC) line(at, end int) splice {
	rest := bytes.TrimLeft(d.text[end:], " \t")
	if after := bytes.TrimPrefix(rest, []byte("\r")); d.beginsLine(at) && len(after) > 0 && after[0] == '\n' {
		return splice{from: lineStart(d.text, at), to: len(d.text) - len(after) + 1}
	}
	return splice{from: at, to: end}
}
