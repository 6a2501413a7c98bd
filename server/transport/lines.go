package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line that a client may send, in bytes. The bodies of HTTP have the same limit by default.
const maxLine = 4 << 20

var errLongLine = errors.New(lineTooLong)

// lines reads lines of limited length. It reads and drops what is longer, so memory stays bounded.
type lines struct {
	in   *bufio.Reader
	most int
	line []byte
}

func newLines(in io.Reader, most int) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), most: most}
}

// next returns the next line without its line feed. The line is valid until the next call. For a line that is too long
// it returns errLongLine, and the line after it can be read. The last line may lack its line feed.
func (l *lines) next() ([]byte, error) {
	if cap(l.line) > 64<<10 {
		l.line = nil // long lines are rare, so their memory is freed
	}
	l.line = l.line[:0]
	began, long := false, false
	for {
		part, err := l.in.ReadSlice('\n')
		began = began || len(part) > 0
		if long = long || len(l.line)+len(part) > l.most; long {
			l.line = nil
		} else {
			l.line = append(l.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !began:
			return nil, err
		case long:
			return nil, errLongLine
		}
		return bytes.TrimSuffix(l.line, []byte("\n")), nil // the next call returns an error again
	}
}
