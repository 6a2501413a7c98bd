package server

import (
	"bytes"
	"encoding/json"
	"sync"
)

// flight knows which requests were passed on and are not answered yet. It is safe for concurrent use.
type flight struct {
	mu       sync.Mutex
	freed    *sync.Cond        // on mu: a request was answered, or the flight is closing
	most     int               // tools/calls at once; more of them wait before they are passed on
	calls    int               // tools/calls among the pending
	pending  map[string]string // method by id
	answers  int               // that are being written
	takeBack map[string][]byte // cancellations of pending calls, by the call's id
	closing  bool
	landed   chan struct{} // closed when closing and nothing is pending
}

func newFlight(most int) *flight {
	f := &flight{most: most, pending: map[string]string{}, takeBack: map[string][]byte{}, landed: make(chan struct{})}
	f.freed = sync.NewCond(&f.mu)
	return f
}

// begin notes a request that is about to be passed on. A call waits while too many are under way. It refuses, by a
// *frameFault, what comes when the flight is closing and an id that is in use.
func (f *flight) begin(r frame) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r.method == methodCall && f.calls >= f.most && !f.closing {
		f.freed.Wait()
	}
	if f.closing {
		return &frameFault{codeBusy, r.id, "the server is stopping; nothing ran"}
	}
	if _, used := f.pending[r.id]; used {
		return &frameFault{codeRequest, "null", "Invalid Request: a request with this id is not answered yet"}
	}
	f.pending[r.id] = r.method
	if r.method == methodCall {
		f.calls++
	}
	return nil
}

// answer writes the answer to a request by send. Its id is free before the client can know of the answer; the request
// counts as under way until the answer is out.
func (f *flight) answer(id string, send func() error) error {
	f.mu.Lock()
	method, known := f.pending[id]
	delete(f.pending, id)
	delete(f.takeBack, id)
	if known && method == methodCall {
		f.calls--
		f.freed.Broadcast()
	}
	f.answers++
	f.mu.Unlock()

	err := send()

	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers--
	f.land()
	return err
}

// cancel keeps a cancellation of a call that may not have begun.
func (f *flight) cancel(r frame, line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending[r.about] == methodCall {
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

// close takes nothing more and returns how many calls are under way. landed tells when all is answered.
func (f *flight) close() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closing {
		f.closing = true
		f.freed.Broadcast()
		f.land()
	}
	return f.calls
}

// land closes landed when everything is over. What only listens for as long as it can is not waited for.
func (f *flight) land() {
	if !f.closing || f.answers > 0 {
		return
	}
	for _, method := range f.pending {
		if method != methodListen {
			return
		}
	}
	select {
	case <-f.landed:
	default:
		close(f.landed)
	}
}
