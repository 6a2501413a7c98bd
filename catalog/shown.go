package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"patterngate/ijson"
)

// Bounds of a shown schema in which references were followed; beyond them it is open.
const (
	maxShown      = 2000      // schemas
	maxShownBytes = 128 << 10 // of keywords and names
	maxShownDepth = 20
)

// shownKeywords are those that every client shows as they are and that hold no schema, with the form that they must have:
// older drafts and careless servers have others.
var shownKeywords = map[string]func(v any) bool{
	"title": isText, "description": isText, "pattern": isText, "format": isText,
	"enum": isList, "examples": isList, "required": isNames, "const": anything, "default": anything,
	"minimum": isNumber, "maximum": isNumber, "exclusiveMinimum": isNumber, "exclusiveMaximum": isNumber, "multipleOf": isNumber,
	"minLength": isCount, "maxLength": isCount, "minItems": isCount, "maxItems": isCount, "minProperties": isCount, "maxProperties": isCount,
	"uniqueItems": isBoolean, "deprecated": isBoolean, "readOnly": isBoolean, "writeOnly": isBoolean,
}

func anything(any) bool    { return true }
func isText(v any) bool    { _, ok := v.(string); return ok }
func isNumber(v any) bool  { _, ok := v.(float64); return ok }
func isBoolean(v any) bool { _, ok := v.(bool); return ok }
func isCount(v any) bool   { n, ok := ijson.Integer(v); return ok && n >= 0 }

func isList(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) > 0
}

// isNames reports whether a value is a list of different texts.
func isNames(v any) bool {
	list, ok := v.([]any)
	for i, name := range list {
		ok = ok && isText(name) && !slices.Contains(list[:i], name)
	}
	return ok
}

// describing are the keywords that only describe.
var describing = []string{"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}

// Shown is the schema as clients take it: an object at its root, and nowhere in it oneOf, anyOf, allOf, not, if, references,
// lists of types, schemas that are true or false, $schema, nor any other keyword that clients drop or turn into text. A
// reference within the schema is followed; what cannot be shown is open at its place. So a value that fits s fits what is
// shown of it, and not the other way round: s goes into [Tool.Also].
func (s *Schema) Shown() *Schema {
	if s == nil {
		s = newSchema(json.RawMessage(`{}`), nil)
	}
	w := &showing{whole: s.raw, left: maxShown, bytes: maxShownBytes}
	members := slices.DeleteFunc(membersOf(w.shown(s.raw, nil)), func(m member) bool { return m.name == "type" })
	shown := newSchema(objectOf(append([]member{{"type", json.RawMessage(`"object"`)}}, members...)), s.spellings)
	if bytes.Equal(shown.raw, s.raw) {
		return s
	}
	shown.fromUpstream()
	return shown
}

// showing is a schema on its way to what is shown of it.
type showing struct {
	whole json.RawMessage
	left  int // schemas
	bytes int // of keywords and names that are left
	depth int
}

// shown is what is shown of one schema; inside are the references that were followed to it.
func (w *showing) shown(raw json.RawMessage, inside []string) json.RawMessage {
	if w.left--; w.left < 0 || raw[0] != '{' || w.depth >= maxShownDepth {
		return json.RawMessage(`{}`)
	}
	w.depth++
	defer func() { w.depth-- }()
	members := w.followed(membersOf(raw), &inside)
	known := func(name string) bool {
		return slices.ContainsFunc(members, func(m member) bool { return m.name == name })
	}
	var kept []member
	for _, m := range members {
		switch m.name {
		case "type":
			if slices.Contains(types, m.text()) {
				kept = append(kept, m)
			}
		case "properties":
			if m.value[0] != '{' {
				continue
			}
			properties, room := w.properties(m.value, inside)
			if !room { // without them the rest would say another thing
				return json.RawMessage(`{}`)
			}
			kept = append(kept, member{m.name, properties})
		case "items":
			if m.value[0] == '{' && !known("prefixItems") {
				kept = append(kept, member{m.name, w.shown(m.value, inside)})
			}
		case "additionalProperties":
			if known("patternProperties") { // it speaks of those that these leave
				continue
			}
			if m.value[0] == '{' {
				m.value = w.shown(m.value, inside)
			}
			if m.value[0] == '{' || string(m.value) == "false" || string(m.value) == "true" {
				kept = append(kept, m)
			}
		default:
			fits := shownKeywords[m.name]
			if fits == nil || len(m.value) > w.bytes || !fits(m.decoded()) {
				continue
			}
			w.bytes -= len(m.value)
			kept = append(kept, m)
		}
	}
	return objectOf(kept)
}

// properties are what is shown of them; false: there is no room for their names.
func (w *showing) properties(raw json.RawMessage, inside []string) (shown json.RawMessage, room bool) {
	properties := membersOf(raw)
	for _, p := range properties {
		w.bytes -= len(p.name)
	}
	if w.bytes < 0 {
		w.bytes = 0
		return nil, false
	}
	for i, p := range properties {
		properties[i].value = w.shown(p.value, inside)
	}
	return objectOf(properties), true
}

// followed puts in place of a reference what it refers to, and keeps what describes it here. What refers to itself, to nothing
// or to something outside is open. The references that were followed are added to inside.
func (w *showing) followed(members []member, inside *[]string) []member {
	for {
		i := slices.IndexFunc(members, func(m member) bool { return m.name == "$ref" })
		if i < 0 {
			return members
		}
		here := slices.DeleteFunc(slices.Clone(members), func(m member) bool { return !slices.Contains(describing, m.name) })
		ref := members[i].text()
		target, ok := w.at(ref)
		if !ok || slices.Contains(*inside, ref) || len(target) == 0 || target[0] != '{' {
			return here
		}
		*inside = append(slices.Clip(*inside), ref)
		members = here
		for _, m := range membersOf(target) {
			if !slices.ContainsFunc(here, func(h member) bool { return h.name == m.name }) {
				members = append(members, m)
			}
		}
	}
}

// at is the part of the schema that a reference names by its place.
func (w *showing) at(ref string) (json.RawMessage, bool) {
	place, local := strings.CutPrefix(ref, "#")
	if !local || strings.ContainsAny(place, "%") || place != "" && place[0] != '/' {
		return nil, false
	}
	part := w.whole
	for _, token := range ijson.Pointer(place).Tokens() {
		if part[0] != '{' {
			return nil, false
		}
		members := membersOf(part)
		i := slices.IndexFunc(members, func(m member) bool { return m.name == token })
		if i < 0 {
			return nil, false
		}
		part = members[i].value
	}
	return part, true
}

// compacted is JSON without blanks, which was decoded before.
func compacted(raw json.RawMessage) json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return bytes.Clone(raw)
	}
	return compact.Bytes()
}
