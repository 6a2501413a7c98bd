package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson"
)

// stuckGrace is how long a write may continue after its caller gave up. A server that has not read the line by then no
// longer reads, and blocks all other callers.
const stuckGrace = 250 * time.Millisecond

// maxReplies is how many answers to the server's questions may wait to be written. Further questions get no answer.
const maxReplies = 16

var (
	errEnded = errors.New(sessionClosed)
	errStuck = errors.New(serverNotReading)
)

// pipes is a transport over a pair of pipes. It is safe for concurrent use.
//
//	SendRequest ─▶ frames ─▶ writer ─▶ out        in ─▶ reader ─▶ waiting ─▶ SendRequest
//
// It adds these to mcp-go's own transport:
//
//   - A write ends with its context.
//   - It knows for each request whether it was written.
//   - It keeps only its open requests.
//   - It continues after a message that is too long.
type pipes struct {
	in      *lines
	out     io.WriteCloser
	frames  chan *frame
	replies chan *frame
	done    chan struct{} // closed by fail
	begun   sync.Once
	present atomic.Pointer[frame] // the one that is being written

	mu      sync.Mutex
	why     error // set when done is closed
	waiting map[string]chan answer
	tell    func(mcp.JSONRPCNotification)
	onEnd   func() // called once, in its own goroutine, if the session ends without Close; may be nil
}

// frame is one line to be sent to the server.
type frame struct {
	text    []byte
	trace   *trace
	written chan struct{} // closed after the attempt to write it
}

// answer is the response or error for a request.
type answer struct {
	response *transport.JSONRPCResponse
	err      error
}

var _ transport.Interface = (*pipes)(nil)

func newPipes(in io.Reader, out io.WriteCloser) *pipes {
	return &pipes{
		in: newLines(in, maxMessage), out: out, frames: make(chan *frame), replies: make(chan *frame, maxReplies),
		done: make(chan struct{}), waiting: map[string]chan answer{},
	}
}

// Start starts to read and write. Further calls do nothing.
func (p *pipes) Start(context.Context) error {
	p.begun.Do(func() {
		go p.write()
		go p.read()
	})
	return nil
}

// SendRequest sends a request and waits for its response, or for the end of ctx or of the session.
func (p *pipes) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	key, got := r.ID.String(), make(chan answer, 1)
	if err := p.await(key, got); err != nil {
		return nil, err
	}
	defer p.forget(key)
	f := &frame{append(text, '\n'), traceOf(ctx), make(chan struct{})}
	if err := p.hand(ctx, f); err != nil {
		return nil, err
	}
	select {
	case a := <-got:
		f.trace.wrote() // the writer may not have recorded it yet
		return a.response, a.err
	case <-ctx.Done():
		p.unstick(f)
		err = ctx.Err()
	case <-p.done:
		p.settle(f)
		err = p.ended()
	}
	select {
	case a := <-got: // it came at the last moment
		f.trace.wrote()
		return a.response, a.err
	default:
		return nil, err
	}
}

// SendNotification sends a notification. It returns when the notification is written.
func (p *pipes) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f := &frame{append(text, '\n'), &trace{}, make(chan struct{})}
	if err := p.hand(ctx, f); err != nil {
		return err
	}
	select {
	case <-f.written:
		return nil
	case <-ctx.Done():
		p.unstick(f)
		return ctx.Err()
	case <-p.done:
		return p.ended()
	}
}

// SetNotificationHandler sets the function that receives notifications. The goroutine that reads calls it, so it must
// not wait.
func (p *pipes) SetNotificationHandler(f func(mcp.JSONRPCNotification)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell = f
}

// GetSessionId returns "", because pipes have no sessions.
func (p *pipes) GetSessionId() string { return "" }

// Close ends the session without calling onEnd. The caller must wait for the other side.
func (p *pipes) Close() error {
	p.mu.Lock()
	p.onEnd = nil
	p.mu.Unlock()
	p.fail(errEnded)
	return nil
}

// await registers got for the response with that key.
func (p *pipes) await(key string, got chan answer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return p.why
	}
	p.waiting[key] = got
	return nil
}

func (p *pipes) forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, key)
}

// hand passes a frame to the writer.
func (p *pipes) hand(ctx context.Context, f *frame) error {
	select {
	case p.frames <- f:
		return nil
	case <-p.done:
		return p.ended()
	case <-ctx.Done():
		if before := p.present.Load(); before != nil {
			p.unstick(before)
		}
		return ctx.Err()
	}
}

// unstick waits a moment for a frame to be written, and then ends a session that does not read it.
func (p *pipes) unstick(f *frame) {
	select {
	case <-f.written:
		return
	default:
	}
	timer := time.NewTimer(stuckGrace)
	defer timer.Stop()
	select {
	case <-f.written:
	case <-timer.C:
		p.fail(errStuck)
		p.settle(f)
	}
}

// settle waits until it is known whether a frame was written. The session is over, so the wait is short.
func (p *pipes) settle(f *frame) {
	timer := time.NewTimer(stuckGrace)
	defer timer.Stop()
	select {
	case <-f.written:
	case <-timer.C: // the write continues after the end of the pipe: outcome unknown
		f.trace.wrote()
	}
}

// write writes frames one after another.
func (p *pipes) write() {
	for {
		var f *frame
		select {
		case <-p.done:
			return
		case f = <-p.frames:
		case f = <-p.replies:
		}
		p.present.Store(f)
		n, err := p.out.Write(f.text)
		if n >= len(f.text)-1 { // without its last brace it is not a request
			f.trace.wrote()
		}
		p.present.Store(nil)
		close(f.written)
		if err != nil {
			p.fail(errEnded)
			return
		}
	}
}

// read reads messages until the input ends.
func (p *pipes) read() {
	for {
		line, err := p.in.next()
		switch {
		case err == nil:
			p.take(line)
			continue
		case errors.Is(err, errLong):
			err = p.long()
		default: // any other end of the input
			err = errEnded
		}
		if err != nil {
			p.fail(err)
			return
		}
	}
}

// long returns an error to the call whose answer is too long, and skips the rest of the answer. If it does not know
// which call that is, or the message has no end, it returns an error that ends the session.
func (p *pipes) long() error {
	id, ok := idOf(p.in.head)
	if !ok || !p.deliver(id, answer{err: tooLong(maxMessage)}) {
		return tooLong(maxMessage)
	}
	if err := p.in.skip(); err != nil {
		if _, endless := errors.AsType[unreadableError](err); endless {
			return err
		}
		return errEnded
	}
	return nil
}

// message is one message of the server. The data of an error may be any value and stays unchanged.
type message struct {
	ID     mcp.RequestId   `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// take handles one line. It ignores text that is not a message, and answers to no open request.
func (p *pipes) take(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil {
		return
	}
	switch {
	case m.Method != "" && m.ID.IsNil():
		p.notify(line)
	case m.Method != "":
		p.reply(m)
	case ijson.Repeats(line, ""):
		p.deliver(m.ID, answer{err: unreadableError{errRepeated}})
	default:
		r := &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: m.ID, Result: m.Result}
		if m.Error != nil {
			r.Error = &mcp.JSONRPCErrorDetails{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
		}
		p.deliver(m.ID, answer{response: r})
	}
}

// notify passes a notification to the handler.
func (p *pipes) notify(line []byte) {
	p.mu.Lock()
	tell := p.tell
	p.mu.Unlock()
	var n mcp.JSONRPCNotification
	if tell != nil && json.Unmarshal(line, &n) == nil {
		tell(n)
	}
}

// reply answers a question of the server. It supports only ping. If the server does not read the answers, it gets no
// more of them.
func (p *pipes) reply(m message) {
	response := map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": m.ID}
	if m.Method == string(mcp.MethodPing) {
		response["result"] = struct{}{}
	} else {
		response["error"] = map[string]any{"code": mcp.METHOD_NOT_FOUND, "message": noRequestsAnswered}
	}
	text, err := json.Marshal(response)
	if err != nil {
		return
	}
	select {
	case p.replies <- &frame{append(text, '\n'), &trace{}, make(chan struct{})}:
	default:
	}
}

// deliver passes an answer to its request and reports whether there is one.
func (p *pipes) deliver(id mcp.RequestId, a answer) bool {
	key := id.String()
	p.mu.Lock()
	defer p.mu.Unlock()
	got, ok := p.waiting[key]
	if ok {
		delete(p.waiting, key)
		got <- a // it has room for the only answer
	}
	return ok
}

// fail ends the session and keeps the first reason.
func (p *pipes) fail(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return
	}
	p.why = why
	close(p.done)
	_ = p.out.Close() // also ends a write that continues
	if p.onEnd != nil {
		go p.onEnd()
	}
}

// ended returns why the session is over, or nil if it is not.
func (p *pipes) ended() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}
