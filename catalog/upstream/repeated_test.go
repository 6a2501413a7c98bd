//go:build unix

package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
)

// An answer that has a member twice is unreadable: what it means depends on who reads it.
func TestRepeatedMembersOfAnAnswer(t *testing.T) {
	text := `"content":[{"type":"text","text":"a"}]`
	for name, result := range map[string]string{
		"content":              `{` + text + `,` + text + `}`,
		"isError":              `{` + text + `,"isError":true,"isError":false}`,
		"isError, by case":     `{` + text + `,"isError":true,"IsError":false}`,
		"in a block":           `{"content":[{"type":"text","text":"a","text":"b"}]}`,
		"in structuredContent": `{` + text + `,"structuredContent":{"a":{"b":1,"b":2}}}`,
	} {
		t.Run("http/"+name, func(t *testing.T) {
			h := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"x","result":`+result+`}`)
			})
			_, err := reach(t, upstream.EndpointConfig{URL: h.URL}, upstream.ServerConfig{}).Call(within(t, long), "written", nil, nil)
			wantFault(t, err, catalog.Unreadable, false)
		})
		t.Run("pipes/"+name, func(t *testing.T) {
			repeats(t, result)
		})
	}
	t.Run("pipes/result", func(t *testing.T) { repeats(t, `{`+text+`},"result":{`+text+`}`) })
}

// repeats checks that a call over pipes with such a result is an error.
func repeats(t *testing.T, result string) {
	t.Helper()
	c, err := over(t, map[string]string{"initialize": helloReply, "tools/call": result})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.CallRaw(within(t, long), "x", []byte(`{}`), nil); err == nil || !strings.Contains(err.Error(), "repeats a member") {
		t.Errorf("%s: %v, want that it repeats a member", result, err)
	}
}
