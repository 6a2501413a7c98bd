package local

import (
	"bytes"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// How long a call waits for the one that has its business key, where neither its tool nor its run says so, and how often it
// looks.
const (
	maxFirstWait   = time.Minute
	firstWait      = 10 * time.Millisecond
	mostBetweenOne = 250 * time.Millisecond
)

// made does an effect. While it does, the calls beside it in its run can see its business key.
func (b *branch) made(a act, began time.Time) patterns.Outcome {
	c, ok := b.businessOf(a.key, a.effect)
	if !ok {
		return b.finish(a, b.perform(a, began))
	}
	of := actKey{c.tool, c.once}
	b.making[of] = c.args
	out := b.finish(a, b.perform(a, began))
	delete(b.making, of)
	return out
}

// isBeside reports whether a call of this run that is being made beside this one has the business key, and wants the same. A
// Flow's body cannot wait for it: the other goes on only when this one gives its turn away.
func (b *branch) isBeside(c business) bool {
	args, made := b.making[actKey{c.tool, c.once}]
	return made && b.flow == nil && bytes.Equal(args, c.args)
}

// awaitFirst has a call wait whose act is under way in another run or beside it, for its outcome: the first is given to all who
// ask for the same. It waits no longer than the call itself might take. What waits for a person, or has ended in doubt, is not
// waited for.
func (b *branch) awaitFirst(e patterns.Effect) {
	c, ok := b.businessOf("", e)
	if !ok {
		return
	}
	due, _ := b.limit(e, b.engine.now())
	if due.IsZero() {
		due = b.engine.now().Add(maxFirstWait)
	}
	b.outwaited = false
	for between := firstWait; b.isBeside(c) || b.isUnderWay(c); between = min(2*between, mostBetweenOne) {
		if b.outwaited = !b.engine.now().Before(due) || b.recalled() || b.isStopped(e); b.outwaited {
			return
		}
		b.record.flush(false, nil) // others may look at the run meanwhile
		b.idleFor(between)
	}
}

// isUnderWay reports whether a call of another run has the business key, wants the same, and is being made.
func (b *branch) isUnderWay(c business) (yes bool) {
	at, f := b.standsFor(c)
	if at != keyTaken || f.Body != nil || f.Run == c.run || !c.wants(f) {
		return false
	}
	if b.engine.file == nil {
		b.engine.mu.Lock()
		defer b.engine.mu.Unlock()
		return f.of.state == patterns.Running
	}
	err := b.engine.file.journal.View(func(s store.Reader) error {
		r, err := s.Standing(f.Run)
		yes = r.State == "running"
		return err
	})
	if err != nil {
		b.unwind(err)
	}
	return yes
}

// idleFor gives the baton away for a while. A Flow's body keeps its turn: in which order bodies go on stands in the record.
func (b *branch) idleFor(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	if b.flow == nil {
		b.begun()
	}
	b.yield(nil)
	select {
	case <-timer.C:
	case <-b.lightly.Done():
	}
	b.resume(nil, false)
	b.alive()
	b.stay()
}
