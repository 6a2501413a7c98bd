package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"patterngate/ijson"
)

// maxTapped is how much of one line is kept, in bytes; the session ends by a longer one.
const maxTapped = 8 << 20

// wireTap reads what a program writes and keeps what doctor asks for: lines that are no messages, and the pages of
// tools/list as they were sent. One goroutine reads it; what it kept may be asked for by any.
type wireTap struct {
	io.ReadCloser
	line []byte

	mu    sync.Mutex
	lines int
	junk  int               // lines that are no JSON-RPC
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

// take judges a line.
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
	var wrong *json.UnmarshalTypeError // a result of another shape is none of ours
	if err != nil && !asType(err, &wrong) || message.Version != "2.0" {
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

// seen is what was kept.
func (t *wireTap) seen() (junk int, first string, tools []json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.junk, t.first, t.tools
}

// tailWriter keeps the end of what is written.
type tailWriter struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is how much it keeps, in bytes.
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

// String is what it kept.
func (w *tailWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}
