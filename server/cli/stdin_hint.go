package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// hintAfter is how long Patterngate waits for a first message before it prints bareHint, if it was started without arguments.
const hintAfter = 2 * time.Second

// hinting prints the hint if no JSON arrives on in for a while, or if something else arrives. after starts a timer and returns a function
// that stops it; nil uses a real timer. stop ends the wait.
func hinting(in io.Reader, to io.Writer, after func(time.Duration, func()) (stop func() bool)) (r io.Reader, stop func()) {
	if after == nil {
		after = func(d time.Duration, do func()) func() bool { return time.AfterFunc(d, do).Stop }
	}
	h := &hintReader{in: in, to: to}
	ended := after(hintAfter, h.print)
	return h, func() {
		ended()
		h.once.Do(func() {})
	}
}

// hintReader checks the first byte that is not white space: a JSON-RPC message begins with a brace.
type hintReader struct {
	in   io.Reader
	to   io.Writer
	once sync.Once
	seen bool // the first byte was looked at
}

func (h *hintReader) print() {
	h.once.Do(func() { _, _ = fmt.Fprint(h.to, bareHint) })
}

// Read implements [io.Reader].
func (h *hintReader) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	for _, c := range p[:n] {
		if h.seen {
			break
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{', '[':
			h.once.Do(func() {}) // a client speaks
		default:
			h.print()
		}
		h.seen = true
	}
	return n, err
}
