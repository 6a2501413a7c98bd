package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"patterngate/ijson"
)

// maxTapped is the maximum length of a kept line in bytes. A longer line ends the session.
const maxTapped = 8 << 20

// wireTap reads a program's output and keeps what doctor needs: lines that are not messages, and the raw pages of
// tools/list. One goroutine reads; any goroutine can call seen.
type wireTap struct {
	io.ReadCloser
	line []byte

	mu    sync.Mutex
	lines int
	junk  int               // number of lines that are not JSON-RPC
	first string            // of them
	tools []json.RawMessage // all pages
}

// Read implements [io.Reader].
func (t *wireTap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			if len(t.line) <= maxTapped {
				t.line = append(t.line, rest...)
			}
			break
		}
		t.line = append(t.line, rest[:end]...)
		t.take(t.line)
		t.line, rest = t.line[:0], rest[end+1:]
	}
	return n, err
}

// take checks a line.
func (t *wireTap) take(line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines++
	var message struct {
		Version string `json:"jsonrpc"`
		Result  struct {
			Tools []json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	err := json.Unmarshal(line, &message)
	_, otherShape := errors.AsType[*json.UnmarshalTypeError](err) // a result of another shape is ignored
	if err != nil && !otherShape || message.Version != "2.0" {
		t.junk++
		if t.first == "" {
			t.first = ijson.Cut(string(line), 120)
		}
		return
	}
	for _, tool := range message.Result.Tools {
		t.tools = append(t.tools, bytes.Clone(tool))
	}
}

// seen returns what was kept.
func (t *wireTap) seen() (junk int, first string, tools []json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.junk, t.first, t.tools
}

// tailWriter keeps the end of the text written to it.
type tailWriter struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is the number of bytes that it keeps.
const maxTail = 4 << 10

// Write implements [io.Writer].
func (w *tailWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if over := len(w.text) - maxTail; over > 0 {
		w.text = append([]byte(nil), w.text[over:]...)
	}
	return len(p), nil
}

// String returns the kept text.
func (w *tailWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}
