package llmtest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

const (
	trickle = 5 * time.Millisecond // the pace of an endless body
	forever = 1 << 40 * time.Microsecond
)

const statusOK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// Server is a model server on loopback. It is safe for concurrent use; replies go out in the order in which requests
// come. Close it when the test ends.
type Server struct {
	// URL is the base URL for a client, ending in /v1.
	URL string

	web    *httptest.Server
	closed chan struct{}
	answer func(Request) Reply // set: answers everything, nothing is recorded

	mu       sync.Mutex
	replies  []Reply
	requests []Request
}

// NewServer starts a server that gives these replies, one a request. A request beyond the script is answered with
// status 500 and recorded like the others.
func NewServer(replies ...Reply) *Server {
	s := &Server{replies: replies}
	s.start()
	return s
}

// NewFunc starts a server that answers every request by answer, without a delay and without a record: the stub for
// benchmarks. answer may be called at once from several goroutines.
func NewFunc(answer func(Request) Reply) *Server {
	s := &Server{answer: answer}
	s.start()
	return s
}

func (s *Server) start() {
	s.closed = make(chan struct{})
	s.web = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.web.URL + "/v1"
}

// Close stops the server and every reply that still runs.
func (s *Server) Close() {
	close(s.closed)
	s.web.CloseClientConnections()
	s.web.Close()
}

// Script replaces what is left of the script and forgets all requests.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies, s.requests = replies, nil
}

// Requests returns what came since the last [Server.Script], in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left while it asked
	}
	reply := s.next(Request{Method: r.Method, Path: r.URL.Path, Header: r.Header, Body: body, From: r.RemoteAddr})
	if reply.delay > 0 && !s.wait(r, reply.delay) {
		panic(http.ErrAbortHandler)
	}
	s.write(w, r, reply)
}

func (s *Server) next(req Request) Reply {
	if s.answer != nil {
		return s.answer(req)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Unexpected = len(s.replies) == 0
	s.requests = append(s.requests, req)
	if req.Unexpected {
		return Status(http.StatusInternalServerError)
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, reply Reply) {
	switch reply.kind {
	case silence:
		s.wait(r, forever)
		panic(http.ErrAbortHandler)
	case reset:
		hangUp(w, nil)
	case truncated:
		hangUp(w, fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n%s", statusOK, len(reply.body), reply.body[:len(reply.body)/2]))
	case unframed:
		hangUp(w, fmt.Appendf(nil, "%sConnection: close\r\n\r\n%s", statusOK, reply.body))
	case endless:
		s.drip(w, r, reply)
	default:
		if reply.code == 0 {
			reply = Content("") // the zero Reply
		}
		head(w, reply)
		w.Header().Set("Content-Length", strconv.Itoa(len(reply.body)))
		w.WriteHeader(reply.code)
		_, _ = w.Write(reply.body) // a client that left needs no answer
	}
}

func head(w http.ResponseWriter, reply Reply) {
	w.Header().Set("Content-Type", reply.media)
	for name, values := range reply.header {
		w.Header()[name] = values
	}
}

func (s *Server) drip(w http.ResponseWriter, r *http.Request, reply Reply) {
	head(w, reply)
	w.WriteHeader(reply.code)
	for s.wait(r, trickle) {
		if _, err := w.Write([]byte(" ")); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
	panic(http.ErrAbortHandler)
}

// wait reports whether the time passed before the client left or the server closed.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-s.closed:
	}
	return false
}

// hangUp sends the bytes as they are and closes the connection: with a reset where there is nothing to send.
func hangUp(w http.ResponseWriter, last []byte) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err) // HTTP/1 on a connection of our own
	}
	defer conn.Close()
	if last == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // without it the client sees an orderly end, which is a broken answer all the same
		}
		return
	}
	_, _ = conn.Write(last)
}
