package upstream

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
)

// The bounds of what a server may send, in bytes.
const (
	maxMessage = 8 << 20  // one message
	maxAnswer  = 16 << 20 // all messages of one HTTP answer
)

// boundedLines passes a server's lines on until one is longer than most; then fault says so, and reading ends by it. It
// is read by one goroutine; fault may be asked for by any.
type boundedLines struct {
	in   io.Reader
	most int
	line int // bytes of the present line
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

// fault says why reading ended before the input did; nil where it did not.
func (b *boundedLines) fault() error {
	if b.long.Load() {
		return tooLong(b.most)
	}
	return nil
}

// boundedBody passes an HTTP body on, bounded by line and as a whole. note is told what was wrong with it.
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
		fault = unreadableError{fmt.Errorf("the server's answer is longer than %d bytes", maxAnswer)}
	}
	if fault != nil {
		b.note(fault)
		return 0, fault
	}
	return n, err
}

// Close implements [io.Closer].
func (b *boundedBody) Close() error { return b.body.Close() }
