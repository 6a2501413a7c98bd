package clientfile

import (
	"bytes"
	"slices"
)

// insert returns the text with a member added after the last one of an object. The new member has the layout of the others:
// the same indentation, the same use of lines, and a trailing comma if the last member has one. A comment after the
// last member stays with that member.
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
	if open && style.eol == "" { // without a new line, the member would be part of a // comment
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

// style returns the layout of a new member of an object, and the indentation of its line.
func (d JSONC) style(o jsonObject) (style jsonStyle, indent string) {
	root, _ := d.object(d.skip(0))
	style.unit = "  "
	if len(root.members) > 0 {
		first := root.members[0].at
		if bytes.IndexByte(d.text[root.open:first], '\n') < 0 {
			return style, "" // the root object is on one line, or starts so
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

// beginsLine reports whether only spaces and tabs are before an offset on its line.
func (d JSONC) beginsLine(i int) bool {
	return len(bytes.Trim(d.text[lineStart(d.text, i):i], " \t")) == 0
}

// trailing returns the offset of the trailing comma of an object, and whether there is one.
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

// trivia returns the offset after the comments that follow i. It stops at end, and also at the line end unless lines is set.
// The result open reports whether the last of them is a // comment, which ends only with its line.
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

// replace returns the text with another value for a member, in the layout of the old value.
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

// cut returns the text without a member, its comma and the line that would become empty. If other members are before this one,
// cut is the inverse of insert.
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
	case trailing && i == 0: // a comment is before the comma, and stays
		changes = append(changes, splice{from: comma, to: comma + 1})
	default:
		trailing = false // for i > 0, the comma stays, as that of the member before
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

// cutBefore returns the text without a member that others follow, and without the comma after it.
func (d JSONC) cutBefore(m jsonMember, comma int) []byte {
	if comma > m.end { // a comment or a blank is before the comma, and stays
		return spliced(d.text, splice{from: m.at, to: m.end}, splice{from: comma, to: comma + 1})
	}
	whole := d.line(m.at, comma+1)
	if whole.to == comma+1 { // another member follows on the line
		for whole.to < len(d.text) && (d.text[whole.to] == ' ' || d.text[whole.to] == '\t') {
			whole.to++
		}
	}
	return spliced(d.text, whole)
}

// cutLast returns the text without the last member. It removes the comma before it too, unless that comma becomes the trailing one.
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

// line returns the change that removes the text from at to end. It removes the whole line if nothing else is on it.
func (d JSONC) line(at, end int) splice {
	rest := bytes.TrimLeft(d.text[end:], " \t")
	if after := bytes.TrimPrefix(rest, []byte("\r")); d.beginsLine(at) && len(after) > 0 && after[0] == '\n' {
		return splice{from: lineStart(d.text, at), to: len(d.text) - len(after) + 1}
	}
	return splice{from: at, to: end}
}
