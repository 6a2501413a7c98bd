package transport

import (
	"encoding/json"
	"testing"
)

func TestPlainFrame(t *testing.T) {
	for line, want := range map[string]bool{
		callExample: true, modernExample: true, helloExample: true, readyExample: true,
		"\n{ \"params\" : {\"a\":\"}\\\"{\"} ,\t\"method\": \"m\", \"id\": 7,\r\n\"jsonrpc\": \"2.0\" }\n": true,
		`{"jsonrpc":"2.0","method":"m"}`: true,
		cancelExample:                    false,
		``:                               false, `{`: false, `{}`: false, `[]`: false, `5`: false, `"`: false, `{"`: false, `{"id"`: false, `{"id":`: false,
		`{"jsonrpc":"2.0","method":"m"}x`:                                        false,
		`{"jsonrpc":"2.0","method":"m",}`:                                        false,
		`{"jsonrpc":"2.0","method":"m","id":1,"id":2}`:                           false,
		`{"jsonrpc":"2.0","method":"m","ID":1}`:                                  false,
		`{"jsonrpc":"2.0","method":"m","more":1}`:                                false,
		`{"jsonrpc":"2.0","method":"m","id":null}`:                               false,
		`{"jsonrpc":"2.0","method":"m","id":1.5}`:                                false,
		`{"jsonrpc":"2.0","method":"m","id":01}`:                                 false,
		`{"jsonrpc":"2.0","method":"m","id":}`:                                   false,
		`{"jsonrpc":"2.0","method":"","id":1}`:                                   false,
		`{"jsonrpc":"2.0","method":"\u006d","id":1}`:                             false,
		`{"jsonrpc":"2.0","method":"m\"","id":1}`:                                false,
		`{"jsonrpc":"1.0","method":"m","id":1}`:                                  false,
		`{"jsonrpc":"2.0","jsonrpc":"2.0","method":"m","id":1}`:                  false,
		`{"jsonrpc":"2.0","method":"m","params":[1],"id":1}`:                     false,
		`{"jsonrpc":"2.0","method":"m","params":{"a":"\`:                         false,
		`{"jsonrpc":"2.0","method":"m","params":{},"params":{}}`:                 false,
		`{"jsonrpc":"2.0","method":"m","id":1,"result":{}}`:                      false,
		`{"jsonrpc":"2.0","method":"m" "id":1}`:                                  false,
		`{"jsonrpc":"2.0","method":"tools/call","id":"` + "\x01" + `"}`:          false,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`:       false,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"this is no JSON"}}`:   true, // which mcp-go says
		`{"jsonrpc":"2.0","id":12345678901234567890,"method":"m","params":{}}`:   false,
		`{"jsonrpc":"2.0","id":"a","method":"m","params":{"a":{"b":[{}]}}  }   `: true,
	} {
		f, ok := plainFrame([]byte(line))
		if ok != want {
			t.Errorf("plainFrame(%s): %+v, %v", line, f, ok)
		}
		checkPlain(t, []byte(line))
	}
}

// checkPlain compares the two readings of what is JSON.
func checkPlain(t *testing.T, line []byte) {
	t.Helper()
	f, ok := plainFrame(line)
	if !ok || !json.Valid(line) {
		return
	}
	if slow, err := readFrame(line); err != nil || slow != f {
		t.Errorf("plainFrame(%q) = %+v, readFrame says %+v, %v", line, f, slow, err)
	}
}

// What is read quickly is read the same.
func FuzzPlainFrame(f *testing.F) {
	for _, seed := range []string{
		helloExample, readyExample, callExample, modernExample, cancelExample,
		`{"jsonrpc":"2.0","id":"é","method":"m"}`, `{"id":1,"method":"a","jsonrpc":"2.0","params":{"\\":"\""}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) { checkPlain(t, line) })
}
