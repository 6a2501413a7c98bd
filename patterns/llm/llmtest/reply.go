package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"
)

type kind int

const (
	whole kind = iota // status, headers, body
	silence
	reset
	truncated
	unframed
	endless
)

// Usage is what a completion says it cost, in tokens.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// DefaultUsage is the usage of every completion without a usage of its own.
var DefaultUsage = Usage{Prompt: 21, Completion: 9, Total: 30}

// Reply is one answer of the server. The zero Reply is a completion with empty content. Replies are made by the
// functions below or decoded from JSON, in the language of the worked cases: one of
//
//	{"content": text or null}  {"refusal": text}  {"no_choices": true}  {"http": 429}
//	{"error": "timeout"}  {"error": "connection"}  {"error": "truncated"}
//
// with "delay_seconds" beside any of them.
type Reply struct {
	kind   kind
	body   []byte // what is written after the headers
	code   int
	media  string
	header http.Header
	delay  time.Duration
}

// Content answers with a message of that text.
func Content(text string) Reply { return Message(quote(text), "null", DefaultUsage) }

// NullContent answers with a message whose content is null.
func NullContent() Reply { return Message("null", "null", DefaultUsage) }

// Refusal answers with null content and that refusal.
func Refusal(text string) Reply { return Message("null", quote(text), DefaultUsage) }

// Message answers with a completion whose content and refusal are these JSON texts.
func Message(content, refusal string, u Usage) Reply {
	choice := fmt.Sprintf(`{"index":0,"message":{"role":"assistant","content":%s,"refusal":%s},"logprobs":null,"finish_reason":"stop"}`, content, refusal)
	return choices(choice, u)
}

// NoChoices answers with a completion whose list of choices is empty.
func NoChoices() Reply { return choices("", DefaultUsage) }

func choices(list string, u Usage) Reply {
	text := fmt.Sprintf(`{"id":"chatcmpl-test","object":"chat.completion","created":1767225600,"model":"test-model",`+
		`"choices":[%s],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, list, u.Prompt, u.Completion, u.Total)
	return Reply{body: []byte(text), code: http.StatusOK, media: "application/json"}
}

// Status answers with that status and an error body in the form that OpenAI uses.
func Status(code int) Reply {
	text := fmt.Sprintf(`{"error":{"message":"scripted status %d","type":"test_error","param":null,"code":null}}`, code)
	return Reply{body: []byte(text), code: code, media: "application/json"}
}

// Redirect answers with 307 and that Location.
func Redirect(location string) Reply {
	return Status(http.StatusTemporaryRedirect).With("Location", location)
}

// Raw answers with exactly this status, media type and body.
func Raw(code int, mediaType, body string) Reply {
	return Reply{body: []byte(body), code: code, media: mediaType}
}

// Huge answers with a completion whose content has n bytes.
func Huge(n int) Reply { return Content(string(bytes.Repeat([]byte("x"), n))) }

// Silence takes the request and never answers.
func Silence() Reply { return Reply{kind: silence} }

// Reset takes the request and resets the connection without an answer.
func Reset() Reply { return Reply{kind: reset} }

// Truncated promises a whole completion, sends half of it and closes the connection.
func Truncated() Reply {
	r := Content("this answer breaks off half-way")
	r.kind = truncated
	return r
}

// Unframed answers with status 200 and this body, whose end only the connection's end marks.
func Unframed(body string) Reply { return Reply{kind: unframed, body: []byte(body)} }

// Endless answers with that status and a body that trickles on until the client leaves.
func Endless(code int) Reply { return Reply{kind: endless, code: code, media: "application/json"} }

// After returns the same reply, given only after d.
func (r Reply) After(d time.Duration) Reply {
	r.delay = d
	return r
}

// With returns the same reply with one more header line.
func (r Reply) With(name, value string) Reply {
	r.header = maps.Clone(r.header)
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Add(name, value)
	return r
}

// UnmarshalJSON reads the language of the worked cases; unknown members, no kind and two kinds are errors.
func (r *Reply) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	var delay time.Duration
	named := ""
	for name, value := range members {
		if name == "delay_seconds" {
			var seconds float64
			if err := json.Unmarshal(value, &seconds); err != nil {
				return fmt.Errorf("reply: delay_seconds: %w", err)
			}
			delay = time.Duration(seconds * float64(time.Second))
			continue
		}
		if named != "" {
			return fmt.Errorf("reply %s: more than one kind of answer", text)
		}
		made, err := decodeKind(name, value)
		if err != nil {
			return fmt.Errorf("reply: %s: %w", name, err)
		}
		*r, named = made, name
	}
	if named == "" {
		return fmt.Errorf("reply %s: want one of content, refusal, no_choices, http, error", text)
	}
	r.delay = delay
	return nil
}

func decodeKind(name string, value json.RawMessage) (Reply, error) {
	switch name {
	case "content":
		if string(value) == "null" {
			return NullContent(), nil
		}
		text, err := decoded[string](value)
		return Content(text), err
	case "refusal":
		text, err := decoded[string](value)
		return Refusal(text), err
	case "no_choices":
		yes, err := decoded[bool](value)
		if err == nil && !yes {
			err = errors.New("want true")
		}
		return NoChoices(), err
	case "http":
		code, err := decoded[int](value)
		return Status(code), err
	case "error":
		return decodeFault(value)
	}
	return Reply{}, errors.New("unknown member")
}

func decodeFault(value json.RawMessage) (Reply, error) {
	name, err := decoded[string](value)
	if err != nil {
		return Reply{}, err
	}
	switch name {
	case "timeout":
		return Silence(), nil
	case "connection":
		return Reset(), nil
	case "truncated":
		return Truncated(), nil
	}
	return Reply{}, fmt.Errorf("%q; want timeout, connection or truncated", name)
}

func decoded[T any](value json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(value, &v)
	return v, err
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return string(quoted)
}
