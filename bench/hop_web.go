package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
)

// web is a lean MCP client of a server over HTTP. It reuses connections, sends fixed bodies, and reads answers without
// decoding them. It is safe for concurrent use.
type web struct {
	transport *http.Transport
	url       *url.URL
	era       Era
	token     string // "": no token
}

// newWeb returns a client of the server at an address. connections is how many idle connections it keeps.
func newWeb(address string, era Era, connections int) *web {
	return &web{
		transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true},
		url:       &url.URL{Scheme: "http", Host: address, Path: "/mcp"},
		era:       era,
	}
}

// head returns the headers of a request in an era. session is empty if there is no session.
func (w *web) head(method, tool, session string) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {string(w.era)},
	}
	if session != "" {
		h["Mcp-Session-Id"] = []string{session}
	}
	if w.token != "" {
		h["Authorization"] = []string{"Bearer " + w.token}
	}
	if w.era == Stateless {
		h["Mcp-Method"] = []string{method}
		if tool != "" {
			h["Mcp-Name"] = []string{tool}
		}
	}
	return h
}

// post sends a body and reads the answer into space, which grows if needed. It returns an error if the status is not
// want.
func (w *web) post(head http.Header, body, space []byte, want int) (answer []byte, got http.Header, err error) {
	request := (&http.Request{
		Method: http.MethodPost, URL: w.url, Header: head, Host: w.url.Host,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(context.Background())
	response, err := w.transport.RoundTrip(request)
	if err != nil {
		return space, nil, err
	}
	defer response.Body.Close()
	into := bytes.NewBuffer(space[:0])
	if _, err := into.ReadFrom(response.Body); err != nil {
		return into.Bytes(), nil, err
	}
	if response.StatusCode != want {
		return into.Bytes(), nil, fmt.Errorf("status %d, want %d: %.300s", response.StatusCode, want, into.Bytes())
	}
	return into.Bytes(), response.Header, nil
}

// session makes the handshake and returns the session id. In the era without sessions it returns "".
func (w *web) session() (id string, err error) {
	if w.era == Stateless {
		return "", nil
	}
	_, got, err := w.post(w.head("initialize", "", ""), request(0, "initialize", []byte(initializeParams)), nil, http.StatusOK)
	if err != nil {
		return "", fmt.Errorf("initialize: %w", err)
	}
	id = got.Get("Mcp-Session-Id")
	if _, _, err = w.post(w.head("", "", id), []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil, http.StatusAccepted); err != nil {
		return "", fmt.Errorf("notifications/initialized: %w", err)
	}
	return id, nil
}

// request returns the body of a request.
func request(id int, method string, params []byte) []byte {
	return fmt.Appendf(nil, `%s%d,"method":%q,"params":%s}`, answerHead, id, method, params)
}

// webCaller repeats one call over HTTP. It uses one session if the era has sessions.
type webCaller struct {
	*web
	headers http.Header
	params  []byte
	first   []byte // the first answer
	want    []byte // the wanted answer, after its id
	space   []byte // buffer of Once
	calls   atomic.Int64
	vary    bool
	stop    func() error
}

// webCall returns a function that makes the first call to a started server.
func webCall(era Era) func(*Served, error) (Caller, error) {
	return func(s *Served, err error) (Caller, error) {
		if err != nil {
			return nil, err
		}
		c := &webCaller{web: newWeb(s.Address, era, crowded), params: era.toolCall(catalogTool, hopArguments), stop: s.Close}
		if err := c.begin(); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return c, nil
	}
}

func (c *webCaller) begin() error {
	session, err := c.session()
	if err != nil {
		return err
	}
	c.headers = c.head("tools/call", catalogTool, session)
	if c.first, _, err = c.post(c.headers, request(0, "tools/call", c.params), nil, http.StatusOK); err != nil {
		return err
	}
	_, c.want, _ = behindID(c.first)
	return nil
}

// Answer implements [Caller].
func (c *webCaller) Answer() []byte { return c.first }

// Close implements [Caller].
func (c *webCaller) Close() error {
	c.transport.CloseIdleConnections()
	return c.stop()
}

// Vary implements [Caller].
func (c *webCaller) Vary() { c.vary = true }

// body returns the body of the next call.
func (c *webCaller) body(id int) []byte {
	if !c.vary {
		return request(id, "tools/call", c.params)
	}
	return request(id, "tools/call", varied(c.params, int(c.calls.Add(1))))
}

// Once implements [Caller].
func (c *webCaller) Once() (err error) {
	c.space, err = c.call(0, c.body(0), c.space)
	return err
}

// call sends a body, reads the answer into space, and checks it.
func (c *webCaller) call(id int, body, space []byte) ([]byte, error) {
	answer, _, err := c.post(c.headers, body, space, http.StatusOK)
	if err != nil {
		return answer, err
	}
	got, rest, ok := behindID(answer)
	if !ok || got != id {
		return answer, errors.New("an answer to " + strconv.Itoa(got) + ", want one to " + strconv.Itoa(id))
	}
	return answer, unlike(rest, c.want)
}

// AtOnce implements [Caller]. It starts at goroutines, each with its own id.
func (c *webCaller) AtOnce(n, at int) error {
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(n))
	faults := make([]error, at)
	for id := range at {
		all.Go(func() {
			var space []byte
			for left.Add(-1) >= 0 && faults[id] == nil {
				space, faults[id] = c.call(id, c.body(id), space)
			}
		})
	}
	all.Wait()
	return errors.Join(faults...)
}
