package transport

import (
	"bytes"
	"encoding/json"
	"sync"
)

// These limits hold for the requests of one stdio connection that are under way, besides the number of calls. The
// connection reads nothing from a client that sends requests without reading the answers, or that sends too many, until
// answers are written. So memory stays bounded.
const (
	maxFlying     = 32 << 20 // bytes of all lines under way; a single line is always allowed
	maxListen     = 100      // subscriptions/listen
	maxListenLine = 64 << 10 // bytes of a subscription's line
)

// flight knows the requests that mcp-go got and has not answered. It is safe for concurrent use.
type flight struct {
	mu        sync.Mutex
	freed     *sync.Cond        // on mu: an answer is written, or the flight is closing
	slots     *slots            // of the server; nil: only most limits the calls
	most      int               // tools/calls at once, and as many other requests; more of them wait
	calls     int               // tools/calls whose answer is not written
	others    int               // other requests, without subscriptions
	listeners int               // subscriptions/listen
	bytes     int               // length of the lines of calls and others
	pending   map[string]flyer  // requests without an answer, by id
	answers   int               // answers that are being written
	takeBack  map[string][]byte // cancellations of pending calls, by the id of the call
	closing   bool
	landed    chan struct{} // closed when closing and nothing is pending
}

// flyer is one request under way: its method and the length of its line.
type flyer struct {
	method string
	bytes  int
}

func newFlight(most int) *flight {
	f := &flight{most: most, pending: map[string]flyer{}, takeBack: map[string][]byte{}, landed: make(chan struct{})}
	f.freed = sync.NewCond(&f.mu)
	return f
}

// begin registers a request whose line has size bytes and that mcp-go is about to get. It waits while too much is under
// way. It returns a *frameFault if the flight is closing, the id is in use, a limit of subscriptions is reached, or no
// slot is free for a call.
func (f *flight) begin(r frame, size int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.full(r.method, size) && !f.closing {
		f.freed.Wait()
	}
	if f.closing {
		return &frameFault{codeBusy, r.id, stoppingNothingRan}
	}
	if _, used := f.pending[r.id]; used {
		return &frameFault{codeRequest, "null", idInUse}
	}
	if r.method == methodListen {
		if f.listeners >= maxListen || size > maxListenLine {
			return &frameFault{codeBusy, r.id, subscriptionLimit(maxListen, maxListenLine)}
		}
		size = 0 // a subscription does not end by itself, so nothing may wait for its bytes
	}
	if r.method == methodCall && f.slots != nil && !f.slots.take() {
		return f.slots.busy(r.id)
	}
	f.pending[r.id] = flyer{r.method, size}
	*f.counter(r.method)++
	f.bytes += size
	return nil
}

// full reports whether a request must wait for answers to be written. A subscription never waits: begin refuses it.
func (f *flight) full(method string, size int) bool {
	if method == methodListen {
		return false
	}
	return *f.counter(method) >= f.most || f.bytes > 0 && f.bytes+size > maxFlying
}

// counter returns the counter for requests of a method.
func (f *flight) counter(method string) *int {
	switch method {
	case methodCall:
		return &f.calls
	case methodListen:
		return &f.listeners
	}
	return &f.others
}

// answer writes the answer to a request by send. The id and the slot of the request are free before the client can read
// the answer. The other limits count the request until the answer is written.
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

// cancel stores a cancellation of a call that may not have begun.
func (f *flight) cancel(r frame, line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending[r.about].method == methodCall {
		f.takeBack[r.about] = bytes.Clone(line)
	}
}

// canceled returns the cancellation of the call with a decoded id, or nil.
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

// giveBack frees the slots of the calls that will never be answered.
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

// close refuses all later requests and returns how many calls are under way. landed is closed when all are answered.
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

// land closes landed when nothing is under way. Subscriptions do not count: they last as long as their clients like.
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
