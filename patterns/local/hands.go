package local

import "sync"

// maxIdleHands is how many goroutines wait for the next effect.
const maxIdleHands = 64

// hands are goroutines that perform effects. An idle one is used again and its grown stack with it: a model request
// needs a deep stack, and growing one anew for each costs more than the rest of an effect. The zero value is ready.
type hands struct {
	mu     sync.Mutex
	idle   []chan func()
	closed bool // nobody rests any more
}

// do has work done by some goroutine and does not wait for it.
func (h *hands) do(work func()) {
	h.mu.Lock()
	if n := len(h.idle); n > 0 {
		hand := h.idle[n-1]
		h.idle = h.idle[:n-1]
		h.mu.Unlock()
		hand <- work
		return
	}
	h.mu.Unlock()
	go h.serve(work)
}

func (h *hands) serve(work func()) {
	hand := make(chan func())
	for work != nil {
		work()
		if !h.rest(hand) {
			return
		}
		work = <-hand
	}
}

// rest puts a hand among the idle ones, unless there are enough or the engine was closed.
func (h *hands) rest(hand chan func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.idle) >= maxIdleHands {
		return false
	}
	h.idle = append(h.idle, hand)
	return true
}

// release ends the idle hands, and the others when they are done.
func (h *hands) release() {
	h.mu.Lock()
	idle := h.idle
	h.idle, h.closed = nil, true
	h.mu.Unlock()
	for _, hand := range idle {
		hand <- nil
	}
}
