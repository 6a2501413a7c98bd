package local

import "sync"

// maxIdleHands is the maximum number of goroutines that wait for the next effect.
const maxIdleHands = 64

// hands is a pool of goroutines that perform effects. An idle goroutine is used again because its stack has already grown. A model
// request needs a deep stack, and growing a new one costs more than the rest of an effect. The zero value is ready.
type hands struct {
	mu     sync.Mutex
	idle   []chan func()
	closed bool // goroutines end instead of becoming idle
}

// do starts work on a goroutine of the pool and does not wait for it.
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

// rest makes a goroutine idle. It returns false if enough are idle or the pool is closed.
func (h *hands) rest(hand chan func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.idle) >= maxIdleHands {
		return false
	}
	h.idle = append(h.idle, hand)
	return true
}

// release closes the pool. Idle goroutines end now, the others when their work is done.
func (h *hands) release() {
	h.mu.Lock()
	idle := h.idle
	h.idle, h.closed = nil, true
	h.mu.Unlock()
	for _, hand := range idle {
		hand <- nil
	}
}
