package transport

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
)

// begun begins a request in a goroutine of its own and tells when it was let in.
func begun(f *flight, method, id string, size int) <-chan error {
	in := make(chan error, 1)
	go func() { in <- f.begin(frame{id: id, method: method}, size) }()
	return in
}

func isWaiting(in <-chan error) bool {
	synctest.Wait()
	return len(in) == 0
}

// A flight that is full lets the next request in when an answer is out, not when it is made.
func TestFlightIsFull(t *testing.T) {
	tests := map[string]struct {
		first, next string
		most, size  int
		waits       bool
	}{
		"calls":                  {methodCall, methodCall, 1, 1, true},
		"other requests":         {"tools/list", "ping", 1, 1, true},
		"a ping beside calls":    {methodCall, "ping", 1, 1, false},
		"a call beside lists":    {"tools/list", methodCall, 1, 1, false},
		"bytes":                  {methodCall, methodCall, 9, maxFlying/2 + 1, true},
		"bytes of other kinds":   {"tools/list", methodCall, 9, maxFlying/2 + 1, true},
		"bytes that just fit":    {methodCall, methodCall, 9, maxFlying / 2, false},
		"a listener is no call":  {methodListen, methodCall, 1, maxListenLine, false},
		"a listener never waits": {methodCall, methodListen, 1, 1, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlight(tt.most)
				if err := f.begin(frame{id: "1", method: tt.first}, tt.size); err != nil {
					t.Fatal(err)
				}
				in := begun(f, tt.next, "2", tt.size)
				if got := isWaiting(in); got != tt.waits {
					t.Fatalf("%s after %s waits: %v, want %v", tt.next, tt.first, got, tt.waits)
				}
				if !tt.waits {
					return
				}
				let := make(chan struct{})
				go func() { _ = f.answer("1", func() error { <-let; return nil }) }()
				if !isWaiting(in) {
					t.Fatal("it was let in while the answer was still being written")
				}
				close(let)
				if err := <-in; err != nil {
					t.Errorf("after the answer it was refused: %v", err)
				}
			})
		})
	}
}

// A flight that closes refuses what waits for it.
func TestFlightClosesOnWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlight(1)
		_ = f.begin(frame{id: "1", method: methodCall}, 1)
		in := begun(f, methodCall, "2", 1)
		if !isWaiting(in) {
			t.Fatal("a second call was let in")
		}
		if running := f.close(); running != 1 {
			t.Errorf("close() = %d running, want 1", running)
		}
		if fault, ok := errors.AsType[*frameFault](<-in); !ok || fault.code != codeBusy {
			t.Errorf("the waiting call got %v, want code %d", fault, codeBusy)
		}
	})
}

// Subscriptions are bounded in number and size, since nothing ends them.
func TestFlightListeners(t *testing.T) {
	f := newFlight(1)
	for i := range maxListen {
		if err := f.begin(frame{id: fmt.Sprint(i), method: methodListen}, maxListenLine); err != nil {
			t.Fatalf("listener %d: %v", i, err)
		}
	}
	if err := f.begin(frame{id: `"more"`, method: methodListen}, 1); err == nil {
		t.Error("a listener beyond the bound was taken")
	}
	_ = f.answer("0", func() error { return nil })
	if err := f.begin(frame{id: `"big"`, method: methodListen}, maxListenLine+1); err == nil {
		t.Error("a listener with a huge line was taken")
	}
	if err := f.begin(frame{id: `"again"`, method: methodListen}, 1); err != nil {
		t.Errorf("after one ended another was refused: %v", err)
	}
}
