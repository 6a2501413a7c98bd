package upstream

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// trace is what became of one request on its way, as far as its carrier knows. It is safe for concurrent use.
type trace struct {
	many bool // of several requests, one after the other: the latest counts; else the first
	once bool // of a call that must not be sent twice

	mu     sync.Mutex
	sent   bool          // the server may have read it whole
	status int           // of the HTTP answer; 0: none
	stream bool          // the answer is a stream of events
	after  time.Duration // Retry-After; 0: none
	fault  error         // what was wrong with the answer
	doubt  bool          // a refusal for which a call that may be repeated is sent again
}

type traceKey struct{}

// withTrace has whoever carries a request note in t what becomes of it.
func withTrace(ctx context.Context, t *trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// traceOf is the trace of a request's context; one that nobody reads where it has none.
func traceOf(ctx context.Context) *trace {
	if t, ok := ctx.Value(traceKey{}).(*trace); ok {
		return t
	}
	return &trace{}
}

// next is the trace for a further HTTP request of the same call. Once the server has begun to answer the call, such a request
// resumes the stream of the answer, or answers a question asked there, and says nothing of what became of the call.
func (t *trace) next() *trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.many && t.status/100 == 2 {
		return &trace{}
	}
	return t
}

// begin notes an attempt over a new connection. What an earlier one noted is void: nothing of it was sent, or it was
// answered by a redirect.
func (t *trace) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent, t.status, t.stream, t.after, t.fault = false, 0, false, 0, nil
}

// wrote notes that the server may have read the request whole.
func (t *trace) wrote() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = true
}

// answered notes the head of an HTTP answer.
func (t *trace) answered(answer *http.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status, t.stream = answer.StatusCode, isStream(answer.Header)
	t.after, _ = retryAfter(answer.Header.Get("Retry-After"))
}

// doubts notes that the server refused a call as it would refuse one that it did not begin, and that the call is not sent again.
func (t *trace) doubts() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doubt = true
}

// found notes a fault of the answer.
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
