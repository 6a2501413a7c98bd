package record

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
)

// These are the limits for a call's arguments in a receipt. The record holds all of them.
const (
	maxArguments    = 32  // of one call
	maxArgumentName = 64  // bytes
	maxArgument     = 200 // bytes of a value
)

// Argument is an argument of a call in the form that a receipt shows. The zero Argument is none.
type Argument struct {
	Name  string          `json:"argument"`        // a long name is cut
	Value json.RawMessage `json:"value,omitempty"` // as it was sent; a redacted value as it is recorded; nil: it was cut
	Begin string          `json:"begin,omitempty"` // the beginning of a cut value
	Bytes int             `json:"bytes,omitempty"` // the full length of a cut value
}

// Text returns the value for people, without line ends: its JSON, the word redacted, or its beginning and length. The text is outside
// input and may contain hidden characters.
func (a Argument) Text() string {
	switch {
	case a.Value == nil:
		return cutText(a.Begin, a.Bytes)
	case isRedacted(a.Value):
		return isRedactedText
	}
	return string(a.Value)
}

// argumentsOf returns a call's arguments by name, and how many more there are. It returns nil if the recorded value is not an object.
func argumentsOf(input json.RawMessage) (list []Argument, left int) {
	var args map[string]json.RawMessage
	if ijson.DecodeKnown(input, &args) != nil || args == nil {
		return nil, 0
	}
	names := slices.Sorted(maps.Keys(args))
	shown := names[:min(len(names), maxArguments)]
	list = make([]Argument, len(shown))
	for i, name := range shown {
		list[i] = argumentOf(name, args[name])
	}
	return list, len(names) - len(shown)
}

// argumentOf returns the argument of a name and a value. It cuts both if they are long.
func argumentOf(name string, value json.RawMessage) Argument {
	a := Argument{Name: name, Value: value}
	if len(name) > maxArgumentName {
		a.Name = ijson.Cut(name, maxArgumentName) + "..."
	}
	if len(a.Value) > maxArgument {
		a = Argument{Name: a.Name, Begin: ijson.Cut(string(a.Value), maxArgument), Bytes: len(a.Value)}
	}
	return a
}

// isRedacted reports whether a value in the record replaces a redacted one.
func isRedacted(value json.RawMessage) bool {
	var v map[string]string
	return ijson.DecodeKnown(value, &v) == nil && len(v) == 1 && v[patterns.Redacted] != ""
}
