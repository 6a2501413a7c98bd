package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"patterngate/ijson"
)

// These are the bounds of a shown schema after references are followed. Parts beyond them accept any value.
const (
	maxShown      = 2000      // schemas
	maxShownBytes = 128 << 10 // of keywords and names
	maxShownDepth = 20
)

// shownKeywords are the keywords that contain no schema and that every client shows unchanged. The functions check
// their values, because older drafts and some servers use other forms.
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

// Shown returns the schema in the form that clients accept, with an object at its root. It follows references within
// the schema. The result contains none of these:
//
//   - oneOf, anyOf, allOf, not, if, and references
//   - lists of types, and schemas that are true or false
//   - $schema, and any other keyword that clients drop or turn into text
//
// A part that cannot be shown accepts any value. So a value that fits s also fits the result, but not the reverse: put
// s into [Tool.Also].
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

// showing builds the shown form of a schema.
type showing struct {
	whole json.RawMessage
	left  int // schemas that are left
	bytes int // bytes of keywords and names that are left
	depth int
}

// shown returns the shown form of one schema. inside are the references that were followed to reach it.
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
			if !room { // without them the rest would have another meaning
				return json.RawMessage(`{}`)
			}
			kept = append(kept, member{m.name, properties})
		case "items":
			if m.value[0] == '{' && !known("prefixItems") {
				kept = append(kept, member{m.name, w.shown(m.value, inside)})
			}
		case "additionalProperties":
			if known("patternProperties") { // it applies to members that patternProperties does not match
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

// properties returns the shown form of properties. False means that there is no room for their names.
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

// followed replaces a reference by its target and keeps the describing keywords beside it. A reference to itself, to
// nothing or to something outside accepts any value. followed adds the references to inside.
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

// at returns the part of the schema that a reference names by its place.
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

// compacted returns JSON without white space. The JSON was decoded before.
func compacted(raw json.RawMessage) json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return bytes.Clone(raw)
	}
	return compact.Bytes()
}
