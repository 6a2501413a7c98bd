package execution

import (
	"container/heap"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"

	"patterngate/patterns"
)

// flow is a Flow in progress. Its branches and its next function take turns to run pattern code, one at a time:
//
//	next ──▶ a body, up to its first outcome ──▶ next ──▶ … none ──▶ the branch with the oldest outcome ──▶ its body ends ──▶ next
//
// An outcome is recorded when it arrives. Its branch continues after all branches with older outcomes had their turn. A replay has
// the same outcomes in the same order, so it runs the same code in the same order. An effect that is always answered at once (see
// [atOnce]) takes no turn, live or on a replay. The baton guards all fields.
type flow struct {
	*Life
	parent  *branch
	running int   // bodies that have not ended
	unwound bool  // a body waits for a person or the caller, or cannot continue
	busy    bool  // a branch or the parent has the turn
	turns   turns // branches that wait for their turn
	ended   bool  // a body has ended and its turn passed to the parent
	wake    chan struct{}
	pauses  []*early
}

// early is a pause that may end before its time.
type early struct {
	ends func() bool
	end  func()
	done atomic.Bool
}

// curtailed registers a pause, so that it can end early. Only pauses in Flow branches can end early, when the effect allows it.
func (b *branch) curtailed(e patterns.Effect, end func()) *early {
	pause, _ := e.Act.(patterns.PauseAct)
	p := &early{ends: pause.Ends, end: end}
	if b.flow == nil || pause.Ends == nil {
		return p
	}
	b.flow.pauses = append(b.flow.pauses, p)
	b.flow.curtail()
	return p
}

// curtail ends the pauses that are no longer needed.
func (f *flow) curtail() {
	f.pauses = slices.DeleteFunc(f.pauses, func(p *early) bool {
		if !p.ends() {
			return false
		}
		p.done.Store(true)
		p.end()
		return true
	})
}

// turn is a branch that waits until its outcome is the oldest.
type turn struct {
	seq     int  // of the outcome in the record
	ready   bool // the outcome is written, as far as it must be
	granted chan struct{}
}

// Flow implements [patterns.Run].
func (b *branch) Flow(next func() (string, func(patterns.Run), bool)) {
	if b.keys.path != "" || b.flows {
		panic(errNested)
	}
	b.flows = true
	defer func() { b.flows = false }()
	b.alive()
	f := &flow{Life: b.Life, parent: b, busy: true, wake: make(chan struct{}, 1)}
	f.Record.sink.share(true)
	defer f.Record.sink.share(false)
	for {
		f.burst(next)
		f.curtail()
		f.busy = false
		f.pass()
		f.rest()
		if !f.ended {
			break
		}
		f.ended = false
	}
	b.alive()
	if f.unwound {
		runtime.Goexit()
	}
}

// errNested is the panic of a body, or of the next function, that calls another Run than the body's own, or that starts branches.
// The record would not hold the order in which those continued.
var errNested = errors.New("local: while a Flow runs, only Do of its bodies' own branches may be called")

// burst starts the bodies that next returns, and runs each up to its first outcome. The parent has the turn.
func (f *flow) burst(next func() (string, func(patterns.Run), bool)) {
	for f.ending.cause == nil {
		name, body, ok := f.ask(next)
		if !ok {
			return
		}
		f.start(name, body)
	}
}

// ask calls next. A panic of next ends the run like a panic of other pattern code, after the branches have unwound.
func (f *flow) ask(next func() (string, func(patterns.Run), bool)) (name string, body func(patterns.Run), ok bool) {
	defer f.contain()
	return next()
}

// start begins a body and returns when it waits or has ended.
func (f *flow) start(name string, body func(patterns.Run)) {
	f.running++
	f.Record.sink.branch(1)
	started := make(chan struct{})
	child := &branch{Life: f.Life, keys: newKeys(f.parent.keys.next(name) + "/"), at: f.parent.at, newest: f.parent.newest, started: started, flow: f, active: true}
	go func() { // it begins with the baton, which its parent locked for it
		finished := false
		defer func() {
			f.end(child, finished)
			f.baton.Unlock()
		}()
		defer f.contain()
		body(child)
		finished = true
	}()
	<-started
	f.baton.Lock()
}

// end ends a branch. If its body finished, the turn passes to the parent, which asks for more bodies.
func (f *flow) end(b *branch, finished bool) {
	f.running--
	f.Record.sink.branch(-1)
	f.unwound = f.unwound || !finished
	if finished && b.at.After(f.parent.at) {
		f.parent.at = b.at
	}
	if finished && b.started == nil {
		f.ended = true
	} else {
		f.leave(b)
	}
	if f.ended || f.running == 0 {
		f.call()
	}
}

// rest makes the parent wait until a body has ended or no body is left.
func (f *flow) rest() {
	f.Record.Flush(false, nil) // the next intent, which would flush, may come much later
	for f.running > 0 && !f.ended {
		f.baton.Unlock()
		<-f.wake
		f.baton.Lock()
	}
}

func (f *flow) call() {
	select {
	case f.wake <- struct{}{}:
	default: // the parent is already notified
	}
}

// leave gives up a branch's turn, if the branch has it. The turn passes to the parent that started the branch, or to the next
// branch.
func (f *flow) leave(b *branch) {
	switch {
	case !b.active:
		return
	case b.started != nil:
		b.begun()
	default:
		f.busy = false
		f.pass()
	}
	b.active = false
}

// pass gives the turn to the branch with the oldest outcome.
func (f *flow) pass() {
	if f.busy || len(f.turns) == 0 || !f.turns[0].ready {
		return
	}
	f.busy = true
	close(heap.Pop(&f.turns).(*turn).granted)
}

// await queues the branch by the place of its outcome, and returns when it is the branch's turn. If durable is set, it first waits
// until all that was recorded so far is on the disk.
func (f *flow) await(b *branch, seq int, durable bool) {
	t := &turn{seq: seq, ready: !durable, granted: make(chan struct{})}
	heap.Push(&f.turns, t)
	f.leave(b)
	if durable {
		told := make(chan error, 1)
		f.Record.Flush(true, func(err error) { told <- err })
		f.baton.Unlock()
		err := <-told
		f.baton.Lock()
		if err != nil {
			f.stop(err)
		}
		t.ready = true
	}
	f.pass()
	f.baton.Unlock()
	<-t.granted
	f.baton.Lock()
	b.active = true
	b.alive()
}

// recorded gives an effect its recorded outcome. In a Flow it first waits for that outcome's turn.
func (b *branch) recorded(m *memory, e patterns.Effect) patterns.Outcome {
	if b.flow != nil && !m.ran(e) {
		b.flow.await(b, m.seq, false)
	}
	b.at = m.outcome.At
	b.saw(m.outcome)
	return m.outcome
}

// atOnce reports whether, in a live run, the effect's outcome always comes with its intent, in any engine. Its branch then
// continues without a turn.
func atOnce(e patterns.Effect) bool {
	switch a := e.Act.(type) {
	case patterns.PauseAct:
		return e.Timeout <= 0
	case patterns.ProposalAct:
		return true
	case patterns.ConsentAct:
		return a.Waiting == nil && a.Approval != nil // whether the run may wait for a person depends on the engine
	}
	return false
}

// ran reports whether the outcome came at once, which includes a refused effect. The branch then continued without a turn.
func (m *memory) ran(e patterns.Effect) bool { return m.intent == nil || atOnce(e) }

// turns is a heap, ordered by the places of the outcomes in the record.
type turns []*turn

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].seq < t[j].seq }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }

// Push implements [heap.Interface].
func (t *turns) Push(x any) { *t = append(*t, x.(*turn)) }

// Pop implements [heap.Interface].
func (t *turns) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	return x
}
