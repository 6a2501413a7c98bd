package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"patterngate/ijson"
)

// Convert returns a decoded value as an expression reads it under the type: whole numbers become ints. It fails with
// [ErrInput], naming at, if the value does not fit. It does not change the value.
func (t Type) Convert(v any, at string) (any, error) {
	if v == nil {
		if t.null || t.kind == DynKind {
			return nil, nil
		}
		return nil, t.refuse(at)
	}
	switch t.kind {
	case DynKind:
		return v, nil
	case ListKind:
		return t.takeList(v, at)
	case MapKind, ObjectKind:
		return t.takeMembers(v, at)
	case TimestampKind:
		return t.takeTime(v, at)
	}
	switch v := v.(type) {
	case string:
		if t.kind == StringKind {
			return v, nil
		}
	case bool:
		if t.kind == BoolKind {
			return v, nil
		}
	case float64:
		return t.takeNumber(v, at)
	case int64:
		return t.takeWhole(v, at)
	case int:
		return t.takeWhole(int64(v), at)
	}
	return nil, t.refuse(at)
}

func (t Type) refuse(at string) error { return fmt.Errorf(typeNeededAt, ErrInput, at, t) }

func (t Type) takeNumber(v float64, at string) (any, error) {
	switch t.kind {
	case DoubleKind:
		return v, nil
	case IntKind:
		if n, ok := ijson.Integer(v); ok {
			return types.Int(n), nil
		}
	}
	return nil, t.refuse(at)
}

func (t Type) takeWhole(v int64, at string) (any, error) {
	switch {
	case t.kind == IntKind:
		return types.Int(v), nil
	case t.kind == DoubleKind && v <= ijson.MaxInteger && v >= -ijson.MaxInteger:
		return float64(v), nil
	}
	return nil, t.refuse(at)
}

func (t Type) takeTime(v any, at string) (any, error) {
	switch v := v.(type) {
	case time.Time:
		return v, nil
	case string:
		if read, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return read, nil
		}
	}
	return nil, t.refuse(at)
}

func (t Type) takeList(v any, at string) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, t.refuse(at)
	}
	if t.item.kind == DynKind {
		return list, nil
	}
	taken := make([]any, len(list))
	for i, item := range list {
		var err error
		if taken[i], err = t.item.Convert(item, at); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// takeMembers converts the members of a map or object. Members that the type does not know stay unchanged: no text can name
// them.
func (t Type) takeMembers(v any, at string) (any, error) {
	members, ok := v.(map[string]any)
	if !ok {
		if texts, isTexts := v.(map[string]string); isTexts && t.kind == MapKind && t.item.kind == StringKind {
			return texts, nil
		}
		return nil, t.refuse(at)
	}
	if t.kind == MapKind && t.item.kind == DynKind {
		return members, nil
	}
	taken := make(map[string]any, len(members))
	for name, member := range members {
		memberType := Dyn()
		if t.kind == MapKind {
			memberType = *t.item
		} else if f, known := t.object.field(name); known {
			memberType = f.Type
		}
		var err error
		if taken[name], err = memberType.Convert(member, name); err != nil {
			return nil, fmt.Errorf(errorIn, err, at)
		}
	}
	return taken, nil
}

// Accepts reports whether a decoded value is of the type. It does not look at items and members: those of an expression were
// checked when it was compiled.
func (t Type) Accepts(v any) bool {
	if v == nil {
		return t.null || t.kind == DynKind
	}
	switch v := v.(type) {
	case bool:
		return t.kind == BoolKind || t.kind == DynKind
	case float64:
		return t.kind == DoubleKind || t.kind == DynKind || t.kind == IntKind && v == math.Trunc(v)
	case string:
		return t.kind == StringKind || t.kind == TimestampKind || t.kind == DynKind
	case []any:
		return t.kind == ListKind || t.kind == DynKind
	case map[string]any:
		return t.kind == MapKind || t.kind == ObjectKind || t.kind == DynKind
	}
	return false
}

// Limits of a result. An expression can name one value many times, so the result is measured as it will be written.
const (
	maxValues = 200_000
	maxBytes  = 8 << 20
)

// giver writes a result as a decoded value, and counts what is left of the limits.
type giver struct{ values, bytes int }

// Decode returns a value of CEL as a decoded value. It fails with [ErrValue] if the value cannot be written as JSON, or is too
// large.
func Decode(v ref.Val) (any, error) {
	g := &giver{values: maxValues, bytes: maxBytes}
	return g.give(v, ijson.MaxDepth)
}

func (g *giver) give(v ref.Val, depth int) (any, error) {
	if g.values--; g.values < 0 || depth < 0 {
		return nil, fmt.Errorf(tooLarge, ErrValue)
	}
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return whole(int64(v))
	case types.Uint:
		if v > ijson.MaxInteger {
			return nil, fmt.Errorf(integerRange, ErrValue)
		}
		return float64(v), nil
	case types.Double:
		return fraction(float64(v))
	case types.String:
		return g.text(string(v))
	case types.Timestamp:
		return g.text(v.Time.Format(time.RFC3339Nano))
	case types.Duration:
		return g.text(strconv.FormatFloat(v.Duration.Seconds(), 'f', -1, 64) + "s")
	case traits.Mapper:
		return g.members(v, depth)
	case traits.Lister:
		return g.list(v, depth)
	}
	return nil, fmt.Errorf(valueNoJSONForm, ErrValue, v.Type().TypeName())
}

func whole(n int64) (any, error) {
	if n > ijson.MaxInteger || n < -ijson.MaxInteger {
		return nil, fmt.Errorf(integerRange, ErrValue)
	}
	return float64(n), nil
}

// fraction refuses numbers that JSON cannot write, and whole numbers that are too large to be read as integers.
func fraction(f float64) (any, error) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil, fmt.Errorf(notFinite, ErrValue)
	case f == math.Trunc(f) && math.Abs(f) > ijson.MaxInteger:
		return nil, fmt.Errorf(wholeNumberRange, ErrValue)
	}
	if f == 0 {
		return 0.0, nil // minus zero reads back as zero
	}
	return f, nil
}

func (g *giver) text(s string) (any, error) {
	if g.bytes -= len(s); g.bytes < 0 {
		return nil, fmt.Errorf(tooLarge, ErrValue)
	}
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf(valueNotUTF8, ErrValue)
	}
	return s, nil
}

func (g *giver) list(l traits.Lister, depth int) (any, error) {
	out := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		item, err := g.give(it.Next(), depth-1)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

func (g *giver) members(m traits.Mapper, depth int) (any, error) {
	out := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf(nameNotText, ErrValue)
		}
		if _, err := g.text(string(name)); err != nil {
			return nil, err
		}
		value, err := g.give(m.Get(key), depth-1)
		if err != nil {
			return nil, err
		}
		out[string(name)] = value
	}
	return out, nil
}

// ConvertLoosely is [Type.Convert] for recorded values. A part that does not fit stays unchanged, so that only an expression
// that reads this part fails.
func (t Type) ConvertLoosely(v any) any {
	switch v := v.(type) {
	case float64:
		if n, ok := ijson.Integer(v); ok && t.kind == IntKind {
			return types.Int(n)
		}
	case []any:
		if t.kind != ListKind || t.item.Verbatim() {
			return v
		}
		taken := make([]any, len(v))
		for i, item := range v {
			taken[i] = t.item.ConvertLoosely(item)
		}
		return taken
	case map[string]any:
		if t.Verbatim() || t.kind != MapKind && t.kind != ObjectKind {
			return v
		}
		taken := make(map[string]any, len(v))
		for name, member := range v {
			taken[name] = t.MemberType(name).ConvertLoosely(member)
		}
		return taken
	}
	return v
}

// Verbatim reports whether [Type.ConvertLoosely] returns each value unchanged: the type holds no int.
func (t Type) Verbatim() bool {
	switch t.kind {
	case IntKind:
		return false
	case ListKind, MapKind:
		return t.item.Verbatim()
	case ObjectKind:
		return !slices.ContainsFunc(t.object.fields, func(f Field) bool { return !f.Type.Verbatim() })
	}
	return true
}
