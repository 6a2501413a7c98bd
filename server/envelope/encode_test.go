package envelope

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/server/arguments"
)

func TestAppendJSONLeavesOut(t *testing.T) {
	null := any(nil)
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"nothing":         {Next{Action: "done"}, `{"action":"done"}`},
		"empty but there": {Next{Action: "x", Arguments: map[string]any{}, Changed: []arguments.Change{}}, `{"action":"x","arguments":{},"changed":[]}`},
		"null that was there": {struct {
			V *any `json:"v,omitempty"`
		}{&null}, `{"v":null}`},
		"embedded members": {Usage{"rules", patterns.Usage{Requests: 1}}, `{"model":"rules","llm_calls":1,"input_tokens":0,"output_tokens":0}`},
		"maps by name":     {map[string]patterns.Spent{"b": {Limit: 1, Used: 0.5}, "a": {}}, `{"a":{"limit":0,"used":0},"b":{"limit":1,"used":0.5}}`},
		"nil":              {nil, `null`},
		"an aggregate of a file's own": {&patterns.Aggregate{Fields: map[string]any{"a": 1.0}, Missing: []string{"b"}, Health: "red", Errors: []patterns.JoinError{{Member: "fields.b", Reason: "r"}}},
			`{"fields":{"a":1},"missing":["b"],"health":"red","errors":[{"member":"fields.b","reason":"r"}]}`},
		"one without fields": {&patterns.Aggregate{Fields: map[string]any{}, Health: "green"}, `{"fields":{},"missing":[],"health":"green"}`},
		"quoted":             {[]string{"a\"\\\n<ä>"}, `["a\"\\\n<ä>"]`},
		"problem":            {document.Problem{Pointer: "/a", Reason: "r", Want: "w", Got: json.RawMessage(`1`)}, `{"pointer":"/a","reason":"r","got":1,"want":"w"}`},
	} {
		got, err := AppendJSON(nil, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestAppendJSONRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		where string
	}{
		"not a number": {Envelope{Budget: map[string]patterns.Spent{"max_seconds": {Used: math.NaN()}}}, "/budget/max_seconds/used"},
		"odd value":    {Envelope{Trace: []any{1, make(chan int)}}, "/trace/1"},
		"odd member":   {Envelope{routeMembers: routeMembers{Route: map[string]any{"x": func() {}}}}, "/route"},
	} {
		if text, err := AppendJSON(nil, c.value); err == nil || !strings.Contains(err.Error(), c.where) {
			t.Errorf("%s: got %s, error %v; want an error at %s", name, text, err, c.where)
		}
	}
}
