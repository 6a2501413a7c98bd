package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// hintAfter is how long a program that was started without arguments waits for a message before it says what it waits for.
const hintAfter = 2 * time.Second

// bareHint tells a person, who started the program without arguments and not at a terminal, what it waits for.
const bareHint = `Patterngate waits for an MCP client: JSON-RPC messages on standard input, one per line. None has arrived yet.
Run "patterngate --help" for the commands, or "patterngate setup" to add Patterngate to a client.
`

// hinting has the hint printed where no JSON arrives on in for a while, or something else does. after starts a timer and returns what
// stops it; nil: a real one. stop ends the wait.
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

// hintReader looks at the first byte that is no white space: a JSON-RPC message begins with a brace.
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
