package transport

import (
	"bytes"
	"encoding/json"
	"fmt"

	"patterngate/ijson/printable"
)

// maxErrorText is the longest message of a JSON-RPC error, in bytes. Longer ones repeat what the client sent.
const maxErrorText = 1024

// briefError returns a message of mcp-go with the text of an error cut to [maxErrorText] bytes. Everything else is
// unchanged.
func briefError(message []byte) []byte {
	if len(message) <= maxErrorText {
		return message
	}
	id := answered(message)
	text, isError := bytes.CutPrefix(message[min(len(message), len(answerStart)+len(id)):], []byte(`,"error":`))
	if id == "" || !isError {
		return message
	}
	var said struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	// What follows the error's object is the end of the answer's.
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&said); err != nil || len(said.Message) <= maxErrorText {
		return message
	}
	said.Message = printable.Brief(said.Message, maxErrorText)
	short, err := json.Marshal(said)
	if err != nil { // Data is JSON, it was just read
		return message
	}
	return fmt.Appendf(nil, "%s%s,\"error\":%s}\n", answerStart, id, short)
}
