package ijson_test

import (
	"encoding/json"
	"errors"
	"testing"

	"patterngate/ijson"
)

func TestRepeats(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false, `[]`: false, `5`: false, ``: false, `{`: false, `{"a":1,"a":1`: false, `{"a":1,"a"}`: false,
		`{"a":1,"b":1}`:                                 false,
		`{"a":1,"a":1}`:                                 true,
		`{"a":1,"A":1}`:                                 true,
		`{"a":1,"\u0061":1}`:                            true,
		`{"s":1,"` + "\u017f" + `":1}`:                  true,
		`{"params":{"a":1,"A":1}}`:                      true,
		`{"x":{"a":1,"A":1}}`:                           false,
		`{"x":{"a":1,"a":1}}`:                           true,
		`{"x":[[{"a":[{"a":1}],"a":1}]]}`:               true,
		`{"params":{"arguments":{"a":1,"a":1}}}`:        false,
		`{"params":{"Arguments":{"a":1,"a":1}}}`:        false,
		`{"params":{"x":{"arguments":{"a":1,"a":1}}}}`:  true,
		`{"arguments":{"a":1,"a":1}}`:                   true,
		`{"params":{"arguments":{},"arguments":{}}}`:    true,
		`{"params":[{"a":1,"a":1}]}`:                    true,
		`{"params":{"arguments":{"a":1,"a":1}},"id":[}`: false,
	} {
		if got := ijson.Repeats([]byte(text), "arguments"); got != want {
			t.Errorf("Repeats(%s) = %v, want %v", text, got, want)
		}
	}
}

// An object in which Decode finds a repeated member repeats one.
func FuzzRepeats(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,{"c":1,"c":2}]},"params":{"a":1,"b":2}}`))
	f.Add([]byte(`{"params":{"a":1,"\u0061":2}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		repeats := ijson.Repeats(text, "")
		_, err := ijson.Decode(text)
		fault, _ := errors.AsType[*ijson.Fault](err)
		if fault == nil || fault.Reason != ijson.ReasonRepeated || repeats {
			return
		}
		// Decode stops at the repeated member; what follows may be no JSON. An array is no message.
		if json.Valid(text) && text[0] == '{' {
			t.Errorf("Repeats(%q) = false; Decode: %v", text, err)
		}
	})
}
