package execution

import (
	"runtime"

	"patterngate/patterns"
)

// pause releases the baton. The first pause of a branch also lets the parent begin the next branch.
func (b *branch) pause(w *wait) {
	if b.flow != nil {
		b.flow.leave(b)
	}
	b.begun()
	b.yield(w)
}

func (b *branch) begun() {
	if b.started != nil {
		close(b.started)
		b.started = nil
	}
}

// Go runs the branches and returns when all have ended. They begin in order, each up to its first pause. At most limit
// of them run at once.
func (b *branch) Go(name string, n, limit int, body func(patterns.Run, int)) {
	if b.flow != nil || b.flows {
		panic(errNested)
	}
	b.alive()
	running, unwound := 0, false
	for i := range n {
		for running >= max(1, limit) {
			b.moved.Wait()
		}
		running++
		b.Record.sink.branch(1)
		started := make(chan struct{})
		child := &branch{Life: b.Life, keys: newKeys(b.keys.next(name) + "/"), at: b.at, newest: b.newest, started: started}
		go func() { // it begins with the baton, which its parent locked and does not use
			finished := false
			defer func() {
				child.begun()
				running--
				b.Record.sink.branch(-1)
				unwound = unwound || !finished
				if child.at.After(b.at) {
					b.at = child.at
				}
				if child.newest.After(b.newest) {
					b.newest = child.newest
				}
				b.Record.Flush(false, nil) // the next intent, with which the rest is written, may be far off
				b.moved.Broadcast()
				b.baton.Unlock()
			}()
			defer b.contain()
			body(child, i)
			finished = true
		}()
		<-started
		b.begun()
		b.baton.Lock()
	}
	for running > 0 {
		b.moved.Wait()
	}
	if unwound {
		runtime.Goexit()
	}
}
