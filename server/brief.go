package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"patterngate/ijson"
)

// maxErrorText is how long the message of a JSON-RPC error may be, in bytes. Longer ones repeat what the client sent.
const maxErrorText = 1024

// Brief returns text, cut to about the given number of bytes. A longer text keeps its beginning and its end, where an error says what
// happened and why. Between them Brief writes how many bytes are left out.
func Brief(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := ijson.Cut(text, most*2/3)
	tail := text[len(text)-most/3:]
	for tail != "" && !utf8.RuneStart(tail[0]) { // the rest of a character that was split
		tail = tail[1:]
	}
	return fmt.Sprintf("%s... (%d bytes left out) ...%s", head, len(text)-len(head)-len(tail), tail)
}

// briefError returns a message of mcp-go with the text of an error bounded, and everything else unchanged.
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
	said.Message = Brief(said.Message, maxErrorText)
	short, err := json.Marshal(said)
	if err != nil { // Data is JSON, it was just read
		return message
	}
	return fmt.Appendf(nil, "%s%s,\"error\":%s}\n", answerStart, id, short)
}
