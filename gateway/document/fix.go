package document

import (
	"patterngate/catalog"
	"patterngate/ijson"
)

// Fix is a repair whose meaning is certain: one near name or known synonym, the number in a text, or the removal of a member without
// meaning (spec/surface.md section 1, "Sure repairs"). Patterngate offers it and never applies it here.
type Fix struct {
	At     ijson.Pointer
	Value  any  // what stands at At afterwards
	Remove bool // nothing stands at At afterwards
	// From is where the value stood under a misspelt name, and stands no more; empty: it only changes at At.
	From ijson.Pointer
}

// Apply returns root with the repair made, and true; root itself never changes. Where the repair does not fit root,
// it returns root as it was, and false.
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

// Means says which allowed name comes near the text that stands at a place; "" is none. Only a misspelling is repaired.
func (p *Problem) Means(at ijson.Pointer, got, near string) {
	p.DidYouMean = near
	if p.Unsure = !catalog.Misspelt(got, near); near != "" && !p.Unsure {
		p.Fix = &Fix{At: at, Value: near}
	}
}

// Rename says that the member under name in obj, which stands at that place, was meant to have the right name. The caller must
// decide about the member where there is no right name, where it may be another thing's, and where the value, of a type that is
// wanted under the right name ("": any), does not fit there.
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

// asText repairs a number or boolean where just a text is wanted.
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

// AsObject repairs the text of an object, as of arguments that were encoded twice.
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

// Retype is the sure repair of a value that has just the other type: "42" where a number is wanted, 42 where a
// text is. It is nil where nothing is sure.
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

// Typed checks a value's type and normalises it: texts are stripped and must not be blank.
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
