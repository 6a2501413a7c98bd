package upstream

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// trace records what happened to one request, as far as its carrier knows. It is safe for concurrent use.
type trace struct {
	many bool // for several requests one after another: the latest counts; otherwise the first
	once bool // for a call that must not be sent twice

	mu     sync.Mutex
	sent   bool          // the server may have read all of it
	status int           // of the HTTP answer; 0: none
	stream bool          // the answer is a stream of events
	after  time.Duration // Retry-After; 0: none
	fault  error         // what was wrong with the answer
	doubt  bool          // refused in a way after which a repeatable call would be sent again
}

type traceKey struct{}

// withTrace returns a context in which the carrier of a request records in t what happens to the request.
func withTrace(ctx context.Context, t *trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// traceOf returns the trace of a request's context, or an unused trace if there is none.
func traceOf(ctx context.Context) *trace {
	if t, ok := ctx.Value(traceKey{}).(*trace); ok {
		return t
	}
	return &trace{}
}

// next returns the trace for a further HTTP request of the same call. After the server has begun to answer the call,
// such a request continues the stream of the answer, or answers a question in it. It shows nothing about the call, so
// it gets a trace of its own.
func (t *trace) next() *trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.many && t.status/100 == 2 {
		return &trace{}
	}
	return t
}

// begin records an attempt over a new connection and clears the record of an earlier one. Nothing of the earlier
// attempt was sent, or its answer was a redirect.
func (t *trace) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent, t.status, t.stream, t.after, t.fault = false, 0, false, 0, nil
}

// wrote records that the server may have read the whole request.
func (t *trace) wrote() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = true
}

// answered records the status and headers of an HTTP answer.
func (t *trace) answered(answer *http.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status, t.stream = answer.StatusCode, isStream(answer.Header)
	t.after, _ = retryAfter(answer.Header.Get("Retry-After"))
}

// doubts records that the server refused a call that may not be sent again. The outcome is then unknown.
func (t *trace) doubts() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doubt = true
}

// found records a fault of the answer.
func (t *trace) found(fault error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault = fault
}

// read returns what is known so far.
func (t *trace) read() traced {
	t.mu.Lock()
	defer t.mu.Unlock()
	return traced{t.sent, t.status, t.stream, t.after, t.fault, t.doubt}
}

// traced is a trace at one moment; see [trace] for its members.
type traced struct {
	sent   bool
	status int
	stream bool
	after  time.Duration
	fault  error
	doubt  bool
}
