package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"patterngate/ijson"
)

// The codes of the JSON-RPC errors that this package answers with (JSON-RPC 2.0, section 5.1). mcp-go answers with others.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeParams   = -32602
	codeInternal = -32603
	codeBusy     = -32000
)

const (
	methodCall   = "tools/call"
	methodCancel = "notifications/cancelled"
	methodListen = "subscriptions/listen"
)

// frame is what the transport must know of a JSON-RPC message. encoding/json reads it, as mcp-go does, so both agree
// about every request.
type frame struct {
	id     string // JSON text as the answer repeats it; empty: a notification
	method string // empty: an answer to a request; this server makes none
	about  string // of a cancellation: the id of the request to cancel
}

// frameFault says why a line is refused, and is the answer to it.
type frameFault struct {
	code    int
	id      string // JSON text; "null" if it is not known
	message string
}

func (f *frameFault) Error() string { return f.message }

// rawFrame is a message as encoding/json decodes it.
type rawFrame struct {
	Version any             `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  any             `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  any             `json:"result"`
	Error   any             `json:"error"`
}

// readFrame reads one message. Its error is a *frameFault. The answer of a client is an empty frame.
func readFrame(line []byte) (frame, error) {
	var raw rawFrame
	if err := json.Unmarshal(line, &raw); err != nil {
		if _, isJSON := errors.AsType[*json.UnmarshalTypeError](err); isJSON {
			return frame{}, &frameFault{codeRequest, "null", oneObject}
		}
		return frame{}, &frameFault{codeParse, "null", oneDocument}
	}
	if raw.Result != nil || raw.Method == nil && raw.Error != nil {
		return frame{}, nil
	}
	f := frame{}
	if raw.ID != nil {
		var ok bool
		if f.id, ok = idText(raw.ID); !ok {
			return frame{}, &frameFault{codeRequest, "null", idForm}
		}
	}
	f.method, _ = raw.Method.(string)
	switch {
	case raw.Version != "2.0":
		return frame{}, &frameFault{codeRequest, orNull(f.id), versionForm}
	case f.method == "":
		return frame{}, &frameFault{codeRequest, orNull(f.id), methodNeeded}
	case f.method == methodCancel:
		f.about = aboutOf(raw.Params)
	}
	return f, nil
}

// aboutOf returns the id of the request that a cancellation names, or "".
func aboutOf(params json.RawMessage) string {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	id, _ := idText(p.RequestID)
	return id
}

// idText returns an id as its answer repeats it: decoded and encoded again. ok is false for an id that would come back
// changed, and for types that MCP does not allow.
func idText(raw json.RawMessage) (string, bool) {
	if plainID(raw) {
		return string(raw), true
	}
	var id any
	if json.Unmarshal(raw, &id) != nil {
		return "", false
	}
	switch n := id.(type) {
	case string:
	case float64:
		if math.Abs(n) > ijson.MaxInteger {
			return "", false
		}
	default:
		return "", false
	}
	text, err := json.Marshal(id)
	return string(text), err == nil
}

// plainID reports whether an id is encoded exactly as the client sent it. The ids of nearly all clients are.
func plainID(raw []byte) bool {
	if len(raw) == 0 || len(raw) > 64 {
		return false
	}
	if quoted := raw[0] == '"'; quoted {
		return bytes.IndexFunc(raw[1:len(raw)-1], func(r rune) bool {
			return r < ' ' || r > '~' || r == '\\' || r == '<' || r == '>' || r == '&'
		}) < 0
	}
	digits := bytes.IndexFunc(raw, func(r rune) bool { return r < '0' || r > '9' }) < 0
	return digits && len(raw) <= 15 && (raw[0] != '0' || len(raw) == 1)
}

// tooLargeNumber is a number that ijson refuses, as it refuses every number beyond the range of a double. It does so as
// a fault of one argument.
const tooLargeNumber = "9007199254740992"

// tamed returns the line of a call with each number beyond the range of a double replaced by [tooLargeNumber]. mcp-go
// would answer such a line with a protocol error. This way the answer names the argument that is at fault.
func tamed(line []byte) []byte {
	var changed []byte
	rest := 0 // of the line, not yet in changed
	inString := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\': // only in strings
			i++
		case c == '"':
			inString = !inString
		case !inString && c >= '0' && c <= '9':
			end := i + bytes.IndexFunc(line[i:], func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) })
			if end < i {
				end = len(line)
			}
			if _, err := strconv.ParseFloat(string(line[i:end]), 64); err != nil {
				changed = append(append(changed, line[rest:i]...), tooLargeNumber...)
				rest = end
			}
			i = end - 1
		}
	}
	if changed == nil {
		return line
	}
	return append(changed, line[rest:]...)
}

func orNull(id string) string {
	if id == "" {
		return "null"
	}
	return id
}

// answerStart is how mcp-go begins every answer. Notifications have no id, so they begin differently.
var answerStart = []byte(`{"jsonrpc":"2.0","id":`)

// answered returns the id of the request that a message of mcp-go answers, or "" if it answers none.
func answered(message []byte) string {
	rest, ok := bytes.CutPrefix(message, answerStart)
	if !ok || len(rest) == 0 {
		return ""
	}
	end := bytes.IndexByte(rest, ',')
	if rest[0] == '"' {
		end = 1
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		end++
	}
	if end <= 0 || end > len(rest) {
		return ""
	}
	return string(rest[:end])
}

// line returns the fault as the line of the answer.
func (f *frameFault) line() []byte {
	message, err := json.Marshal(f.message)
	if err != nil { // impossible: a text
		message = []byte(`""`)
	}
	var b bytes.Buffer
	b.Write(answerStart)
	b.WriteString(f.id + `,"error":{"code":`)
	b.WriteString(string(ijson.Canonical(float64(f.code))) + `,"message":`)
	b.Write(message)
	b.WriteString("}}\n")
	return b.Bytes()
}
