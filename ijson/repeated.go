package ijson

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Repeats reports whether an object of a JSON-RPC message has a member twice. It searches the message, its params and
// all values in them.
//
// In the message and its params, names that differ only in letter case are equal, because encoding/json reads them so.
// The parameter skip names a member of params whose value is not searched; "" names none. For text that is not JSON,
// Repeats returns false.
func Repeats(message []byte, skip string) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(message), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	repeats, err := envelopeRepeats(d, func(name string) (bool, error) {
		if d.PeekKind() != jsontext.KindBeginObject || !strings.EqualFold(name, "params") {
			return valueRepeats(d)
		}
		return envelopeRepeats(d, func(name string) (bool, error) {
			if skip != "" && strings.EqualFold(name, skip) {
				return false, d.SkipValue()
			}
			return valueRepeats(d)
		})
	})
	return err == nil && repeats
}

// envelopeRepeats reads an object and calls value to read the value of each member. It reads to the end, so that text
// that is not JSON is an error.
func envelopeRepeats(d *jsontext.Decoder, value func(name string) (bool, error)) (repeats bool, err error) {
	if kind := d.PeekKind(); kind != jsontext.KindBeginObject {
		return false, d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return false, err
	}
	known := map[string]bool{}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return false, err
		}
		name := token.String()
		folded := foldName(name)
		repeats = repeats || known[folded]
		known[folded] = true
		below, err := value(name)
		if err != nil {
			return false, err
		}
		repeats = repeats || below
	}
	_, err = d.ReadToken()
	return repeats, err
}

// valueRepeats reads a value and reports whether an object in it has a member twice.
func valueRepeats(d *jsontext.Decoder) (bool, error) {
	value, err := d.ReadValue()
	if err != nil || len(value) == 0 || value[0] != '{' && value[0] != '[' {
		return false, err
	}
	return !value.IsValid(jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(true)), nil
}

// foldName returns the same text for all names that [strings.EqualFold] finds equal.
func foldName(name string) string { return strings.ToLower(strings.ToUpper(name)) }
