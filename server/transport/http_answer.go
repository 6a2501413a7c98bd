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

// mediaJSON is the media type of every answer that is not a stream.
const mediaJSON = "application/json"

// Values of headers. They are shared and must not be changed.
var (
	jsonTypes  = []string{mediaJSON}
	eventType  = []string{"text/event-stream"}
	noStore    = []string{"no-store"}
	noSniff    = []string{"nosniff"}
	varyOrigin = []string{"Origin"}
	closing    = []string{"close"}
)

// answer is the writer to which mcp-go writes the answer to one request. It gives each write a deadline, so a client
// that does not read delays only its own call. It writes the notifications of a call before the answer, in order and on
// the same stream. mcp-go would give them to another goroutine, which serves all calls of a session and loses what
// still waits when the call ends. An answer is safe for concurrent use.
type answer struct {
	to       http.ResponseWriter
	control  *http.ResponseController
	stall    time.Duration // the longest time for a write
	settle   time.Duration // the least time between the last notification and the answer
	streams  bool          // the client accepts an event stream
	kept     bool          // finish writes the whole answer
	listings listings      // the tool lists that it contains
	over     func()        // called once, before the client can read the answer; may be nil

	mu     sync.Mutex
	header http.Header // as mcp-go set it; may be nil
	status int         // as mcp-go set it; 0: not yet
	events bool        // mcp-go writes events itself
	open   bool        // the head of an event stream is written
	sent   bool        // the answer is written
	body   []byte      // the whole answer, if kept
	told   time.Time   // when the last notification was written
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

// Flush implements [mcpserver.HTTPResponseWriter]. Events are flushed when they are written.
func (a *answer) Flush() {}

// WriteHeader implements [mcpserver.HTTPResponseWriter]. The head of a whole answer is written with its body.
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status = status
	if a.events = slices.Equal(a.header["Content-Type"], eventType); a.events {
		a.begin()
	}
}

// Write implements [mcpserver.HTTPResponseWriter]. mcp-go writes an event, or a whole answer, at once. Write returns no
// error when the client has gone: the context of the request ends then.
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

// answered calls over, once. The caller holds the lock.
func (a *answer) answered() {
	if over := a.over; over != nil {
		a.over = nil
		over()
	}
}

// release calls over if no answer was written.
func (a *answer) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answered()
}

// settled waits a moment after the last notification. Some clients lose a notification that they read together with the
// answer.
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

// begin writes the head of an event stream, once. The caller holds the lock.
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

// emit writes an event. The caller holds the lock. If that fails, net/http ends the stream and its request.
func (a *answer) emit(event []byte) {
	a.deadline()
	if _, err := a.to.Write(event); err == nil {
		_ = a.control.Flush()
	}
}

// whole writes a whole answer. The caller holds the lock.
func (a *answer) whole(status int, body []byte) {
	if a.sent || a.open {
		return
	}
	a.sent = true
	a.answered()
	h := a.to.Header()
	if !slices.Equal(a.header["Content-Type"], jsonTypes) { // text of mcp-go that is no JSON, which clients cannot read
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

// notify writes a notification on the stream of the call, if the client accepts a stream.
func (a *answer) notify(method string, params any) {
	text, err := notification(method, params)
	if err != nil || !a.streams {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent || a.status != 0 && !a.events { // the answer is being written
		return
	}
	a.begin()
	a.emit(event(text))
	a.told = time.Now()
}

// finish writes the answer that was kept, or a head without a body. A request, which has an id, gets an answer even if
// mcp-go writes none. mcp-go writes none for a request that was cancelled, and for a result that is no JSON; the error
// for that is lost().
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

// bare writes a head without a body. The caller holds the lock.
func (a *answer) bare() {
	if a.sent = true; a.open || a.status == 0 {
		return
	}
	a.deadline()
	a.to.WriteHeader(a.status)
}

// fail answers with an error of the protocol. The caller holds the lock.
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

// event returns a message as one event of a stream (HTML, section 9.2, in the form that MCP uses).
func event(message []byte) []byte {
	const head, tail = "event: message\ndata: ", "\n\n"
	message = bytes.TrimSuffix(message, []byte("\n"))
	e := make([]byte, 0, len(head)+len(message)+len(tail))
	return append(append(append(e, head...), message...), tail...)
}

// refusalLine returns a JSON-RPC error. Without an id the error is about a request that was not read (MCP 2025-11-25,
// basic/transports).
func refusalLine(code int, id, message string) []byte {
	line := (&frameFault{code, id, message}).line()
	if id == "" {
		line = append([]byte(`{"jsonrpc":"2.0"`), line[len(answerStart):]...)
	}
	return line
}

// exchange is what a handler must know of a request over HTTP.
type exchange struct {
	answer *answer
	era    string          // protocol version of its session; "": the request names its own
	gone   context.Context // for a call: ends when the client goes or the server stops
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a request, or nil if the request came by another transport.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}
