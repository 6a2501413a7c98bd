package transport

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// mediaJSON is the media type of all that is no stream.
const mediaJSON = "application/json"

// Header values that are set as they are; nobody changes them.
var (
	jsonTypes  = []string{mediaJSON}
	eventType  = []string{"text/event-stream"}
	noStore    = []string{"no-store"}
	noSniff    = []string{"nosniff"}
	varyOrigin = []string{"Origin"}
	closing    = []string{"close"}
)

// answer is what mcp-go writes the answer to one request to. It gives each write a deadline, so that a client that does
// not read holds up nothing but its own call, and lets notifications of a call go out before its answer, in order and
// on its own stream: mcp-go would hand them to another goroutine, which loses what is still waiting when the call ends,
// and which serves all calls of a session. It is safe for concurrent use.
type answer struct {
	to       http.ResponseWriter
	control  *http.ResponseController
	stall    time.Duration // for a write
	settle   time.Duration // between the last notification and the answer
	streams  bool          // the client takes an event stream
	kept     bool          // a whole answer waits for finish
	listings listings      // that stand in it
	over     func()        // called once, before the client can know that its request is answered; nil: nobody waits for it

	mu     sync.Mutex
	header http.Header // of mcp-go, as far as it has one
	status int         // of mcp-go, 0: none yet
	events bool        // mcp-go writes events itself
	open   bool        // the head of an event stream is out
	sent   bool        // the answer is out
	body   []byte      // of a whole answer that is kept
	told   time.Time   // when the last notification went out
}

var _ mcpserver.HTTPResponseWriter = (*answer)(nil)

func newAnswer(w http.ResponseWriter, l Limits, streams bool) *answer {
	return &answer{to: w, control: http.NewResponseController(w), stall: l.Stall, settle: l.Settle, streams: streams}
}

// Header implements [mcpserver.HTTPResponseWriter].
func (a *answer) Header() http.Header {
	if a.header == nil {
		a.header = make(http.Header, 4)
	}
	return a.header
}

// CanStream implements [mcpserver.HTTPResponseWriter].
func (a *answer) CanStream() bool { return a.streams }

// Flush implements [mcpserver.HTTPResponseWriter]: events go out when they are written.
func (a *answer) Flush() {}

// WriteHeader implements [mcpserver.HTTPResponseWriter]. The head of a whole answer goes out with its body.
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status = status
	if a.events = slices.Equal(a.header["Content-Type"], eventType); a.events {
		a.begin()
	}
}

// Write implements [mcpserver.HTTPResponseWriter]: mcp-go writes an event, or a whole answer, at once. That a client is
// gone is no news to it; its request's context says so.
func (a *answer) Write(message []byte) (int, error) {
	a.settled()
	p := a.listings.whole(briefError(message))
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.events:
		a.emit(p)
	case a.open:
		a.sent = true
		a.answered()
		a.emit(event(p))
	case a.kept:
		a.body = bytes.Clone(p)
	default:
		a.whole(a.status, p)
	}
	return len(message), nil
}

// answered tells that the request is; the lock is held.
func (a *answer) answered() {
	if over := a.over; over != nil {
		a.over = nil
		over()
	}
}

// release tells it whatever happened.
func (a *answer) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answered()
}

// settled waits a moment after the last notification: some clients lose one that they read together with the answer.
func (a *answer) settled() {
	a.mu.Lock()
	told := a.told
	a.mu.Unlock()
	if told.IsZero() {
		return
	}
	if left := a.settle - time.Since(told); left > 0 {
		time.Sleep(left)
	}
}

// begin sends the head of an event stream, once; the lock is held.
func (a *answer) begin() {
	if a.open {
		return
	}
	a.open = true
	a.to.Header()["Content-Type"] = eventType
	a.deadline()
	a.to.WriteHeader(http.StatusOK)
	_ = a.control.Flush()
}

// emit sends an event; the lock is held. A stream that could not be written is ended by net/http, and its request too.
func (a *answer) emit(event []byte) {
	a.deadline()
	if _, err := a.to.Write(event); err == nil {
		_ = a.control.Flush()
	}
}

// whole sends a whole answer; the lock is held.
func (a *answer) whole(status int, body []byte) {
	if a.sent || a.open {
		return
	}
	a.sent = true
	a.answered()
	h := a.to.Header()
	if !slices.Equal(a.header["Content-Type"], jsonTypes) { // plain words of mcp-go, which clients cannot read
		body = refusalLine(codeRequest, "", http.StatusText(status))
	}
	h["Content-Type"] = jsonTypes
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	for _, name := range []string{"Allow", mcpserver.HeaderKeySessionID} {
		if v := a.header[name]; v != nil {
			h[name] = v
		}
	}
	a.deadline()
	a.to.WriteHeader(status)
	_, _ = a.to.Write(body)
}

func (a *answer) deadline() { _ = a.control.SetWriteDeadline(time.Now().Add(a.stall)) }

// notify sends a notification on the call's own stream, where its client takes one.
func (a *answer) notify(method string, params any) {
	text, err := notification(method, params)
	if err != nil || !a.streams {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent || a.status != 0 && !a.events { // the answer is on its way
		return
	}
	a.begin()
	a.emit(event(text))
	a.told = time.Now()
}

// finish sends what was kept, or a head without a body. A request, which has an id, gets an answer even where mcp-go
// has none: it gives up one that was cancelled, and one whose result is no JSON, for which lost finds words.
func (a *answer) finish(id string, lost func() error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.answered()
	switch {
	case a.sent || a.events:
	case a.body != nil:
		a.whole(a.status, a.body)
	case id == "" || a.status != 0 && a.status != http.StatusOK:
		a.bare()
	case a.status == http.StatusOK:
		a.fail(id, lost())
	default:
		a.fail(id, ErrCanceled)
	}
}

// bare sends a head alone; the lock is held.
func (a *answer) bare() {
	if a.sent = true; a.open || a.status == 0 {
		return
	}
	a.deadline()
	a.to.WriteHeader(a.status)
}

// fail answers by an error of the protocol; the lock is held.
func (a *answer) fail(id string, cause error) {
	line := refusalLine(codeInternal, id, cause.Error())
	if a.open {
		a.sent = true
		a.emit(event(line))
		return
	}
	a.header = http.Header{"Content-Type": jsonTypes}
	a.whole(http.StatusOK, line)
}

// event is a message as one event of a stream (HTML section 9.2, as MCP uses it).
func event(message []byte) []byte {
	const head, tail = "event: message\ndata: ", "\n\n"
	message = bytes.TrimSuffix(message, []byte("\n"))
	e := make([]byte, 0, len(head)+len(message)+len(tail))
	return append(append(append(e, head...), message...), tail...)
}

// refusalLine is a JSON-RPC error; without an id where no request was read (MCP 2025-11-25, basic/transports).
func refusalLine(code int, id, message string) []byte {
	line := (&frameFault{code, id, message}).line()
	if id == "" {
		line = append([]byte(`{"jsonrpc":"2.0"`), line[len(answerStart):]...)
	}
	return line
}

// exchange is a request over HTTP as its handler may need it.
type exchange struct {
	answer *answer
	era    string          // protocol version of its session; empty: the request says it itself
	gone   context.Context // of a call: ends when its client goes or the server stops
}

type exchangeKey struct{}

// exchangeOf is the exchange that a request belongs to; nil if it came by another transport.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}
