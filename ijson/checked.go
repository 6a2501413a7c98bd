package ijson

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// AppendChecked appends as [Append] does, for a value that may not be a decoded value, such as the result of a tool.
// These are errors: other Go types, NaN, infinities, text that is not UTF-8, and nesting beyond [MaxDepth]. On an error
// it returns dst unchanged.
func AppendChecked(dst []byte, v any) ([]byte, error) {
	if f := check(v, "", 0); f != nil {
		return dst, f
	}
	return Append(dst, v), nil
}

// check returns the first fault in v. at is the place of v; depth counts the containers around v.
func check(v any, at Pointer, depth int) *Fault {
	switch v := v.(type) {
	case nil, bool:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &Fault{Pointer: at, Reason: ReasonNumberRange}
		}
		return nil
	case string:
		if !utf8.ValidString(v) {
			return &Fault{Pointer: at, Reason: ReasonNotUTF8}
		}
		return nil
	case []any:
		return checkList(v, at, depth)
	case map[string]any:
		return checkMembers(v, at, depth)
	}
	return &Fault{Pointer: at, Reason: fmt.Sprintf("a Go %T is not a JSON value", v)}
}

func checkList(list []any, at Pointer, depth int) *Fault {
	if depth >= MaxDepth {
		return &Fault{Pointer: at, Reason: ReasonTooDeep}
	}
	for i, v := range list {
		if f := check(v, at, depth+1); f != nil {
			f.Pointer = at.Index(i) + f.Pointer[len(at):]
			return f
		}
	}
	return nil
}

func checkMembers(members map[string]any, at Pointer, depth int) *Fault {
	if depth >= MaxDepth {
		return &Fault{Pointer: at, Reason: ReasonTooDeep}
	}
	for name, v := range members {
		if !utf8.ValidString(name) {
			return &Fault{Pointer: at, Reason: nameNotUTF8}
		}
		if f := check(v, at, depth+1); f != nil {
			f.Pointer = at.Member(name) + f.Pointer[len(at):]
			return f
		}
	}
	return nil
}
