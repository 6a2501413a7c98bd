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

// The codes of JSON-RPC errors that are answered here (JSON-RPC 2.0 section 5.1); mcp-go has the others.
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

// frame is what a line says as far as its transport must know. It is read as mcp-go reads it, by encoding/json, so that
// the two never differ about what a request is.
type frame struct {
	id     string // JSON text as it stands in the answer; empty: a notification
	method string // empty: an answer to a request, and we make none
	about  string // of a cancellation: the id of the request that is taken back
}

// frameFault is why a line is no frame, and what to answer.
type frameFault struct {
	code    int
	id      string // JSON text; null where it is not known
	message string
}

func (f *frameFault) Error() string { return f.message }

// rawFrame is a line as encoding/json reads it.
type rawFrame struct {
	Version any             `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  any             `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  any             `json:"result"`
	Error   any             `json:"error"`
}

// readFrame reads one line. Its error is a *frameFault.
func readFrame(line []byte) (frame, error) {
	var raw rawFrame
	if err := json.Unmarshal(line, &raw); err != nil {
		if _, isJSON := errors.AsType[*json.UnmarshalTypeError](err); isJSON {
			return frame{}, &frameFault{codeRequest, "null", "Invalid Request: a message is one JSON-RPC object; batches are not taken"}
		}
		return frame{}, &frameFault{codeParse, "null", "Parse error: a message is one JSON document"}
	}
	if raw.Result != nil || raw.Method == nil && raw.Error != nil {
		return frame{}, nil
	}
	f := frame{}
	if raw.ID != nil {
		var ok bool
		if f.id, ok = idText(raw.ID); !ok {
			return frame{}, &frameFault{codeRequest, "null", "Invalid Request: an id is a string or a number of at most 2^53-1"}
		}
	}
	f.method, _ = raw.Method.(string)
	switch {
	case raw.Version != "2.0":
		return frame{}, &frameFault{codeRequest, orNull(f.id), `Invalid Request: jsonrpc is "2.0"`}
	case f.method == "":
		return frame{}, &frameFault{codeRequest, orNull(f.id), "Invalid Request: a method is wanted"}
	case f.method == methodCancel:
		f.about = aboutOf(raw.Params)
	}
	return f, nil
}

// aboutOf is the id that a cancellation names.
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

// idText is an id as it stands in its answer: the decoded value, encoded again. Ids that would not come back as they
// were sent, and other types than MCP knows, are refused.
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

// plainID reports an id that is encoded just as it was sent: what nearly all clients send.
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

// tooLargeNumber is refused by ijson as every number beyond the doubles is, as a fault of its own argument.
const tooLargeNumber = "9007199254740992"

// tamed is a call's line with each number beyond the doubles replaced by [tooLargeNumber]. mcp-go would answer such a
// line by a protocol error, where the caller is to be told which argument is at fault.
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

// answerStart is how mcp-go begins every answer; notifications have no id.
var answerStart = []byte(`{"jsonrpc":"2.0","id":`)

// answered is the id of the request that a written message answers; empty if it answers none.
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

// line is the fault as the answer that is sent.
func (f *frameFault) line() []byte {
	message, err := json.Marshal(f.message)
	if err != nil { // a constant text
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
