package upstream

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
)

// These are the limits, in bytes, of what a server may send.
const (
	maxMessage = 8 << 20  // one message
	maxAnswer  = 16 << 20 // all messages of one HTTP answer
)

// boundedLines returns a server's lines until one is longer than most. Then Read returns the error of fault. One
// goroutine reads; any goroutine may call fault.
type boundedLines struct {
	in   io.Reader
	most int
	line int // bytes of the current line
	long atomic.Bool
}

func newBoundedLines(in io.Reader, most int) *boundedLines { return &boundedLines{in: in, most: most} }

// Read implements [io.Reader].
func (b *boundedLines) Read(p []byte) (int, error) {
	if err := b.fault(); err != nil {
		return 0, err
	}
	n, err := b.in.Read(p)
	for rest := p[:n]; len(rest) > 0 && b.line <= b.most; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			b.line += len(rest)
			break
		}
		if b.line += end; b.line <= b.most {
			b.line, rest = 0, rest[end+1:]
		}
	}
	if b.line > b.most {
		b.long.Store(true)
		return 0, b.fault()
	}
	return n, err
}

// fault returns why reading ended before the input did, or nil if it did not.
func (b *boundedLines) fault() error {
	if b.long.Load() {
		return tooLong(b.most)
	}
	return nil
}

// boundedBody is an HTTP body with a limit for each line and for the whole. It calls note with each fault.
type boundedBody struct {
	body  io.ReadCloser
	whole io.LimitedReader
	lines *boundedLines
	note  func(error)
}

func newBoundedBody(body io.ReadCloser, note func(error)) *boundedBody {
	b := &boundedBody{body: body, note: note, whole: io.LimitedReader{R: body, N: maxAnswer + 1}}
	b.lines = newBoundedLines(&b.whole, maxMessage)
	return b
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.lines.Read(p)
	fault := b.lines.fault()
	if fault == nil && b.whole.N <= 0 {
		fault = unreadableError{fmt.Errorf(answerTooLong, maxAnswer)}
	}
	if fault != nil {
		b.note(fault)
		return 0, fault
	}
	return n, err
}

// Close implements [io.Closer].
func (b *boundedBody) Close() error { return b.body.Close() }
