package openai

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
)

const (
	idleConns      = 2048 // runs in flight that keep their connection
	dialTime       = 30 * time.Second
	handshakeTime  = 10 * time.Second
	idleTime       = 90 * time.Second
	maxHeaderBytes = 256 << 10
	// writeBuffer holds most requests whole, so that one system call sends them.
	writeBuffer = 8 << 10
)

// wire sends requests as they are: no redirect, no cookie, no retry. openai-go would read an error's body whole, so a
// status other than 2xx leaves here as an error.
type wire struct{ transport *http.Transport }

func newWire() wire {
	return wire{&http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTime, KeepAlive: dialTime}).DialContext,
		TLSHandshakeTimeout:    handshakeTime,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    idleConns,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeaderBytes,
		WriteBufferSize:        writeBuffer,
	}}
}

// Do makes the round trip. Its response has a 2xx status; any other comes as a [*statusError].
//
// What openai-go tells of this machine is left out, and the body loses its wrapping: net/http sends the headers of a
// body that it cannot look through in a packet of their own.
func (w wire) Do(req *http.Request) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			delete(req.Header, name)
		}
	}
	if req.GetBody != nil {
		plain, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		req.Body = plain
	}
	res, err := w.transport.RoundTrip(req)
	if err == nil && res.StatusCode/100 != 2 {
		return nil, &statusError{res}
	}
	return res, err
}

// statusError is an answer of another kind than 2xx; its body is still open.
type statusError struct{ res *http.Response }

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.res.StatusCode) }

// endsWithConnection reports whether nothing but the connection's end marks the end of the answer.
func endsWithConnection(res *http.Response) bool {
	return res.ProtoMajor == 1 && res.ContentLength < 0 && len(res.TransferEncoding) == 0 && !res.Uncompressed
}

// body encodes the request. It is written here and not by openai-go's reflection, which costs more than all else that
// a run does between two requests.
func (m *Client) body(q patterns.Question, format Format) []byte {
	b := make([]byte, 0, len(q.Prompt)+len(q.JSON)+len(q.JSON)/4+256)
	b = append(b, `{"model":`...)
	b = appendString(b, m.model)
	b = append(b, `,"temperature":`...)
	b = append(b, m.temperature...)
	switch format {
	case JSONObject:
		b = append(b, `,"response_format":{"type":"json_object"}`...)
	case JSONSchema:
		schema := m.schemas.of(q)
		b = append(append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":"`...), q.Ask...)
		b = append(strconv.AppendBool(append(b, `","strict":`...), schema.strict), `,"schema":`...)
		b = append(append(b, schema.text...), `}}`...)
	}
	b = append(b, `,"messages":[{"role":"system","content":`...)
	b = appendString(b, prompts.System(q))
	b = append(b, `},{"role":"user","content":"`...)
	if q.Mark != "" {
		b = append(append(append(b, prompts.BeginData...), q.Mark...), `\n`...)
	}
	b = appendQuoted(b, string(q.JSON), `\\`)
	if q.Mark != "" {
		b = append(append(append(b, `\n`...), prompts.EndData...), q.Mark...)
	}
	return append(b, `"}]}`...)
}

// appendString appends text as a JSON string of ASCII.
func appendString(b []byte, text string) []byte {
	b = append(b, '"')
	b = appendQuoted(b, text, `\`)
	return append(b, '"')
}

// appendQuoted appends text as the inside of a JSON string. Characters below 0x20 and above 0x7e are written as \uXXXX
// behind the given backslash: a single one leaves the character in the string's value, a doubled one leaves its escape
// there, so that the value is itself JSON in ASCII.
func appendQuoted(b []byte, text, backslash string) []byte {
	const hex = "0123456789abcdef"
	done := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, text[done:i]...)
		if c == '"' || c == '\\' {
			b = append(b, '\\', c)
			i++
			done = i
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		for _, unit := range utf16.AppendRune(make([]uint16, 0, 2), r) {
			b = append(append(b, backslash...), 'u', hex[unit>>12], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
		}
		i += size
		done = i
	}
	return append(b, text[done:]...)
}

// number is a finite number as JSON.
func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
