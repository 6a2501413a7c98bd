package ijson

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDecodeKnown(t *testing.T) {
	type body struct {
		Name  string          `json:"name"`
		Count int             `json:"count"`
		Input json.RawMessage `json:"input"`
	}
	tests := map[string]struct {
		text string
		want body
		err  string
	}{
		"all":              {`{"count":1,"input":{"a":10000000000000000},"name":"x"}`, body{"x", 1, json.RawMessage(`{"a":10000000000000000}`)}, ""},
		"unknown members":  {`{"name":"x","newer":[{"a":1}]}`, body{Name: "x"}, ""},
		"absent":           {`{}`, body{}, ""},
		"other case":       {`{"NAME":"x"}`, body{}, ""},
		"deep":             {`{"input":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, body{Input: json.RawMessage(strings.Repeat("[", 200) + strings.Repeat("]", 200))}, ""},
		"wrong type":       {`{"name":7}`, body{}, "want string, got number at /name (byte 0)"},
		"no integer":       {`{"count":1.5}`, body{}, "want integer, got 1.5 at /count (byte 0)"},
		"repeated member":  {`{"name":"x","name":"y"}`, body{}, "duplicate"},
		"no JSON":          {`{"name":`, body{}, "unexpected EOF"},
		"not an object":    {`[]`, body{}, "want object, got array (byte 0)"},
		"nothing":          {``, body{}, "EOF"},
		"text behind it":   {`{} {}`, body{}, "after top-level value"},
		"not UTF-8":        {"{\"name\":\"\xff\"}", body{}, "UTF-8"},
		"a lone surrogate": {`{"name":"\ud800"}`, body{}, "surrogate"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got body
			err := DecodeKnown([]byte(test.text), &got)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("DecodeKnown(%.80s) = %v, want an error with %q", test.text, err, test.err)
				}
				return
			}
			if err != nil || got.Name != test.want.Name || got.Count != test.want.Count || string(got.Input) != string(test.want.Input) {
				t.Errorf("DecodeKnown(%.80s) = %+v, %v, want %+v", test.text, got, err, test.want)
			}
		})
	}
}
