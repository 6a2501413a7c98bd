package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// firstRead is the size of the first buffer for a body, in bytes. The buffer grows with what arrives, so a length that
// is only announced takes no memory.
const firstRead = 4 << 10

// bodyReader reads one body within the limits of its endpoint.
type bodyReader struct {
	e      *endpoint
	held   int // bytes that it added to those under way
	weight int // bytes that it added to the weights under way
}

// read reads the whole body of a request. Call release when the request is over.
func (b *bodyReader) read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	most := b.e.config.BodyBytes
	if r.ContentLength > int64(most) {
		return nil, b.tooLong()
	}
	expected := firstRead
	if r.ContentLength >= 0 {
		expected = min(expected, int(r.ContentLength))
	}
	buffer := make([]byte, 0, expected+1) // one byte more, to see the end
	if !b.hold(cap(buffer)) {
		return nil, b.busy()
	}
	from := http.MaxBytesReader(w, r.Body, int64(most))
	for {
		n, err := from.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err != nil {
			return buffer, b.ended(w, err)
		}
		if len(buffer) < cap(buffer) {
			continue
		}
		size := min(2*cap(buffer), most+1)
		if r.ContentLength >= 0 {
			size = min(size, int(r.ContentLength)+1)
		}
		if !b.hold(size - cap(buffer)) {
			return nil, b.busy()
		}
		buffer = append(make([]byte, 0, max(size, cap(buffer)+1)), buffer...)
	}
}

// ended returns why a body that ended with err is refused, or nil.
func (b *bodyReader) ended(w http.ResponseWriter, err error) *refusal {
	control := http.NewResponseController(w)
	if errors.Is(err, io.EOF) {
		_ = control.SetReadDeadline(time.Time{}) // net/http reads on, to notice a client that goes
		return nil
	}
	refused := refuse(http.StatusBadRequest, bodyEnded)
	switch _, tooLong := errors.AsType[*http.MaxBytesError](err); {
	case tooLong:
		return b.tooLong()
	case errors.Is(err, os.ErrDeadlineExceeded):
		refused = refuse(http.StatusRequestTimeout, bodyTookTooLong, b.e.limits.Body)
	}
	refused.close = true
	return refused
}

func (b *bodyReader) tooLong() *refusal {
	refused := refuse(http.StatusRequestEntityTooLarge, bodyTooLarge, b.e.config.BodyBytes)
	refused.close, refused.linger = true, true
	return refused
}

func (b *bodyReader) busy() *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: codeBusy, close: true, linger: true,
		message: busyLong}
}

// hold adds n bytes to those under way. It reports whether they are within the limit. A single body is always allowed.
func (b *bodyReader) hold(n int) bool {
	under := b.e.bodies.Add(int64(n))
	b.held += n
	return under <= int64(b.e.limits.Bodies) || under == int64(b.held)
}

// weigh adds the memory that a body takes as decoded JSON to what is under way. A text of empty objects takes more than
// a hundred times its length, so a few of them could use all memory. A single body is always allowed.
func (b *bodyReader) weigh(body []byte) *refusal {
	b.weight = weightOf(body)
	under := b.e.weights.Add(int64(b.weight))
	if under <= int64(b.e.limits.Weights) || under == int64(b.weight) {
		return nil
	}
	return b.busy()
}

// weightOf estimates how many bytes of memory a text takes as JSON that mcp-go and this server decode once each. The
// estimate is too high for texts with many braces and commas inside strings.
func weightOf(body []byte) int {
	const object, list, element, readers = 400, 64, 48, 2
	count := func(c byte) int { return bytes.Count(body, []byte{c}) }
	return readers * (2*len(body) + object*count('{') + list*count('[') + element*count(','))
}

// release subtracts what this body added to the bytes under way.
func (b *bodyReader) release() {
	b.e.bodies.Add(int64(-b.held))
	b.e.weights.Add(int64(-b.weight))
}
