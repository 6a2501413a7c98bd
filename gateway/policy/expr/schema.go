package expr

import (
	"maps"
	"math"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// FromSchema returns the type of the arguments of a tool by their schema (spec/config.md section 5.2, types from schemas). A
// nil schema is not known yet: its type is dyn. Faults name the tool.
func FromSchema(s *catalog.Schema, tool string) Type {
	return fromSchema(s, tool, "argument")
}

// ResultOf returns the type of the result of a tool by its schema. A nil schema is dyn.
func ResultOf(s *catalog.Schema, tool string) Type {
	return fromSchema(s, tool, "member")
}

func fromSchema(s *catalog.Schema, tool, noun string) Type {
	if s == nil {
		return Dyn()
	}
	root, err := ijson.Decode(s.JSON())
	if err != nil {
		return Dyn()
	}
	r := &schemaReader{root: root, known: map[string]*Type{}}
	t := r.read(root)
	members, _ := root.(map[string]any)
	if noun == "argument" && t.kind == DynKind && members["properties"] != nil && members["type"] == nil && !r.open(members) {
		t = r.object(members) // arguments are an object even if the schema does not say so
	}
	if t.kind != ObjectKind {
		return t
	}
	o := &object{tool: tool, noun: noun}
	for _, p := range s.Properties() { // in the order of the text
		if f, ok := t.object.field(p.Name); ok {
			o.fields = append(o.fields, f)
		}
	}
	if len(o.fields) != len(t.object.fields) { // they are behind a reference
		o.fields = t.object.fields
	}
	t.object = o
	return t
}

// schemaReader makes types of the parts of a schema. Each reference is read once, so that a schema cannot grow without bounds.
type schemaReader struct {
	root  any
	known map[string]*Type // by reference; nil: being read
}

// read returns the type of the values that fit a schema. Where the schema does not say it for sure, the type is dyn.
func (r *schemaReader) read(schema any) Type {
	s, ok := schema.(map[string]any)
	if !ok || r.open(s) {
		return Dyn()
	}
	if ref, ok := s["$ref"].(string); ok {
		return r.follow(ref, s)
	}
	if values, ok := enumOf(s); ok {
		return typeOfValues(values, s["type"])
	}
	name, null, ok := typeName(s["type"])
	if !ok {
		return Dyn()
	}
	t := r.named(name, s)
	t.null = null && t.kind != DynKind
	return t
}

// open reports whether other keywords of a schema also limit its values.
func (r *schemaReader) open(s map[string]any) bool {
	return slices.ContainsFunc([]string{"anyOf", "oneOf", "allOf", "if", "$dynamicRef", "$recursiveRef"}, func(k string) bool { return s[k] != nil })
}

// follow returns the type behind a reference within the schema. A reference into itself, or to another document, is dyn.
func (r *schemaReader) follow(ref string, s map[string]any) Type {
	if s["type"] != nil || s["properties"] != nil || s["enum"] != nil || s["const"] != nil {
		return Dyn() // the reference and the keywords both apply
	}
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return Dyn()
	}
	if t, seen := r.known[ref]; seen {
		if t == nil {
			return Dyn()
		}
		return *t
	}
	target, ok := reach(r.root, ijson.Pointer(path).Tokens())
	if !ok {
		return Dyn()
	}
	r.known[ref] = nil
	t := r.read(target)
	r.known[ref] = &t
	return t
}

// reach finds a schema within a schema.
func reach(v any, tokens []string) (any, bool) {
	for _, token := range tokens {
		o, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = o[token]; !ok {
			return nil, false
		}
	}
	return v, true
}

// typeName reads the keyword type: one name, alone or with null.
func typeName(v any) (name string, null, ok bool) {
	if name, ok = v.(string); ok {
		return name, name == "null", true
	}
	list, _ := v.([]any)
	for _, item := range list {
		switch text, _ := item.(string); {
		case text == "null":
			null = true
		case name == "":
			name = text
		default:
			return "", false, false
		}
	}
	if name == "" && null {
		name = "null"
	}
	return name, null, name != ""
}

// named returns the type for a name of the keyword type.
func (r *schemaReader) named(name string, s map[string]any) Type {
	switch name {
	case "integer":
		return Int()
	case "number":
		return Double()
	case "string":
		return String()
	case "boolean":
		return Bool()
	case "null":
		return Type{kind: NullKind, null: true}
	case "array":
		if s["prefixItems"] != nil {
			return List(Dyn())
		}
		return List(r.read(s["items"]))
	case "object":
		return r.object(s)
	}
	return Dyn()
}

// object returns the type of an object: with members if the schema lists them, else a map.
func (r *schemaReader) object(s map[string]any) Type {
	properties, ok := s["properties"].(map[string]any)
	switch values := s["additionalProperties"]; {
	case ok && s["patternProperties"] == nil:
	case ok || s["patternProperties"] != nil || values == nil || values == true:
		return Map(Dyn())
	case values == false:
	default:
		return Map(r.read(values))
	}
	required, _ := s["required"].([]any)
	t := Object()
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		optional := !slices.Contains(required, any(name))
		t.object.fields = append(t.object.fields, Field{Name: name, Type: r.read(properties[name]), Optional: optional})
	}
	return t
}

// enumOf returns the values of the keyword enum or const.
func enumOf(s map[string]any) ([]any, bool) {
	if v, ok := s["const"]; ok {
		return []any{v}, true
	}
	values, ok := s["enum"].([]any)
	return values, ok && len(values) > 0
}

// typeOfValues returns the type that has only these values. Whole numbers are int unless the schema calls them numbers.
func typeOfValues(values []any, named any) Type {
	var t Type
	null := false
	for _, v := range values {
		if v == nil {
			null = true
			continue
		}
		one := Type{kind: kindOf(v)}
		switch {
		case one.kind == DynKind:
			return Dyn()
		case t.values == nil:
			t.kind = one.kind
		case t.kind == IntKind && one.kind == DoubleKind, t.kind == DoubleKind && one.kind == IntKind:
			t.kind = DoubleKind
		case t.kind != one.kind:
			return Dyn()
		}
		t.values = append(t.values, v)
	}
	if t.values == nil {
		return Type{kind: NullKind, null: true}
	}
	if name, _, _ := typeName(named); t.kind == IntKind && name == "number" {
		t.kind = DoubleKind
	}
	t.null = null
	return t
}

func kindOf(v any) Kind {
	switch v := v.(type) {
	case string:
		return StringKind
	case bool:
		return BoolKind
	case float64:
		if v == math.Trunc(v) {
			return IntKind
		}
		return DoubleKind
	}
	return DynKind
}
