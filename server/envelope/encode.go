package envelope

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"patterngate/ijson"
)

// AppendJSON appends a result, or a part of one, as JSON. Structs follow their json tags and the order of their fields;
// decoded values are in canonical form. For the types of results it writes the same as encoding/json, without the
// escapes for HTML. It takes a third of the time, and every call uses it. An error names a value that is not JSON, such
// as NaN.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return AppendString(dst, v), nil
	case map[string]any:
		return ijson.AppendChecked(dst, v)
	}
	return appendReflected(dst, reflect.ValueOf(v))
}

func appendReflected(dst []byte, v reflect.Value) ([]byte, error) {
	switch v.Kind() {
	case reflect.String:
		return AppendString(dst, v.String()), nil
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case reflect.Float64:
		return ijson.AppendChecked(dst, v.Float())
	case reflect.Interface:
		return AppendJSON(dst, v.Interface())
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return appendReflected(dst, v.Elem())
	case reflect.Slice:
		return appendList(dst, v)
	case reflect.Map:
		return appendMap(dst, v)
	case reflect.Struct:
		return appendStruct(dst, v)
	}
	return dst, errors.New(notJSON(v.Type().String()))
}

// AppendString appends a text as a JSON string. It copies a text directly if no character needs an escape or is outside
// ASCII.
func AppendString(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return ijson.Append(dst, text)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}

func appendList(dst []byte, v reflect.Value) (_ []byte, err error) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() { // encoded by package ijson
		return append(dst, v.Bytes()...), nil
	}
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendReflected(dst, v.Index(i)); err != nil {
			return dst, fmt.Errorf("/%d%w", i, err)
		}
	}
	return append(dst, ']'), nil
}

// appendMap appends a map, sorted by name.
func appendMap(dst []byte, v reflect.Value) (_ []byte, err error) {
	if object, ok := v.Interface().(map[string]any); ok {
		return ijson.AppendChecked(dst, object)
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, key.String()), ':')
		if dst, err = appendReflected(dst, v.MapIndex(key)); err != nil {
			return dst, fmt.Errorf("/%s%w", key.String(), err)
		}
	}
	return append(dst, '}'), nil
}

// presenting is a struct that is encoded as the value that Shown returns.
type presenting interface{ Shown() any }

func appendStruct(dst []byte, v reflect.Value) (_ []byte, err error) {
	plan := planOf(v.Type())
	if plan.shows {
		return AppendJSON(dst, v.Interface().(presenting).Shown())
	}
	dst = append(dst, '{')
	begin := len(dst)
	for _, m := range plan.members {
		field := v.Field(m.index[0])
		for _, i := range m.index[1:] {
			field = field.Field(i)
		}
		if m.left(field) {
			continue
		}
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		if dst, err = appendReflected(append(dst, m.quoted...), field); err != nil {
			return dst, fmt.Errorf("/%s%w", m.name, err)
		}
	}
	return append(dst, '}'), nil
}

// member is one member of a struct's object.
type member struct {
	name      string
	quoted    string // with its colon
	index     []int
	omitEmpty bool // omitted if it is false, 0, "", nil, or an empty list or map
	omitZero  bool // omitted if it is its type's zero value
}

func (m member) left(field reflect.Value) bool {
	if m.omitEmpty {
		switch field.Kind() {
		case reflect.Slice, reflect.Map, reflect.String:
			return field.Len() == 0
		}
	}
	return (m.omitEmpty || m.omitZero) && field.IsZero()
}

// plan says how a struct type is encoded.
type plan struct {
	members []member
	shows   bool // it is a [presenting]
}

// plans caches the plan of each struct type, so that its tags are read only once.
var plans sync.Map

// fieldsOf returns the members of a struct type.
func fieldsOf(t reflect.Type) []member { return planOf(t).members }

func planOf(t reflect.Type) plan {
	if known, ok := plans.Load(t); ok {
		return known.(plan)
	}
	p := plan{shows: t.Implements(reflect.TypeFor[presenting]())}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		if f.Anonymous || !f.IsExported() || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		p.members = append(p.members, member{
			name: name, quoted: `"` + name + `":`, index: f.Index,
			omitEmpty: strings.Contains(options, "omitempty"), omitZero: strings.Contains(options, "omitzero"),
		})
	}
	plans.Store(t, p)
	return p
}
