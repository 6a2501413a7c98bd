package transport

import "testing"

// Equal names in different objects are no repetition. A member that a call's arguments repeat is told by the call's own result.
func TestUnrepeatedMembers(t *testing.T) {
	for name, message := range map[string]string{
		"one name in two objects": `{"jsonrpc":"2.0","id":1,"method":"m","params":{"id":{"id":1},"method":[{"id":1},{"id":1}]}}`,
		"letter case, below":      `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"a":1,"A":2}}}`,
		"in the arguments":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"goal":"x","goal":"y"}}}`,
		"a text":                  `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"{\"a\":1,\"a\":1}"}}`,
	} {
		f, err := readFrame([]byte(message))
		if err = onlyOnce([]byte(message), f, err); err != nil {
			t.Errorf("%s: %s is refused: %v", name, message, err)
		}
	}
}
