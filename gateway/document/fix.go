package document

import (
	"patterngate/catalog"
	"patterngate/ijson"
)

// Fix is a repair that is certain: one close name or synonym, the number in a text, or the removal of a member without meaning
// (spec/surface.md section 1, "Sure repairs"). Patterngate offers it and does not apply it.
type Fix struct {
	At     ijson.Pointer
	Value  any  // the value at At afterwards
	Remove bool // At is removed
	// From is the place under a misspelt name, from which the value is moved to At. Empty: only At changes.
	From ijson.Pointer
}

// Apply returns root with the repair made, and true. It does not change root itself. If the repair does not fit root, Apply returns
// root and false.
func (f Fix) Apply(root any) (any, bool) {
	if f.Remove {
		return ijson.Remove(root, f.At)
	}
	fixed, ok := root, true
	if f.From != "" {
		fixed, ok = ijson.Remove(root, f.From)
	}
	if ok {
		fixed, ok = ijson.Set(fixed, f.At, f.Value)
	}
	if !ok {
		return root, false
	}
	return fixed, true
}

// Means sets DidYouMean to the allowed name that is close to the text at a place; "" for none. It adds a repair only if the text
// can only be a misspelling.
func (p *Problem) Means(at ijson.Pointer, got, near string) {
	p.DidYouMean = near
	if p.Unsure = !catalog.Misspelt(got, near); near != "" && !p.Unsure {
		p.Fix = &Fix{At: at, Value: near}
	}
}

// Rename offers to move the member called name to the right name; obj is the object at that place. wanted is the type of the right
// member, "" for any. The caller must decide about the member if right is empty, if name can mean something else, or if the value is
// not of the wanted type.
func (p *Problem) Rename(obj map[string]any, at ijson.Pointer, name, right, wanted string) {
	p.DidYouMean = right
	v := obj[name]
	if fix := Retype(wanted, at, v); fix != nil {
		v = fix.Value
	}
	_, fits := Typed(wanted, v)
	if p.Unsure = !fits || !catalog.Misspelt(name, right); right == "" || p.Unsure {
		p.Choose = RemoveOrRename
		return
	}
	p.Fix = &Fix{At: at.Member(right), Value: v, From: at.Member(name)}
}

// asText repairs a number or boolean where a text is wanted.
func asText(at ijson.Pointer, v any) *Fix {
	switch v.(type) {
	case float64, bool:
		return &Fix{At: at, Value: string(ijson.Canonical(v))}
	}
	return nil
}

// asBool repairs the texts "true" and "false".
func asBool(at ijson.Pointer, v any) *Fix {
	switch v {
	case "true":
		return &Fix{At: at, Value: true}
	case "false":
		return &Fix{At: at, Value: false}
	}
	return nil
}

// asNumber repairs the text of a number.
func asNumber(at ijson.Pointer, v any, whole bool) *Fix {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	n, err := ijson.Decode([]byte(ijson.Trim(s)))
	if err != nil {
		return nil
	}
	_, isNumber := n.(float64)
	if _, isWhole := ijson.Integer(n); !isNumber || whole && !isWhole {
		return nil
	}
	return &Fix{At: at, Value: n}
}

// AsObject returns the repair of a text that holds a JSON object, as when arguments were encoded twice; nil for any other value.
func AsObject(at ijson.Pointer, v any) *Fix {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	inner, err := ijson.Decode([]byte(s))
	if _, isObject := inner.(map[string]any); err != nil || !isObject {
		return nil
	}
	return &Fix{At: at, Value: inner}
}

// Retype returns the sure repair of a value of the wrong type: "42" where a number is wanted, 42 where a text is wanted. It is nil if
// no repair is sure.
func Retype(want string, at ijson.Pointer, v any) *Fix {
	switch want {
	case "string":
		return asText(at, v)
	case "boolean":
		return asBool(at, v)
	case "integer", "number":
		return asNumber(at, v, want == "integer")
	}
	return nil
}

// Typed reports whether a value is of a JSON type, "" for any, and returns it normalised: a text without blanks around it. A blank
// text is not of type string.
func Typed(kind string, v any) (any, bool) {
	ok := true
	switch kind {
	case "integer":
		_, ok = ijson.Integer(v)
	case "number":
		_, ok = v.(float64)
	case "boolean":
		_, ok = v.(bool)
	case "string":
		s, ok := Text(v)
		return s, ok
	case "array":
		_, ok = v.([]any)
	case "object":
		_, ok = v.(map[string]any)
	}
	return v, ok
}
