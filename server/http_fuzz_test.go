package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/server/transport"
)

// statuses are all that this server answers with (spec/surface.md section 6).
var statuses = []int{200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 413, 415, 503}

// counting is a server whose runs are only counted.
func counting(t testing.TB, runs *atomic.Int64) *Server {
	return serving(t, func(c *Config) {
		c.Engine = engineFunc(func(context.Context, patterns.Job) (patterns.Ended, error) {
			runs.Add(1)
			return patterns.Ended{RunID: "run_0123456789abcdef", Result: patterns.Result{StopReason: patterns.Success}}, nil
		})
	})
}

// Whatever is posted, the answer has a status that is listed and a body that clients can read, and nothing ran unless
// it was a well-formed call of a tool.
func FuzzHTTPBody(f *testing.F) {
	for _, seed := range []string{
		initialize, initialized, callLine(1, td, goodCall), modernCall(1, td, goodCall), modernLine(1, "tools/list", ""), cancelLine("1"),
		`[]`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","METHOD":"ping"}`, `{"a":1e400}`, "\xff", "",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + td + `"},"params":{"arguments":{"goal":"x"}}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	var runs atomic.Int64
	h := listening(f, counting(f, &runs), func(c *transport.HTTPConfig) { c.BodyBytes = 1 << 20 })
	legacy := h.connect(false, nil)
	f.Fuzz(func(t *testing.T, body []byte, modern bool) {
		var said struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		valid := json.Unmarshal(body, &said) == nil
		headers := legacy.head("", "")
		if modern {
			headers = modernHead(headerText(said.Method), headerText(said.Params.Name))
		}
		before := runs.Load()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a subscription does not end by itself
		defer cancel()
		response, err := h.request(ctx, http.MethodPost, "/mcp", headers, string(body))
		if err != nil {
			if said.Method == listenMethod {
				return
			}
			t.Fatalf("%q: %v", body, err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		if !slices.Contains(statuses, response.StatusCode) {
			t.Errorf("%q: status %d", body, response.StatusCode)
		}
		if response.StatusCode >= 400 && !json.Valid(text) {
			t.Errorf("%q: status %d: %s", body, response.StatusCode, text)
		}
		called := valid && said.Version == "2.0" && said.Method == callMethod && string(said.ID) != "null" && said.ID != nil && said.Params.Name != ""
		if runs.Load() != before && !called {
			t.Errorf("%q: a run took place: %s", body, text)
		}
	})
}

// headerText is a text as it may stand in a header.
func headerText(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
}

// Whatever the head of a request says, it is answered by a status that is listed or one of net/http's own for what is
// no HTTP, and nothing ran unless all of the head was right.
func FuzzHTTPHead(f *testing.F) {
	const right = "Host: localhost\r\nAuthorization: Bearer " + bearerA + "\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\n" +
		"Mcp-Method: tools/call\r\nMcp-Name: " + td + "\r\n"
	body := modernCall(1, td, goodCall)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	for _, seed := range []string{
		right + length, right + "Transfer-Encoding: chunked\r\n", right + length + "Origin: null\r\n", right + length + "Host: evil\r\n",
		right + length + "Expect: 100-continue\r\n", right + "Content-Length: 99999999999\r\n", right + length + "Accept: text/html\r\n",
		strings.Replace(right, bearerA, bearerB, 1) + length, "Host: localhost\r\n", "\x00", "A:" + strings.Repeat("b", 70_000) + "\r\n",
	} {
		f.Add("POST", "/mcp", seed)
	}
	f.Add("OPTIONS", "*", "Host: localhost\r\n")
	f.Add("GET", "http://localhost/healthz", right)
	f.Add("DELETE", "/mcp", right+"Mcp-Session-Id: x\r\n")
	f.Add("CONNECT", "localhost:1", right)
	tokens, err := transport.ParseTokens([]byte("a: " + bearerA))
	if err != nil {
		f.Fatal(err)
	}
	var runs atomic.Int64
	h := listening(f, counting(f, &runs), func(c *transport.HTTPConfig) { c.Tokens = tokens },
		limiting(func(l *transport.Limits) { l.Header, l.Body = 20*time.Millisecond, 20*time.Millisecond }))
	own := append([]int{100, 417, 431, 501, 505}, statuses...)
	f.Fuzz(func(t *testing.T, method, target, head string) {
		before := runs.Load()
		text := method + " " + target + " HTTP/1.1\r\n" + head + "\r\n"
		c, err := net.Dial("tcp", h.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(c, text+body)
		_ = c.(*net.TCPConn).CloseWrite()
		in := bufio.NewReader(c)
		if response, err := http.ReadResponse(in, nil); err == nil && !slices.Contains(own, response.StatusCode) {
			t.Errorf("%.300q: status %d", text, response.StatusCode)
		}
		if _, err := io.Copy(io.Discard, in); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%.300q: the connection does not end", text)
		}
		if runs.Load() == before {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader([]byte(text + body))))
		if err != nil || r.Method != "POST" || r.URL.Path != "/mcp" || r.Header.Get("Authorization")[7:] != bearerA ||
			r.Header.Get("Mcp-Protocol-Version") != "2026-07-28" || r.Header.Get("Mcp-Method") != callMethod || r.Header.Get("Mcp-Name") != td {
			t.Errorf("%.300q: a run took place", text)
		}
	})
}
