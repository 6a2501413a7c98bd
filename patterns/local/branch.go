package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"time"

	"patterngate/patterns"
)

// branch is a life's patterns.Run.
type branch struct {
	*life
	keys    *keys
	at      time.Time
	started chan struct{} // closed when the branch first gives the baton away; nil for the root
}

var _ patterns.Run = (*branch)(nil)

func (b *branch) ID() string     { return b.id }
func (b *branch) Now() time.Time { return b.at }

// Do records the intent, performs the effect and records its outcome. The baton is held on entry and on return.
func (b *branch) Do(e patterns.Effect) patterns.Outcome {
	b.alive()
	key := b.keys.next(e.Name)
	b.phase = e.Phase
	if m := b.past[key]; m != nil && m.outcome.State != "" {
		return b.recall(m, key, e)
	}
	now := time.Now()
	if reason := b.refusal(e, now); reason != "" {
		return b.ended(patterns.Outcome{State: patterns.Canceled, Reason: reason, Key: key}, now)
	}
	once := e.Once
	if once == "" && e.Kind == patterns.ToolEffect {
		once = onceKey(b.id, key)
	}
	b.order++
	intent := b.record.append(IntentEvent, key, now, IntentBody{e.Kind, e.Name, e.Input, once})
	b.newest = intent.At
	b.tell(e.Said...)
	if e.Kind == patterns.ToolEffect {
		b.calls++
	}
	if e.Doing != "" {
		b.tell(e.Phase + ": " + e.Doing)
	}
	b.see(e, 0)
	if wait, may := b.engine.callerWait(); e.Waiting != nil && may {
		b.park(key, e, intent.At, wait)
	}
	order := b.order
	out := b.perform(e, key, once, now)
	b.see(e, 1)
	out.Key, out.Once, out.Order, out.Began = key, once, order, intent.At
	return b.ended(out, time.Now())
}

// recall gives an effect the outcome that it had in an earlier life.
func (b *branch) recall(m *memory, key string, e patterns.Effect) patterns.Outcome {
	if fault := m.fits(key, e); fault != nil {
		b.unwind(&patterns.Fault{RunID: b.id, Cause: fault})
	}
	b.at = m.outcome.At
	return m.outcome
}

// see notes for who looks at the run what it does, and how many more calls were answered.
func (b *branch) see(e patterns.Effect, answered int) {
	now := *b.now.Load()
	now.Phase, now.Doing = e.Phase, e.Doing
	if e.Kind == patterns.ToolEffect {
		now.Done += answered
	}
	b.now.Store(&now)
}

// refusal says why an effect is not begun: the run was taken back, its time is over, or a quota is spent.
func (b *branch) refusal(e patterns.Effect, now time.Time) string {
	if b.ctx.Err() != nil {
		return patterns.ReasonCanceled
	}
	spent := b.take(e.Quotas)
	switch {
	case spent != "":
		return spent
	case !e.Deadline.IsZero() && !now.Before(e.Deadline):
		return patterns.ReasonDeadline
	}
	return ""
}

// ended records an outcome and moves the branch's time on.
func (b *branch) ended(out patterns.Outcome, at time.Time) patterns.Outcome {
	event := b.record.append(OutcomeEvent, out.Key, at, OutcomeBody{out.State, out.Output, out.Reason, out.Bytes, out.Usage})
	b.newest, b.at, out.At = event.At, event.At, event.At
	b.asked += out.Usage.Requests
	return out
}

// limit is when an effect is cut, and what that is called.
func limit(e patterns.Effect, now time.Time) (due time.Time, reason string) {
	due, reason = e.Deadline, patterns.ReasonDeadline
	if e.Timeout > 0 && (due.IsZero() || now.Add(e.Timeout).Before(due)) {
		due, reason = now.Add(e.Timeout), patterns.ReasonTimeout
	}
	return due, reason
}

// perform has the effect performed and waits for its outcome, its limit or the end of the run.
func (b *branch) perform(e patterns.Effect, key, once string, now time.Time) patterns.Outcome {
	if out, ok := here(e); ok {
		return out
	}
	due, reason := limit(e, now)
	w := &wait{due, b.order}
	if due.IsZero() {
		w = nil
	}
	ctx, cancel := b.bounded(due)
	defer cancel()
	d := &delivery{life: b.life, effect: e, key: key, once: once, result: make(chan patterns.Outcome, 1)}
	b.engine.hands.do(func() { d.make(ctx) })
	b.pause(w)
	select {
	case out := <-d.result:
		b.resume(w, false)
		return out
	case <-ctx.Done():
	}
	if !d.close() { // it came in the same moment
		b.resume(w, false)
		return <-d.result
	}
	b.resume(w, b.ctx.Err() == nil)
	b.alive()
	if b.ctx.Err() != nil {
		reason = patterns.ReasonCanceled
	}
	return cutOutcome(e, reason)
}

// bounded is the context of one effect; it ends when the effect is cut.
func (l *life) bounded(due time.Time) (context.Context, context.CancelFunc) {
	if due.IsZero() {
		return context.WithCancel(l.ctx)
	}
	return context.WithDeadline(l.ctx, due)
}

// cutOutcome is the outcome of an effect that did not end in time. A call may have happened.
func cutOutcome(e patterns.Effect, reason string) patterns.Outcome {
	switch e.Kind {
	case patterns.TimerEffect:
		if reason == patterns.ReasonCanceled {
			return patterns.Outcome{State: patterns.Canceled, Reason: reason}
		}
		return patterns.Outcome{State: patterns.OK}
	case patterns.ToolEffect:
		return patterns.Outcome{State: patterns.Unknown, Reason: reason}
	}
	return patterns.Outcome{State: patterns.Failed, Reason: reason, Usage: patterns.Usage{Requests: 1}}
}

// pause gives the baton away; the first time it lets the parent begin the next branch.
func (b *branch) pause(w *wait) {
	b.begun()
	b.yield(w)
}

func (b *branch) begun() {
	if b.started != nil {
		close(b.started)
		b.started = nil
	}
}

// Go runs the branches. They begin in order, each up to its first pause, at most limit at once.
func (b *branch) Go(name string, n, limit int, body func(patterns.Run, int)) {
	b.alive()
	running, unwound := 0, false
	for i := range n {
		for running >= max(1, limit) {
			b.moved.Wait()
		}
		running++
		started := make(chan struct{})
		child := &branch{life: b.life, keys: newKeys(b.keys.next(name) + "/"), at: b.at, started: started}
		go func() { // it begins with the baton, which its parent holds for it
			finished := false
			defer func() {
				child.begun()
				running--
				unwound = unwound || !finished
				if child.at.After(b.at) {
					b.at = child.at
				}
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

// onceKey is the identity of an act in the world: of the run and the effect's place in it.
func onceKey(run, key string) string {
	sum := sha256.Sum256([]byte(run + "/" + key))
	return "pg_" + hex.EncodeToString(sum[:16])
}
