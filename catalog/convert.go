package catalog

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
)

// The conversions in this file are short cuts for [ijson.Bind] and [ijson.Of], which go through a text. They handle the
// simple types that most tools use, ten times as fast. If a short cut is nil or returns false, the caller uses the long
// way, whose result or error is the right one.
type (
	binder func(target reflect.Value, args map[string]any) bool
	writer func(v reflect.Value) (any, bool)
)

// field is one member of a struct as encoding/json sees it.
type field struct {
	index     int
	name      string
	omitEmpty bool
	writes    writer
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// fieldsOf reads a struct's tags. It returns false if they use more than own names and omitempty.
func fieldsOf(t reflect.Type) ([]field, bool) {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if !f.IsExported() && !f.Anonymous || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous || !plainName.MatchString(name) || options != "" && options != "omitempty" ||
			slices.ContainsFunc(fields, func(other field) bool { return other.name == name }) {
			return nil, false
		}
		fields = append(fields, field{index: i, name: name, omitEmpty: options == "omitempty"})
	}
	return fields, true
}

var marshalers = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler](),
	reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

// hasOwnForm reports whether a type defines its own JSON or text form.
func hasOwnForm(t reflect.Type) bool {
	for _, m := range marshalers {
		if t.Implements(m) || reflect.PointerTo(t).Implements(m) {
			return true
		}
	}
	return false
}

// binderOf returns a short cut for structs of strings, booleans, int64s and float64s.
func binderOf(t reflect.Type) binder {
	if t.Kind() != reflect.Struct || hasOwnForm(t) {
		return nil
	}
	fields, ok := fieldsOf(t)
	if !ok {
		return nil
	}
	indexes := make(map[string]int, len(fields))
	for _, f := range fields {
		if hasOwnForm(t.Field(f.index).Type) {
			return nil
		}
		indexes[f.name] = f.index
	}
	return func(target reflect.Value, args map[string]any) bool {
		for name, v := range args {
			i, ok := indexes[name]
			if !ok || !bindScalar(target.Field(i), v) {
				return false
			}
		}
		return true
	}
}

func bindScalar(target reflect.Value, v any) bool {
	switch v := v.(type) {
	case string:
		if target.Kind() == reflect.String {
			target.SetString(v)
			return true
		}
	case bool:
		if target.Kind() == reflect.Bool {
			target.SetBool(v)
			return true
		}
	case float64:
		switch target.Kind() {
		case reflect.Float64:
			target.SetFloat(v)
			return true
		case reflect.Int64:
			if n, ok := ijson.Integer(v); ok {
				target.SetInt(n)
				return true
			}
		}
	}
	return false
}

// writerOf returns a short cut for strings, booleans, numbers, and pointers, slices and structs of them.
func writerOf(t reflect.Type) writer {
	if hasOwnForm(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(v reflect.Value) (any, bool) { return v.Bool(), true }
	case reflect.String:
		return func(v reflect.Value) (any, bool) { return v.String(), utf8.ValidString(v.String()) }
	case reflect.Float64:
		return func(v reflect.Value) (any, bool) { return writeNumber(v.Float()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(v reflect.Value) (any, bool) { return writeInteger(v.Int()) }
	case reflect.Pointer, reflect.Slice:
		return writerOfMany(t)
	case reflect.Struct:
		return writerOfStruct(t)
	}
	return nil
}

func writeNumber(f float64) (any, bool) {
	if f == 0 {
		return 0.0, true // minus zero reads back as zero
	}
	whole := f == math.Trunc(f)
	return f, !math.IsNaN(f) && !math.IsInf(f, 0) && !(whole && math.Abs(f) > ijson.MaxInteger)
}

func writeInteger(n int64) (any, bool) {
	return float64(n), n <= ijson.MaxInteger && n >= -ijson.MaxInteger
}

// writerOfMany returns a short cut for pointers and slices; a nil one becomes null.
func writerOfMany(t reflect.Type) writer {
	item := writerOf(t.Elem())
	if item == nil || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		return func(v reflect.Value) (any, bool) {
			if v.IsNil() {
				return nil, true
			}
			return item(v.Elem())
		}
	}
	return func(v reflect.Value) (any, bool) {
		if v.IsNil() {
			return nil, true
		}
		list := make([]any, v.Len())
		for i := range list {
			var ok bool
			if list[i], ok = item(v.Index(i)); !ok {
				return nil, false
			}
		}
		return list, true
	}
}

func writerOfStruct(t reflect.Type) writer {
	fields, ok := fieldsOf(t)
	if !ok {
		return nil
	}
	for i, f := range fields {
		if fields[i].writes = writerOf(t.Field(f.index).Type); fields[i].writes == nil {
			return nil
		}
	}
	return func(v reflect.Value) (any, bool) {
		object := make(map[string]any, len(fields))
		for _, f := range fields {
			value := v.Field(f.index)
			if f.omitEmpty && isEmpty(value) {
				continue
			}
			written, ok := f.writes(value)
			if !ok {
				return nil, false
			}
			object[f.name] = written
		}
		return object, true
	}
}

// isEmpty reports whether omitempty omits a value; it never omits a struct.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
