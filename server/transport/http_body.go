package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// firstRead is what is set aside for a body before any of it came. More follows what came, so that a length that is
// only announced costs nothing.
const firstRead = 4 << 10

// bodyReader reads one body within the bounds of its endpoint.
type bodyReader struct {
	e      *endpoint
	held   int // bytes that it counts for among those under way
	weight int // of what it becomes when it is read as JSON, likewise
}

// read takes the body of a request whole. What it holds is given back by release, when the request is over.
func (b *bodyReader) read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	most := b.e.config.BodyBytes
	if r.ContentLength > int64(most) {
		return nil, b.tooLong()
	}
	expected := firstRead
	if r.ContentLength >= 0 {
		expected = min(expected, int(r.ContentLength))
	}
	buffer := make([]byte, 0, expected+1) // one more, for the end to show
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

// ended judges how a body ended; nil: well.
func (b *bodyReader) ended(w http.ResponseWriter, err error) *refusal {
	control := http.NewResponseController(w)
	if errors.Is(err, io.EOF) {
		_ = control.SetReadDeadline(time.Time{}) // a client that goes away is noticed by reading on
		return nil
	}
	refused := refuse(http.StatusBadRequest, "the body ended early")
	switch _, tooLong := errors.AsType[*http.MaxBytesError](err); {
	case tooLong:
		return b.tooLong()
	case errors.Is(err, os.ErrDeadlineExceeded):
		refused = refuse(http.StatusRequestTimeout, "the body took longer than %v", b.e.limits.Body)
	}
	refused.close = true
	return refused
}

func (b *bodyReader) tooLong() *refusal {
	refused := refuse(http.StatusRequestEntityTooLarge, "a request has at most %d bytes", b.e.config.BodyBytes)
	refused.close, refused.linger = true, true
	return refused
}

func (b *bodyReader) busy() *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: codeBusy, close: true, linger: true,
		message: "busy: too many long requests are under way; try again; nothing ran"}
}

// hold counts bytes among those under way. What is alone may always be.
func (b *bodyReader) hold(n int) bool {
	under := b.e.bodies.Add(int64(n))
	b.held += n
	return under <= int64(b.e.limits.Bodies) || under == int64(b.held)
}

// weigh counts what a body becomes when it is read as JSON among what is under way: a text of empty objects takes more
// than a hundred times its length, and few of them would take all memory there is. What is alone may always be.
func (b *bodyReader) weigh(body []byte) *refusal {
	b.weight = weightOf(body)
	under := b.e.weights.Add(int64(b.weight))
	if under <= int64(b.e.limits.Weights) || under == int64(b.weight) {
		return nil
	}
	return b.busy()
}

// weightOf is about how many bytes of memory a text takes as JSON, read once by mcp-go and once here. Texts with many
// braces and commas in strings are taken for heavier than they are.
func weightOf(body []byte) int {
	const object, list, element, readers = 400, 64, 48, 2
	count := func(c byte) int { return bytes.Count(body, []byte{c}) }
	return readers * (2*len(body) + object*count('{') + list*count('[') + element*count(','))
}

func (b *bodyReader) release() {
	b.e.bodies.Add(int64(-b.held))
	b.e.weights.Add(int64(-b.weight))
}
