package server

import (
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
	e    *endpoint
	held int // bytes that it counts for among those under way
}

// read takes the body of a request whole. What it holds is given back by release, when the request is over.
func (b *bodyReader) read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	most := b.e.config.BodyBytes
	if r.ContentLength > int64(most) {
		return nil, b.tooLong(w)
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
		return b.tooLong(w)
	case errors.Is(err, os.ErrDeadlineExceeded):
		refused = refuse(http.StatusRequestTimeout, "the body took longer than %v", b.e.limits.body)
	}
	refused.close = true
	return refused
}

func (b *bodyReader) tooLong(w http.ResponseWriter) *refusal {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // net/http would read some more of it
	refused := refuse(http.StatusRequestEntityTooLarge, "a request has at most %d bytes", b.e.config.BodyBytes)
	refused.close = true
	return refused
}

func (b *bodyReader) busy() *refusal {
	return &refusal{http.StatusServiceUnavailable, codeBusy, "", "busy: too many long requests are under way; try again; nothing ran", true}
}

// hold counts bytes among those under way. What is alone may always be.
func (b *bodyReader) hold(n int) bool {
	under := b.e.bodies.Add(int64(n))
	b.held += n
	return under <= int64(b.e.limits.bodies) || under == int64(b.held)
}

func (b *bodyReader) release() { b.e.bodies.Add(int64(-b.held)) }
