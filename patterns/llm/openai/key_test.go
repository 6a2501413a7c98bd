package openai

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
)

func TestKeyIsInNoError(t *testing.T) {
	m, _ := model(t, nil,
		llmtest.Raw(401, "text/plain", "Incorrect API key provided: "+testKey+strings.Repeat("!", 5000)),
		llmtest.Raw(200, "text/plain", "Bearer "+testKey), llmtest.Reset(), llmtest.Raw(500, "text/plain", strings.Repeat("a", errorTextBytes-5)+testKey),
		llmtest.Raw(200, "text/plain", `{"`+testKey+`":1,"`+testKey+`":2}`), llmtest.Raw(500, "text/plain", strings.Repeat("aaa ", errorBodyBytes/4-2)+testKey),
		llmtest.Raw(200, "text/plain", `{"`+strings.Repeat("n", 1<<20)+`":1,"`+strings.Repeat("n", 1<<20)+`":2}`))
	for range 7 {
		_, err := m.Ask(t.Context(), question(patterns.AskPlan, `{"goal":"g"}`))
		if err == nil || strings.Contains(err.Error(), testKey[:8]) || len(err.Error()) > 4*errorTextBytes {
			t.Errorf("Ask: got error %.200v; want one without the key, short", err)
		}
		if text := fmt.Sprintf("%+v %#v", err, m); strings.Contains(text, testKey) {
			t.Errorf("printing the model shows the key: %s", text)
		}
	}
}

// A server that answers no HTTP may still repeat what it was sent.
func TestKeyIsInNoConnectionError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1024))
			_, _ = fmt.Fprintf(c, "HTTP/1.1 %s\r\n\r\n", testKey) // a client that is gone has nothing to learn
			_ = c.Close()
		}
	}()
	m, err := New(Config{BaseURL: "http://" + l.Addr().String(), APIKey: testKey, Model: "m", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Ask(t.Context(), question(patterns.AskPlan, `{"goal":"g"}`))
	fault, ok := errors.AsType[*patterns.ModelFault](err)
	if !ok || fault.Reason != unreachableReason || strings.Contains(fmt.Sprint(err, fault.Cause), testKey[:8]) || !strings.Contains(fault.Cause.Error(), "malformed") {
		t.Errorf("Ask: got %v with cause %v; want %s, that the answer was malformed, and no key", err, fault.Cause, unreachableReason)
	}
}
