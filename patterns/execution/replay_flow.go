package execution

import (
	"runtime"

	"patterngate/patterns"
)

// Flow implements [patterns.Run]. While the parent asks for more bodies it counts as running, so that no other branch continues.
func (b *replayed) Flow(next func() (string, func(patterns.Run), bool)) {
	if b.keys.path != "" {
		panic(errNested)
	}
	f := family{replay: b.replay}
	b.mu.Lock()
	b.flowing = true
	b.mu.Unlock()
	n := 0
	for more := true; more; {
		for name, body, ok := next(); ok; name, body, ok = next() {
			n++
			b.begin(&f, name, body)
		}
		b.mu.Lock()
		if more = f.ended < n; more {
			f.wait()
		}
		unwound := f.finished < f.ended
		b.mu.Unlock()
		if unwound {
			runtime.Goexit()
		}
	}
	b.mu.Lock()
	b.flowing = false
	b.mu.Unlock()
}

// begin runs a body up to its first outcome.
func (b *replayed) begin(f *family, name string, body func(patterns.Run)) {
	started := make(chan struct{})
	child := &replayed{replay: b.replay, keys: newKeys(b.keys.next(name) + "/"), at: b.at, newest: b.newest, parent: b, started: started, body: true}
	b.mu.Lock()
	b.running++
	b.branch(func() { body(child) }, func(finished bool) {
		if finished && child.at.After(b.at) {
			b.at = child.at
		}
		child.begun()
		f.end(finished)
	})
	b.mu.Unlock()
	<-started
}

// begun notifies the parent that a body waits or has ended.
func (b *replayed) begun() {
	if b.started != nil {
		close(b.started)
		b.started = nil
	}
}

// Shows implements [patterns.Run]. It does nothing: a replayed run is shown by its result.
func (b *replayed) Shows(func() patterns.Result) {}
