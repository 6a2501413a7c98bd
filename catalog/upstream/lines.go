package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	lineBuffer  = 64 << 10  // bytes that are read at once
	keepBuffer  = 1 << 20   // bytes of a long line's buffer that are kept for the next line
	maxSkipped  = 256 << 20 // bytes of a too long message that are skipped; a longer one counts as endless
	longestHead = 4 << 10   // bytes of a too long message in which its id is searched
)

// unreadableError reports an answer that is not valid: too long, cut, not JSON, not a result.
type unreadableError struct{ error }

// Unwrap returns what is wrong with it.
func (e unreadableError) Unwrap() error { return e.error }

func tooLong(most int) error {
	return unreadableError{fmt.Errorf(messageTooLong, most)}
}

// errLong reports that a line is too long; see [lines.next] and [lines.skip].
var errLong = errors.New(lineTooLong)

// lines reads lines of a limited length. Only one goroutine may use it.
type lines struct {
	in   *bufio.Reader
	most int
	line []byte // a line that came in parts; at the end of the input the text after the last line feed
	head []byte // of the line that was too long
}

func newLines(in io.Reader, most int) *lines {
	return &lines{in: bufio.NewReaderSize(in, lineBuffer), most: most}
}

// next returns a line without its line feed; it is valid until the next call. After [errLong], call skip to read the
// rest of that line. Text after the last line feed is not a line.
func (l *lines) next() ([]byte, error) {
	if cap(l.line) > keepBuffer {
		l.line = nil
	}
	l.line = l.line[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		whole := err == nil
		if whole {
			part = part[:len(part)-1]
		}
		switch {
		case len(l.line)+len(part) > l.most:
			l.head = bytes.Clone(append(l.line, part[:min(len(part), longestHead)]...)[:min(len(l.line)+len(part), longestHead)])
			if whole { // nothing is left to skip
				err = l.in.UnreadByte()
			}
			l.line = nil
			return nil, errors.Join(errLong, ignoreFull(err))
		case whole && len(l.line) == 0:
			return part, nil
		case whole:
			l.line = append(l.line, part...)
			return l.line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			l.line = append(l.line, part...)
			return nil, err
		}
		l.line = append(l.line, part...)
	}
}

func ignoreFull(err error) error {
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil
	}
	return err
}

// skip reads to the end of a line that is too long.
func (l *lines) skip() error {
	for skipped := 0; skipped <= maxSkipped; {
		part, err := l.in.ReadSlice('\n')
		if err == nil {
			return nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		skipped += len(part)
	}
	return tooLong(maxSkipped)
}

// idOf returns the id of the message that begins with head, if the id comes before the part that made the message too
// long.
func idOf(head []byte) (mcp.RequestId, bool) {
	var none mcp.RequestId
	d := json.NewDecoder(bytes.NewReader(head))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return none, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return none, false
		}
		if name == "id" {
			var id mcp.RequestId
			if d.Decode(&id) != nil || id.IsNil() {
				return none, false
			}
			return id, true
		}
		var other json.RawMessage
		if d.Decode(&other) != nil {
			return none, false
		}
	}
	return none, false
}
