package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"patterngate/server/transport"
)

// web is a server that is asked over HTTP.
type web struct {
	t       testing.TB
	address string
	client  *http.Client
	cancel  context.CancelFunc
	served  chan error
}

// listening serves s on a free port of this machine. It ends with the test.
func listening(t testing.TB, s *Server, change ...func(*transport.HTTPConfig)) *web {
	t.Helper()
	// The system's table of sockets takes its time; the tests of it have the real one.
	c := transport.HTTPConfig{Listen: "127.0.0.1:0", OwnSocket: func(netip.AddrPort, netip.AddrPort) bool { return true }}
	for _, f := range change {
		f(&c)
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		t.Fatal(err)
	}
	c.Listen = l.Addr().String()
	l = narrow{l}
	ctx, cancel := context.WithCancel(context.Background())
	h := &web{
		t: t, address: l.Addr().String(), cancel: cancel, served: make(chan error, 1),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}},
	}
	go func() { h.served <- s.transports.Serve(ctx, l, c) }()
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		h.stop()
	})
	return h
}

// narrow gives connections whose buffers in the machine are small, so that a client that does not read is soon noticed.
type narrow struct{ net.Listener }

func (l narrow) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(16 << 10)
	}
	return c, err
}

// stop tells the server to end and waits for it.
func (h *web) stop() {
	h.t.Helper()
	h.cancel()
	h.ended()
}

func (h *web) ended() {
	h.t.Helper()
	select {
	case err, first := <-h.served:
		if err != nil {
			h.t.Errorf("ListenHTTP: %v", err)
		}
		if first {
			close(h.served)
		}
	case <-time.After(patience):
		h.t.Fatal("ListenHTTP does not return")
	}
}

func (h *web) url(path string) string { return "http://" + h.address + path }

// limiting sets limits other than the built-in ones.
func limiting(change func(*transport.Limits)) func(*transport.HTTPConfig) {
	return func(c *transport.HTTPConfig) {
		if c.Limits == (transport.Limits{}) {
			c.Limits = transport.DefaultLimits()
		}
		change(&c.Limits)
	}
}

// head are headers of a request, by name; one with an empty value is left out.
type head map[string]string

// with is a head with further headers.
func (m head) with(more head) head {
	all := head{}
	for _, from := range []head{m, more} {
		for name, value := range from {
			all[name] = value
		}
	}
	return all
}

// plainHead is what every POST has.
var plainHead = head{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

// modernHead are the headers of a request of 2026-07-28.
func modernHead(method, name string) head {
	return plainHead.with(head{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name})
}

// modernLine is a request of 2026-07-28 with further params.
func modernLine(id any, method, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, mustJSON(id), method, modernMeta, more)
}

func modernCall(id any, tool, arguments string) string {
	return modernLine(id, callMethod, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
}

// reply is an answer over HTTP.
type reply struct {
	status   int
	header   http.Header
	body     string
	messages []message // of a JSON body, or of the events of a stream
}

// request makes a request with a body; an empty one is none.
func (h *web) request(ctx context.Context, method, path string, headers head, body string) (*http.Response, error) {
	var from io.Reader
	if body != "" {
		from = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, h.url(path), from)
	if err != nil {
		return nil, err
	}
	for name, value := range headers {
		switch {
		case name == "Host":
			r.Host = value
		case value != "":
			r.Header.Set(name, value)
		}
	}
	return h.client.Do(r)
}

// do makes a request and reads the whole answer.
func (h *web) do(method, path string, headers head, body string) reply {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	response, err := h.request(ctx, method, path, headers, body)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatalf("%s %s: reading the answer: %v", method, path, err)
	}
	return readReply(response, string(text))
}

func readReply(response *http.Response, text string) reply {
	a := reply{status: response.StatusCode, header: response.Header, body: text}
	switch response.Header.Get("Content-Type") {
	case "application/json":
		a.messages = []message{parseMessage(strings.TrimSpace(text))}
	case "text/event-stream":
		for e := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
			a.messages = append(a.messages, parseMessage(strings.TrimPrefix(e, "event: message\ndata: ")))
		}
	}
	return a
}

// post posts a message to /mcp.
func (h *web) post(headers head, body string) reply {
	h.t.Helper()
	return h.do(http.MethodPost, "/mcp", headers, body)
}

// last is the last message of an answer.
func (a reply) last() message {
	if len(a.messages) == 0 {
		return message{line: fmt.Sprintf("status %d, no message: %s", a.status, a.body)}
	}
	return a.messages[len(a.messages)-1]
}

// code is the code of a JSON-RPC error; 0: none.
func (a reply) code() int {
	if e := a.last().Error; e != nil {
		return e.Code
	}
	return 0
}

// client is one client of an era. Requests with its head are its own.
type client struct {
	h       *web
	modern  bool
	headers head // besides those of the protocol
	session string
}

// client begins a client of an era; headers come with each of its requests.
func (h *web) connect(modern bool, headers head) *client {
	h.t.Helper()
	c := &client{h: h, modern: modern, headers: headers}
	if modern {
		return c
	}
	a := h.post(plainHead.with(headers), initialize)
	if c.session = a.header.Get("Mcp-Session-Id"); a.status != 200 || c.session == "" {
		h.t.Fatalf("initialize: status %d, session %q: %s", a.status, c.session, a.body)
	}
	if a := h.post(c.head("", ""), initialized); a.status != 202 || a.body != "" {
		h.t.Fatalf("initialized: status %d: %s", a.status, a.body)
	}
	return c
}

// head are the headers of a request of this client.
func (c *client) head(method, name string) head {
	if c.modern {
		return modernHead(method, name).with(c.headers)
	}
	return plainHead.with(head{"Mcp-Session-Id": c.session, "MCP-Protocol-Version": "2025-11-25"}).with(c.headers)
}

// line is a call of this client's era; meta are further members of its _meta.
func (c *client) line(id any, tool, arguments, meta string) string {
	if !c.modern {
		if meta == "" {
			return callLine(id, tool, arguments)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"_meta":{%s},"name":%q,"arguments":%s}}`, mustJSON(id), meta, tool, arguments)
	}
	line := modernCall(id, tool, arguments)
	if meta != "" {
		line = strings.Replace(line, `"_meta":{`, `"_meta":{`+meta+`,`, 1)
	}
	return line
}

// call makes a tools/call.
func (c *client) call(id any, tool, arguments, meta string) reply {
	c.h.t.Helper()
	return c.h.post(c.head(callMethod, tool), c.line(id, tool, arguments, meta))
}

// begin makes a tools/call whose answer is not waited for; it comes by the channel. It is given up by cancel.
func (c *client) begin(id any, tool, arguments, meta string) (answer <-chan reply, cancel context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	answers := make(chan reply, 1)
	go func() {
		defer close(answers)
		response, err := c.h.request(ctx, http.MethodPost, "/mcp", c.head(callMethod, tool), c.line(id, tool, arguments, meta))
		if err != nil {
			return
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		answers <- readReply(response, string(text))
	}()
	return answers, cancel
}

// inBothEras runs a test for both eras.
func inBothEras(t *testing.T, test func(t *testing.T, modern bool)) {
	for name, modern := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		t.Run(name, func(t *testing.T) { test(t, modern) })
	}
}

// got waits for an answer.
func got(t testing.TB, answers <-chan reply) reply {
	t.Helper()
	select {
	case a, ok := <-answers:
		if !ok {
			t.Fatal("the connection ended without an answer")
		}
		return a
	case <-time.After(patience):
		t.Fatal("no answer")
	}
	return reply{}
}

// dial opens a bare connection.
func (h *web) dial() *net.TCPConn {
	h.t.Helper()
	c, err := net.Dial("tcp", h.address)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

// raw writes text on a connection of its own and reads an answer; more says whether the connection goes on.
func (h *web) raw(text string) (a reply, more bool) {
	h.t.Helper()
	c := h.dial()
	if _, err := io.WriteString(c, text); err != nil {
		h.t.Fatal(err)
	}
	in := bufio.NewReader(c)
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		h.t.Fatalf("%.60q: no answer: %v", text, err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatalf("%.60q: %v", text, err)
	}
	return readReply(response, string(body)), !response.Close
}

// errorOf is the JSON-RPC error of an answer, which must have one.
func (a reply) errorOf(t testing.TB) (code int, message string) {
	t.Helper()
	var e struct {
		Error *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.Error == nil {
		t.Fatalf("status %d: no JSON-RPC error: %s", a.status, a.body)
	}
	return e.Error.Code, e.Error.Message
}

// newEvents reads a stream of events.
func newEvents(stream io.Reader) *bufio.Reader { return bufio.NewReader(stream) }
