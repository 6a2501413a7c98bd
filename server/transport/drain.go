package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// What may be under way at once besides tools/calls. A client that asks without reading the answers, or asks for more
// than is sensible, is not read from until answers got out; so memory stays bounded.
const (
	maxFlying     = 32 << 20 // bytes of all lines under way; a single line may always fly
	maxListen     = 100      // subscriptions/listen, which last as long as their client likes
	maxListenLine = 64 << 10 // bytes of such a line
)

// flight knows which requests were passed on and are not answered yet. It is safe for concurrent use.
type flight struct {
	mu        sync.Mutex
	freed     *sync.Cond        // on mu: an answer is out, or the flight is closing
	slots     *slots            // of the server, which calls take; nil: as many as most allows
	most      int               // tools/calls at once, and as many other requests; more wait before they are passed on
	calls     int               // tools/calls whose answer is not out
	others    int               // other requests, without listeners
	listeners int               // subscriptions/listen
	bytes     int               // of the lines of calls and others
	pending   map[string]flyer  // requests without an answer by id
	answers   int               // that are being written
	takeBack  map[string][]byte // cancellations of pending calls, by the call's id
	closing   bool
	landed    chan struct{} // closed when closing and nothing is pending
}

// flyer is a request under way: its method and the bytes of its line.
type flyer struct {
	method string
	bytes  int
}

func newFlight(most int) *flight {
	f := &flight{most: most, pending: map[string]flyer{}, takeBack: map[string][]byte{}, landed: make(chan struct{})}
	f.freed = sync.NewCond(&f.mu)
	return f
}

// begin notes a request of so many bytes that is about to be passed on. It waits while too much is under way. It
// refuses, by a *frameFault, what comes when the flight is closing, an id that is in use and too many listeners.
func (f *flight) begin(r frame, size int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.full(r.method, size) && !f.closing {
		f.freed.Wait()
	}
	if f.closing {
		return &frameFault{codeBusy, r.id, "the server is stopping; nothing ran"}
	}
	if _, used := f.pending[r.id]; used {
		return &frameFault{codeRequest, "null", "Invalid Request: a request with this id is not answered yet"}
	}
	if r.method == methodListen {
		if f.listeners >= maxListen || size > maxListenLine {
			return &frameFault{codeBusy, r.id, fmt.Sprintf("at most %d subscriptions of %d bytes each", maxListen, maxListenLine)}
		}
		size = 0 // they do not end by themselves, so nothing may wait for them
	}
	if r.method == methodCall && f.slots != nil && !f.slots.take() {
		return f.slots.busy(r.id)
	}
	f.pending[r.id] = flyer{r.method, size}
	*f.counter(r.method)++
	f.bytes += size
	return nil
}

// full reports whether a request has to wait for answers to get out. Listeners are refused instead, see begin.
func (f *flight) full(method string, size int) bool {
	if method == methodListen {
		return false
	}
	return *f.counter(method) >= f.most || f.bytes > 0 && f.bytes+size > maxFlying
}

// counter counts the requests of a method's class.
func (f *flight) counter(method string) *int {
	switch method {
	case methodCall:
		return &f.calls
	case methodListen:
		return &f.listeners
	}
	return &f.others
}

// answer writes the answer to a request by send. Its id and slot are free before the client can know of the answer; its
// place is not before the answer is out.
func (f *flight) answer(id string, send func() error) error {
	f.mu.Lock()
	request, known := f.pending[id]
	delete(f.pending, id)
	delete(f.takeBack, id)
	if request.method == methodCall && f.slots != nil {
		f.slots.give()
	}
	f.answers++
	f.mu.Unlock()

	err := send()

	f.mu.Lock()
	defer f.mu.Unlock()
	if known {
		*f.counter(request.method)--
		f.bytes -= request.bytes
		f.freed.Broadcast()
	}
	f.answers--
	f.land()
	return err
}

// cancel keeps a cancellation of a call that may not have begun.
func (f *flight) cancel(r frame, line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending[r.about].method == methodCall {
		f.takeBack[r.about] = bytes.Clone(line)
	}
}

// canceled is the cancellation of the call with a decoded id; nil if there is none.
func (f *flight) canceled(id any) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.takeBack) == 0 {
		return nil
	}
	text, err := json.Marshal(id)
	if err != nil {
		return nil
	}
	return f.takeBack[string(text)]
}

// giveBack frees the slots of calls that are never answered.
func (f *flight) giveBack() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, request := range f.pending {
		if request.method == methodCall && f.slots != nil {
			f.slots.give()
		}
		delete(f.pending, id)
	}
}

// close takes nothing more and returns how many calls are under way. landed tells when all is answered.
func (f *flight) close() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closing {
		f.closing = true
		f.freed.Broadcast()
		f.land()
	}
	running := 0
	for _, request := range f.pending {
		if request.method == methodCall {
			running++
		}
	}
	return running
}

// land closes landed when everything is over. What only listens for as long as it can is not waited for.
func (f *flight) land() {
	if !f.closing || f.answers > 0 {
		return
	}
	for _, request := range f.pending {
		if request.method != methodListen {
			return
		}
	}
	select {
	case <-f.landed:
	default:
		close(f.landed)
	}
}
