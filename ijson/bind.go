package ijson

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeInto decodes text as [Decode] does and stores the value in target as [Bind] does.
//
// A *[Fault] reports an error in the text; do not use target then, because it may be partly filled. Any other error
// means that the target itself is not suitable.
func DecodeInto(text []byte, target any) error {
	v, err := Decode(text)
	if err != nil {
		return err
	}
	err = Bind(v, target)
	if fault, ok := errors.AsType[*Fault](err); ok {
		fault.Offset = offsetOf(text, fault.Pointer)
	}
	return err
}

// Bind stores a decoded value in the variable that target points to. It uses the names and the simple options of
// encoding/json's struct tags.
//
// Member names are case-sensitive. Bind rejects unknown members and values of another type. It reads 1.0 as an integer,
// but not 1e16, which is beyond [MaxInteger]. A member that is absent leaves its field unchanged; null sets the field
// to zero.
//
// Bind returns the errors of [DecodeInto]. The Offset of a fault is 0, because there is no text.
func Bind(v, target any) error {
	if to := reflect.ValueOf(target); to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("binding to %T: want a pointer that is not nil", target)
	}
	text := encoder{inexact: true}.append(nil, v) // writes whole numbers as integers, as integer fields need
	err := json.Unmarshal(text, target, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok || semantic.JSONKind == jsontext.KindInvalid {
		return fmt.Errorf("binding to %T: %w", target, err)
	}
	return &Fault{Pointer: Pointer(semantic.JSONPointer), Reason: bindReason(semantic)}
}

// bindReason returns the reason of a fault: the expected and the actual value.
func bindReason(err *json.SemanticError) string {
	got := kindName(err.JSONKind)
	if err.JSONKind == jsontext.KindNumber && len(err.JSONValue) > 0 {
		got = string(err.JSONValue) // the right kind, but not a number that the type can hold
	} else if errors.Is(err, json.ErrUnknownName) {
		return ReasonUnknown
	} else if err.Err != nil {
		return notAccepted(readable(err.Err.Error()))
	}
	return wantGot(wanted(err.GoType), got)
}

// wanted names the JSON values that a Go type accepts.
func wanted(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return aBool
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Uint, reflect.Uint64:
		return unsignedInteger
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return integerFor(t.Kind().String())
	case reflect.Float32:
		return floatFor32
	case reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return base64Text
		}
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	case reflect.Pointer:
		return wanted(t.Elem())
	}
	return t.String()
}

func kindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindBeginObject:
		return "object"
	case jsontext.KindBeginArray:
		return "array"
	}
	return k.String()
}

// offsetOf returns the offset in a valid text at which the value at p begins.
func offsetOf(text []byte, p Pointer) int {
	r := reader{text: text, tokens: jsontext.NewDecoder(bytes.NewBuffer(text))}
	for {
		if _, fault := r.next(); fault != nil {
			return 0
		}
		container, length := r.tokens.StackIndex(r.tokens.StackDepth())
		isName := container == jsontext.KindBeginObject && length%2 == 1
		if !isName && Pointer(r.tokens.StackPointer()) == p {
			return r.start
		}
	}
}
