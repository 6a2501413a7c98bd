package ijson_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/ijson"
)

type order struct {
	ID      int            `json:"id"`
	Count   uint8          `json:"count,omitempty"`
	Price   float64        `json:"price"`
	Share   float32        `json:"share"`
	Paid    bool           `json:"paid"`
	Tags    []string       `json:"tags"`
	By      map[string]int `json:"by"`
	Pair    [2]int         `json:"pair"`
	Parent  *order         `json:"parent"`
	At      time.Time      `json:"at,omitzero"`
	Blob    []byte         `json:"blob"`
	Any     any            `json:"any"`
	Year    int64          `json:"year"`
	Size    uint64         `json:"size"`
	Comment string
	hidden  int
}

func TestDecodeInto(t *testing.T) {
	tests := map[string]struct {
		text string
		want order
	}{
		"whole floats are integers": {`{"id":42.0,"count":2e1,"by":{"a":1.0}}`, order{ID: 42, Count: 20, By: map[string]int{"a": 1}}},
		"greatest integer":          {`{"id":-9007199254740991}`, order{ID: -9007199254740991}},
		"greater numbers":           {`{"price":1e22,"any":1e16}`, order{Price: 1e22, Any: 1e16}},
		"integers are numbers":      {`{"price":1,"share":2}`, order{Price: 1, Share: 2}},
		"null is zero":              {`{"id":null,"tags":null,"parent":null,"paid":null}`, order{}},
		"within":                    {`{"parent":{"parent":{"tags":["<&>"]}}}`, order{Parent: &order{Parent: &order{Tags: []string{"<&>"}}}}},
		"any value":                 {`{"any":{"b":[1.0,null]}}`, order{Any: map[string]any{"b": []any{1.0, nil}}}},
		"no tag":                    {`{"Comment":"c"}`, order{Comment: "c"}},
		"texts of types":            {`{"at":"2026-04-01T00:00:00Z","blob":"aGk="}`, order{At: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Blob: []byte("hi")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got order
			if err := ijson.DecodeInto([]byte(tt.text), &got); err != nil {
				t.Fatalf("DecodeInto(%s): %v", tt.text, err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(order{})); diff != "" {
				t.Errorf("DecodeInto(%s), -want +got:\n%s", tt.text, diff)
			}
		})
	}
}

func TestDecodeIntoKeepsWhatIsAbsent(t *testing.T) {
	got := order{ID: 7, Comment: "default"}
	if err := ijson.DecodeInto([]byte(`{"id":8}`), &got); err != nil || got.ID != 8 || got.Comment != "default" {
		t.Errorf("DecodeInto = %+v, %v, want the id 8 and the comment as it was", got, err)
	}
}

func TestDecodeIntoRefuses(t *testing.T) {
	tests := map[string]struct {
		text string
		want ijson.Fault
	}{
		"fraction":           {`{"id": 1.5}`, ijson.Fault{Pointer: "/id", Offset: 7, Reason: "want integer, got 1.5"}},
		"integer beyond":     {`{"id":1e16}`, ijson.Fault{Pointer: "/id", Offset: 6, Reason: "want integer, got 1e+16"}},
		"text for int64":     {`{"year":"2026"}`, ijson.Fault{Pointer: "/year", Offset: 8, Reason: "want integer, got string"}},
		"below zero":         {`{"size":-1}`, ijson.Fault{Pointer: "/size", Offset: 8, Reason: "want integer, 0 or more, got -1"}},
		"text":               {`{"by":{"a": "1"}}`, ijson.Fault{Pointer: "/by/a", Offset: 12, Reason: "want integer, got string"}},
		"true":               {`{"price":true}`, ijson.Fault{Pointer: "/price", Offset: 9, Reason: "want number, got true"}},
		"too great a count":  {`{"count":256}`, ijson.Fault{Pointer: "/count", Offset: 9, Reason: "want integer that fits uint8, got 256"}},
		"negative count":     {`{"count":-1}`, ijson.Fault{Pointer: "/count", Offset: 9, Reason: "want integer that fits uint8, got -1"}},
		"too great a share":  {`{"share":1e200}`, ijson.Fault{Pointer: "/share", Offset: 9, Reason: "want number that fits float32, got 1e+200"}},
		"number for text":    {`{"tags":["a", 1]}`, ijson.Fault{Pointer: "/tags/1", Offset: 14, Reason: "want string, got number"}},
		"object for array":   {`{"tags":{}}`, ijson.Fault{Pointer: "/tags", Offset: 8, Reason: "want array, got object"}},
		"array for object":   {`{"parent":[]}`, ijson.Fault{Pointer: "/parent", Offset: 10, Reason: "want object, got array"}},
		"document":           {` [1]`, ijson.Fault{Offset: 1, Reason: "want object, got array"}},
		"number for bool":    {`{"paid":0}`, ijson.Fault{Pointer: "/paid", Offset: 8, Reason: "want true or false, got number"}},
		"number for time":    {`{"at":0}`, ijson.Fault{Pointer: "/at", Offset: 6, Reason: "want string, got number"}},
		"array for bytes":    {`{"blob":[1]}`, ijson.Fault{Pointer: "/blob", Offset: 8, Reason: "want base64 string, got array"}},
		"too many":           {`{"pair":[1,2,3]}`, ijson.Fault{Pointer: "/pair", Offset: 8, Reason: "not accepted: too many array elements"}},
		"unknown":            {`{"id":1,"nr":2}`, ijson.Fault{Pointer: "/nr", Offset: 13, Reason: ijson.ReasonUnknown}},
		"unknown by case":    {`{"ID":1}`, ijson.Fault{Pointer: "/ID", Offset: 6, Reason: ijson.ReasonUnknown}},
		"unexported":         {`{"hidden":1}`, ijson.Fault{Pointer: "/hidden", Offset: 10, Reason: ijson.ReasonUnknown}},
		"unknown, escaped":   {`{"parent":{"a\u002fb":{"parent":0}}}`, ijson.Fault{Pointer: "/parent/a~1b", Offset: 22, Reason: ijson.ReasonUnknown}},
		"repeated":           {`{"id":1,"id":2}`, ijson.Fault{Pointer: "/id", Offset: 8, Reason: ijson.ReasonRepeated}},
		"repeated unknown":   {`{"x":{"y":1,"y":2}}`, ijson.Fault{Pointer: "/x/y", Offset: 12, Reason: ijson.ReasonRepeated}},
		"integer out of all": {`{"price":9007199254740992}`, ijson.Fault{Pointer: "/price", Offset: 9, Reason: ijson.ReasonIntegerRange}},
		"not JSON":           {`id: 1`, ijson.Fault{Reason: ijson.ReasonNotJSON}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got order
			err := ijson.DecodeInto([]byte(tt.text), &got)
			if fault, ok := errors.AsType[*ijson.Fault](err); !ok || *fault != tt.want {
				t.Errorf("DecodeInto(%s) = %+v, want %+v", tt.text, err, tt.want)
			}
		})
	}
	_ = order{}.hidden
}

func TestDecodeIntoTextOfAnotherType(t *testing.T) {
	var got order
	err := ijson.DecodeInto([]byte(`{"at":"first of April\n"}`), &got)
	fault, ok := errors.AsType[*ijson.Fault](err)
	if !ok || fault.Pointer != "/at" || !strings.HasPrefix(fault.Reason, "not accepted: ") || strings.Contains(fault.Reason, "\n") {
		t.Errorf("DecodeInto a date in words = %v, want a line at /at that begins with not accepted", err)
	}
}

func TestDecodeIntoUnfitTarget(t *testing.T) {
	for name, target := range map[string]any{
		"nil":         nil,
		"no pointer":  order{},
		"nil pointer": (*order)(nil),
		"channel":     &struct{ ID chan int }{},
	} {
		t.Run(name, func(t *testing.T) {
			err := ijson.DecodeInto([]byte(`{"ID":1}`), target)
			if _, isFault := errors.AsType[*ijson.Fault](err); err == nil || isFault {
				t.Errorf("DecodeInto(%T) = %v, want an error that does not blame the text", target, err)
			}
		})
	}
}

func TestBind(t *testing.T) {
	var got order
	if err := ijson.Bind(map[string]any{"id": 42.0, "price": 1e16}, &got); err != nil || got.ID != 42 || got.Price != 1e16 {
		t.Errorf("Bind = %+v, %v", got, err)
	}
	want := ijson.Fault{Pointer: "/id", Reason: "want integer, got 1e+16"}
	if fault, ok := errors.AsType[*ijson.Fault](ijson.Bind(map[string]any{"id": 1e16}, &got)); !ok || *fault != want {
		t.Errorf("Bind(1e16 to an int) = %+v, want %+v", fault, want)
	}
}
