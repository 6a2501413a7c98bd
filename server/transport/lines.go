package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line taken from a client, in bytes (spec/surface.md section 6 has the same for bodies).
const maxLine = 4 << 20

var errLongLine = errors.New("the line is longer than 4 MiB")

// lines reads lines of bounded length. What is beyond is read and dropped, so memory stays bounded whatever comes.
type lines struct {
	in   *bufio.Reader
	most int
	line []byte
}

func newLines(in io.Reader, most int) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), most: most}
}

// next returns the next line without its end; it is valid until the following call. A line that is too long is
// errLongLine, and the one after it may be read. A last line may lack its end.
func (l *lines) next() ([]byte, error) {
	if cap(l.line) > 64<<10 {
		l.line = nil // a long line is rare; its memory is not kept
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
		return bytes.TrimSuffix(l.line, []byte("\n")), nil // an error comes again with the next call
	}
}
