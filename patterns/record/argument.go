package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
)

// How much of a call's arguments stands in a receipt. The whole is in the record.
const (
	maxArguments    = 32  // of one call
	maxArgumentName = 64  // bytes
	maxArgument     = 200 // bytes of a value
)

// Argument is an argument of a call as a receipt shows it. The zero Argument is none.
type Argument struct {
	Name  string          `json:"argument"`        // a longer one is cut
	Value json.RawMessage `json:"value,omitempty"` // as it was sent; a redacted one as it is recorded; nil: it was cut
	Begin string          `json:"begin,omitempty"` // of one that was cut: how it begins
	Bytes int             `json:"bytes,omitempty"` // of one that was cut: how long it is
}

// Text is the value for people, without line ends: its JSON, that it is redacted, or how it begins and how long it is. It is
// an outsider's: hidden characters are still in it.
func (a Argument) Text() string {
	switch {
	case a.Value == nil:
		return fmt.Sprintf("%s... (%d bytes in all)", a.Begin, a.Bytes)
	case isRedacted(a.Value):
		return "redacted"
	}
	return string(a.Value)
}

// argumentsOf are a call's arguments by their names, and how many more there are. They are nil where what was recorded is no
// object.
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

// argumentOf is a value behind its name, both cut where they are long.
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

// isRedacted reports whether a value stands in the record for one that was kept out of it.
func isRedacted(value json.RawMessage) bool {
	var v map[string]string
	return ijson.DecodeKnown(value, &v) == nil && len(v) == 1 && v[patterns.Redacted] != ""
}
