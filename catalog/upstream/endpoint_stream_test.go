//go:build unix

package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
)

// What follows a call on its stream, a GET that resumes it and answers to what the server asks there, is told by what became of
// the call: that was sent, and is never sent twice.
func TestEndpointStreamLost(t *testing.T) {
	const (
		resumable = "retry: 1\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n"
		question  = "data: {\"jsonrpc\":\"2.0\",\"id\":\"its own\",\"method\":\"ping\"}\n\n"
	)
	for name, tt := range map[string]struct {
		stream string
		then   int  // the status of what follows; 0: nobody listens any more
		modern bool // without a handshake
	}{
		"resumed, 404":     {stream: resumable, then: http.StatusNotFound},
		"resumed, 405":     {stream: resumable, then: http.StatusMethodNotAllowed},
		"resumed, 400":     {stream: resumable, then: http.StatusBadRequest},
		"resumed, 429":     {stream: resumable, then: http.StatusTooManyRequests},
		"resumed, refused": {stream: resumable},
		"asked, 404":       {stream: question, then: http.StatusNotFound},
		"asked, 400":       {stream: question, then: http.StatusBadRequest},
		"asked, 202":       {stream: question, then: http.StatusAccepted},
		"asked, modern":    {stream: question, then: http.StatusBadRequest, modern: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := eraOptions["handshake"]
			if tt.modern {
				options = eraOptions["both"]
			}
			real := server.NewStreamableHTTPServer(mcpServer(), options...)
			var h *replaceable
			var calls, followed atomic.Int64
			replied := make(chan struct{}, 8)
			h = serveReplaceable(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				switch text := string(body); {
				case strings.Contains(text, `"tools/call"`):
					calls.Add(1)
					w.Header().Set("Content-Type", "text/event-stream")
					w.Header().Set("Connection", "close")
					if tt.then == 0 {
						_ = h.Listener.Close()
					}
					_, _ = io.WriteString(w, tt.stream)
					_ = http.NewResponseController(w).Flush()
					if tt.stream == question {
						select {
						case <-replied:
						case <-r.Context().Done():
						}
					}
				case strings.Contains(text, `"its own"`):
					followed.Add(1)
					w.WriteHeader(tt.then)
					replied <- struct{}{}
				case r.Header.Get("Last-Event-ID") != "":
					followed.Add(1)
					w.WriteHeader(tt.then)
				default:
					r.Body = io.NopCloser(strings.NewReader(text))
					real.ServeHTTP(w, r)
				}
			}))
			s := reach(t, upstream.EndpointConfig{URL: h.URL}, upstream.ServerConfig{})
			_, err := s.Call(within(t, long), "written", nil, nil)
			wantFault(t, err, catalog.NoAnswer, true)
			if n := calls.Load(); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			if followed.Load() == 0 && tt.then != 0 {
				t.Error("nothing followed the call: this shows nothing")
			}
		})
	}
}
