//go:build unix

package upstream_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
)

// counted serves MCP. It counts the calls of tools that arrive and, as long as refuse says so, refuses a request after that.
func counted(t *testing.T, calls *atomic.Int64, refuse func(r *http.Request, body string) (status int, location string), options ...server.StreamableHTTPOption) *replaceable {
	t.Helper()
	real := server.NewStreamableHTTPServer(mcpServer(), options...)
	return serveReplaceable(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body := string(text)
		if strings.Contains(body, `"tools/call"`) {
			calls.Add(1)
		}
		if status, location := refuse(r, body); status != 0 {
			if location != "" {
				w.Header().Set("Location", location)
			}
			http.Error(w, "no", status)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(body))
		real.ServeHTTP(w, r)
	}))
}

// A call that must be made once is sent once, whatever the server answers: one that acts and then refuses would act twice. What became
// of it is not known then. A call that may be repeated is sent again as before.
func TestACallIsSentOnce(t *testing.T) {
	isCall := func(body string) bool { return strings.Contains(body, `"tools/call"`) }
	legacy := map[string][]server.StreamableHTTPOption{"the session is unknown": eraOptions["handshake"]}
	for name, refuse := range map[string]func(r *http.Request, body string) (int, string){
		"401": func(r *http.Request, body string) (int, string) {
			if isCall(body) && r.Header.Get("Authorization") == "Bearer first-key" {
				return http.StatusUnauthorized, ""
			}
			return 0, ""
		},
		"the session is unknown": func() func(r *http.Request, body string) (int, string) {
			var refused atomic.Bool
			return func(_ *http.Request, body string) (int, string) {
				if isCall(body) && refused.CompareAndSwap(false, true) {
					return http.StatusNotFound, ""
				}
				return 0, ""
			}
		}(),
		"a redirect": func(r *http.Request, body string) (int, string) {
			if isCall(body) && r.URL.Path != "/elsewhere" {
				return http.StatusTemporaryRedirect, "/elsewhere"
			}
			return 0, ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			h := counted(t, &calls, refuse, legacy[name]...)
			headers := []upstream.Header{{Name: "Authorization", Prefix: "Bearer ", Secret: &secret{texts: []string{"first-key", "second-key"}}}}
			s := reach(t, upstream.EndpointConfig{URL: h.URL, Headers: headers}, upstream.ServerConfig{})
			_, err := s.Call(within(t, long), "written", nil, nil)
			if wantFault(t, err, catalog.NoAnswer, false); calls.Load() != 1 {
				t.Errorf("the call was sent %d times, want once", calls.Load())
			}
			if name != "a redirect" { // the secret was read again, or there is another session
				call(t, s, "written", nil)
			}
		})
	}
}

// ownedSecret is what its owner stored last, as it was when it was read. However often it is read again, also by a stream beside the
// calls, it is the same.
type ownedSecret struct{ now, read atomic.Value }

func (s *ownedSecret) Text(context.Context) (string, error) {
	if text, ok := s.read.Load().(string); ok && text != "" {
		return text, nil
	}
	s.read.Store(s.now.Load())
	return s.now.Load().(string), nil
}

func (s *ownedSecret) Forget() { s.read.Store("") }

func (s *ownedSecret) String() string { return "***" }

// Whether a server takes the secret, and knows the session, is found out before a call that must be sent once.
func TestACallIsProvedBefore(t *testing.T) {
	for era, options := range eraOptions {
		t.Run(era, func(t *testing.T) {
			var calls, refused atomic.Int64
			var key atomic.Value
			key.Store("first-key")
			h := counted(t, &calls, func(r *http.Request, _ string) (int, string) {
				if r.Header.Get("Authorization") != fmt.Sprint("Bearer ", key.Load()) {
					refused.Add(1)
					return http.StatusUnauthorized, ""
				}
				return 0, ""
			}, options...)
			owned := &ownedSecret{}
			owned.now.Store("first-key")
			headers := []upstream.Header{{Name: "Authorization", Prefix: "Bearer ", Secret: owned}}
			s := reach(t, upstream.EndpointConfig{URL: h.URL, Headers: headers}, upstream.ServerConfig{})
			call(t, s, "written", nil)
			key.Store("second-key")
			owned.now.Store("second-key")
			call(t, s, "written", nil)
			if calls.Load() != 2 || refused.Load() == 0 {
				t.Errorf("%d calls arrived, %d requests were refused; want 2 calls, and a request refused before", calls.Load(), refused.Load())
			}
			key.Store("third-key") // which the owner did not put into the configuration
			_, err := s.Call(within(t, long), "written", nil, nil)
			if wantFault(t, err, catalog.NotSent, false); calls.Load() != 2 {
				t.Errorf("%d calls arrived, want no further one", calls.Load())
			}
		})
	}
	t.Run("a session that is gone", func(t *testing.T) {
		var calls atomic.Int64
		legacy := eraOptions["handshake"]
		h := counted(t, &calls, func(*http.Request, string) (int, string) { return 0, "" }, legacy...)
		s := reach(t, upstream.EndpointConfig{URL: h.URL}, upstream.ServerConfig{})
		call(t, s, "written", nil)
		var again http.Handler = server.NewStreamableHTTPServer(mcpServer(), legacy...)
		h.now.Store(&again)
		call(t, s, "written", nil)
	})
}

// Calls go at once to where the server redirects other requests.
func TestACallFollowsAnEarlierRedirect(t *testing.T) {
	var calls atomic.Int64
	h := counted(t, &calls, func(r *http.Request, _ string) (int, string) {
		if r.URL.Path != "/mcp/" {
			return http.StatusTemporaryRedirect, "/mcp/"
		}
		return 0, ""
	})
	s := reach(t, upstream.EndpointConfig{URL: h.URL + "/mcp"}, upstream.ServerConfig{})
	if call(t, s, "written", nil); calls.Load() != 1 {
		t.Errorf("the call was sent %d times, want once", calls.Load())
	}
}
