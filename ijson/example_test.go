package ijson_test

import (
	"fmt"

	"patterngate/ijson"
)

// A model's reply is decoded once. What is judged, sent and recorded afterwards is the value.
func ExampleDecode() {
	v, err := ijson.Decode([]byte(`{"tool": "issue_refund", "args": {"user_id": 42.0, "amount_usd": 1.20e1}}`))
	fmt.Println(string(ijson.Canonical(v)), err)

	_, err = ijson.Decode([]byte(`{"steps": [{"tool": "read", "tool": "pay"}]}`))
	fmt.Println(err)
	// Output:
	// {"args":{"amount_usd":12,"user_id":42},"tool":"issue_refund"} <nil>
	// repeated member at /steps/0/tool (byte 28)
}

func ExampleDecodeInto() {
	var call struct {
		Tool string         `json:"tool"`
		Args map[string]any `json:"args"`
	}
	fmt.Println(ijson.DecodeInto([]byte(`{"tool": "read", "args": []}`), &call))
	fmt.Println(ijson.DecodeInto([]byte(`{"Tool": "read"}`), &call))
	// Output:
	// want object, got array at /args (byte 25)
	// unknown member at /Tool (byte 9)
}

// Two calls that differ only in white space are the same call.
func ExampleArgsHash() {
	fmt.Println(ijson.ArgsHash(map[string]any{"month": "2026-04"}))
	fmt.Println(ijson.ArgsHash(map[string]any{"month": " 2026-04 "}))
	// Output:
	// 4ffe6467591e
	// 4ffe6467591e
}

// Set makes a new value and leaves the old one as it was.
func ExampleSet() {
	call := any(map[string]any{"args": map[string]any{"amount_usd": 1500.0}})
	capped, ok := ijson.Set(call, ijson.Pointer("").Member("args").Member("amount_usd"), 800.0)
	fmt.Println(string(ijson.Canonical(call)))
	fmt.Println(string(ijson.Canonical(capped)), ok)
	// Output:
	// {"args":{"amount_usd":1500}}
	// {"args":{"amount_usd":800}} true
}
