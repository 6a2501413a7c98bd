package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// The phases of a request: the one asks for JSON, the other does not.
const (
	Decide   = "decide"
	Finalize = "finalize"
)

// Request is one request as it came.
type Request struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
	// From is the client's address; equal ones came over the same connection.
	From string
	// Unexpected is true for a request that came after the script's end.
	Unexpected bool
}

type asked struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	ResponseFormat *struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Temperature *float64 `json:"temperature"`
}

func (r Request) asked() asked {
	var a asked
	if json.Unmarshal(r.Body, &a) != nil {
		return asked{}
	}
	return a
}

func (r Request) message(role string) string {
	for _, m := range r.asked().Messages {
		if m.Role == role {
			return m.Content
		}
	}
	return ""
}

// Phase is [Decide] for a request in JSON mode, [Finalize] for one without a response format, and else the format's
// type.
func (r Request) Phase() string {
	format := r.asked().ResponseFormat
	switch {
	case format == nil:
		return Finalize
	case format.Type == "json_object":
		return Decide
	}
	return format.Type
}

// Model is the model asked for.
func (r Request) Model() string { return r.asked().Model }

// Temperature is the temperature asked for; false means none was sent.
func (r Request) Temperature() (float64, bool) {
	t := r.asked().Temperature
	if t == nil {
		return 0, false
	}
	return *t, true
}

// Roles lists the messages' roles in order.
func (r Request) Roles() []string {
	var roles []string
	for _, m := range r.asked().Messages {
		roles = append(roles, m.Role)
	}
	return roles
}

// System is the system message's text.
func (r Request) System() string { return r.message("system") }

// UserText is the user message's text.
func (r Request) UserText() string { return r.message("user") }

// User is the user message decoded from JSON, without the lines with marks around it where there are any; nil if it is none.
func (r Request) User() any {
	var v any
	text := r.UserText()
	if lines := strings.Split(text, "\n"); len(lines) == 3 && strings.HasPrefix(lines[0], "BEGIN DATA ") && strings.HasPrefix(lines[2], "END DATA ") {
		text = lines[1]
	}
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}
