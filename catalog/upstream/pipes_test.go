package upstream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"patterngate/catalog/upstream"
)

// scripted answers each method by what a script gives for it: a result, or an error where it begins with "error". A
// method that the script does not have gets no answer.
func scripted(t *testing.T, script map[string]string) (io.ReadCloser, io.WriteCloser) {
	t.Helper()
	requests, out := io.Pipe()
	in, answers := io.Pipe()
	go func() {
		defer answers.Close()
		for lines := bufio.NewScanner(requests); lines.Scan(); {
			var r struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			if json.Unmarshal(lines.Bytes(), &r) != nil || r.ID == nil {
				continue
			}
			reply, ok := script[r.Method]
			if !ok {
				continue
			}
			member := `"result":` + reply
			if fault, failed := strings.CutPrefix(reply, "error"); failed {
				member = `"error":` + fault
			}
			if _, err := fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", r.ID, member); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = requests.Close() })
	return in, out
}

const (
	helloReply    = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	discoverReply = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`
	noMethod      = `error{"code":-32601,"message":"Method not found"}`
)

func over(t *testing.T, script map[string]string) (*upstream.Client, error) {
	t.Helper()
	in, out := scripted(t, script)
	return upstream.Over(t.Context(), in, out, me)
}

// A server is spoken to by the handshake, and without one where it has none.
func TestHandshakes(t *testing.T) {
	for name, tt := range map[string]struct {
		script map[string]string
		want   string
	}{
		"handshake":     {map[string]string{"initialize": helloReply}, ""},
		"none any more": {map[string]string{"initialize": noMethod, "server/discover": discoverReply}, ""},
		"neither":       {map[string]string{"initialize": noMethod, "server/discover": noMethod}, "Method not found"},
		"refused":       {map[string]string{"initialize": `error{"code":-32000,"message":"closed today"}`, "server/discover": noMethod}, "closed today"},
		"future": {map[string]string{"initialize": `{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`,
			"server/discover": noMethod}, "2099-01-01"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := over(t, tt.script)
			switch {
			case err == nil && tt.want == "":
				_ = c.Close()
			case err == nil || tt.want == "" || !strings.Contains(err.Error(), tt.want):
				t.Errorf("Over = %v, want %q", err, tt.want)
			}
		})
	}
}

// A server that says nothing, or reads nothing, does not block a caller that waits.
func TestHandshakeGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, out := scripted(t, nil)
	if _, err := upstream.Over(ctx, in, out, me); !errors.Is(err, context.Canceled) {
		t.Errorf("a silent server: %v, want %v", err, context.Canceled)
	}
	_, unread := io.Pipe()
	silent, _ := io.Pipe()
	if _, err := upstream.Over(ctx, silent, unread, me); !errors.Is(err, context.Canceled) {
		t.Errorf("a server that does not read: %v, want %v", err, context.Canceled)
	}
}

// Lists of tools are bounded, and what is no tool is left out.
func TestTools(t *testing.T) {
	for name, tt := range map[string]struct{ reply, want string }{
		"a page that comes again": {`{"tools":[],"nextCursor":"x"}`, "again and again"},
		"too many":                {`{"tools":[` + strings.Repeat(`{"name":"a"},`, 10_000) + `{"name":"a"}],"nextCursor":"x"}`, "more than"},
		"no list":                 {`{"tools":7}`, "tools/list"},
		"refused":                 {noMethod, "Method not found (-32601)"},
		"odd ones":                {`{"tools":[{"name":"a"},{"name":""},7,null,{"name":["b"]}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := over(t, map[string]string{"initialize": helloReply, "tools/list": tt.reply})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			tools, err := c.Tools(t.Context())
			switch {
			case err == nil && (tt.want != "" || len(tools) != 1), err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("Tools() = %d tools, %v; want %q", len(tools), err, tt.want)
			}
		})
	}
}

// What a server declares is bounded in bytes, also where it is listed as it was sent.
func TestDeclarationsBounded(t *testing.T) {
	t.Parallel()
	tool := `{"name":"a","description":"` + strings.Repeat("x", 3<<20) + `"}`
	in, answers := io.Pipe()
	requests, out := io.Pipe()
	go func() {
		defer answers.Close()
		for n, lines := 0, bufio.NewScanner(requests); lines.Scan(); n++ {
			var r struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			if json.Unmarshal(lines.Bytes(), &r) != nil || r.ID == nil {
				continue
			}
			result := helloReply
			if r.Method == "tools/list" {
				result = fmt.Sprintf(`{"tools":[%s,%s],"nextCursor":"%d"}`, tool, tool, n)
				if n > 20 {
					result = `{"tools":[]}`
				}
			}
			if _, err := fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = requests.Close() })
	c, err := upstream.Over(t.Context(), in, out, me)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if all, err := c.Declarations(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 10000 tools or 16777216 bytes") {
		t.Errorf("Declarations() = %d tools, %v", len(all), err)
	}
}

// Results are read as far as they must be, whatever else they hold.
func TestResults(t *testing.T) {
	for name, tt := range map[string]struct {
		reply string
		want  string // %+v of the content, or the error
	}{
		"blocks": {`{"content":[{"type":"text","text":"a"},{"type":"image","data":"QUJD","mimeType":"image/png"},
			{"type":"resource_link","uri":"file:///x","name":"x"},{"type":"resource","resource":{"uri":"u","text":"t"}},{"type":"resource","resource":{"uri":"u","blob":"QQ=="}}]}`,
			"[{text a    0} {image  image/png   4} {resource_link   file:///x x 0} {resource t  u  0} {resource   u  4}]"},
		"none":            {`{}`, "[]"},
		"no blocks":       {`{"content":[7,null,{"type":3}]}`, "[{     0} {     0} {     0}]"},
		"no result":       {`7`, "not a tool result"},
		"input is wanted": {`{"resultType":"input_required","inputRequests":{}}`, "asks for input"},
		"refused":         {`error{"code":-32602,"message":"no"}`, "no (-32602)"},
		"neither":         {`null`, "with neither a result nor an error"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := over(t, map[string]string{"initialize": helloReply, "tools/call": strings.ReplaceAll(tt.reply, "\n", " ")})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			result, err := c.CallRaw(t.Context(), "x", []byte(`{}`), nil)
			if got := fmt.Sprint(result.Content, err); !strings.Contains(got, tt.want) {
				t.Errorf("the result is %s, want %s", got, tt.want)
			}
		})
	}
}

// A message without end ends the session, not the memory; a call that is too long is not sent.
func TestBounds(t *testing.T) {
	in, answers := io.Pipe()
	go func() {
		for part := make([]byte, 1<<20); ; {
			if _, err := answers.Write(part); err != nil {
				return
			}
		}
	}()
	requests, toServer := io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, requests) }()
	if _, err := upstream.Over(t.Context(), in, toServer, me); err == nil || !strings.Contains(err.Error(), "a message of more than 8388608 bytes") {
		t.Errorf("an endless message: %v", err)
	}

	c, err := over(t, map[string]string{"initialize": helloReply})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	long := []byte(`{"s":"` + strings.Repeat("x", upstream.MaxSend) + `"}`)
	if _, err := c.CallRaw(t.Context(), "x", long, nil); !errors.Is(err, upstream.ErrTooLarge) {
		t.Errorf("a call of %d bytes: %v, want %v", len(long), err, upstream.ErrTooLarge)
	}
}

// A server that closes the session is told apart from one that answers.
func TestSessionClosed(t *testing.T) {
	in, answers := io.Pipe()
	requests, out := io.Pipe()
	go func() {
		_, _ = bufio.NewReader(requests).ReadBytes('\n')
		_ = answers.Close()
		_, _ = io.Copy(io.Discard, requests)
	}()
	if _, err := upstream.Over(t.Context(), in, out, me); err == nil || !strings.Contains(err.Error(), "the server closed the session") {
		t.Errorf("Over = %v, want a closed session", err)
	}
}

// slowWriter passes each line on, and returns from writing a call only after release is closed.
type slowWriter struct {
	io.WriteCloser
	release chan struct{}
}

func (w slowWriter) Write(line []byte) (int, error) {
	n, err := w.WriteCloser.Write(line)
	if strings.Contains(string(line), `"method":"tools/call"`) {
		<-w.release
	}
	return n, err
}

// A call is cancelled at the server also where it is given up before the client's writer has returned: after the
// server's first report, when the server's answer is passed on, and before any.
func TestGivenUpWhileWriting(t *testing.T) {
	for name, tt := range map[string]struct {
		reports bool
		want    string
	}{
		"after a report": {true, "cancelled"},
		"before any":     {false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, out := io.Pipe()
				in, answers := io.Pipe()
				cancelled := make(chan struct{})
				go cancellable(t, requests, answers, tt.reports, cancelled)
				w := slowWriter{out, make(chan struct{})}
				c, err := upstream.Over(t.Context(), in, w, me)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					synctest.Wait() // the server has the call
					cancel()
					synctest.Wait() // the client has done what it does about the end of the call
					close(w.release)
				}()
				result, err := c.CallRaw(ctx, "hangs", []byte(`{}`), func(string) {})
				if !errors.Is(err, context.Canceled) || result.Text() != tt.want {
					t.Errorf("the call ended with %q, %v; want %q and %v", result.Text(), err, tt.want, context.Canceled)
				}
				<-cancelled
				_ = c.Close()
				_ = requests.Close()
			})
		})
	}
}

// cancellable is a server whose calls end only when they are cancelled. With reports, it reports progress of each.
func cancellable(t *testing.T, requests io.Reader, answers io.WriteCloser, reports bool, cancelled chan struct{}) {
	defer answers.Close()
	for lines := bufio.NewScanner(requests); lines.Scan(); {
		var r struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				RequestID json.RawMessage `json:"requestId"`
				Meta      struct {
					Token json.RawMessage `json:"progressToken"`
				} `json:"_meta"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Error(err)
		}
		switch {
		case r.Method == "initialize":
			fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, helloReply)
		case r.Method == "tools/call" && reports:
			fmt.Fprintf(answers, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`+"\n", r.Params.Meta.Token)
		case r.Method == "notifications/cancelled":
			fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"cancelled"}]}}`+"\n", r.Params.RequestID)
			close(cancelled)
		}
	}
}
