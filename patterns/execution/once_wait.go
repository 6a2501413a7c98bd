package execution

import (
	"bytes"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// These limits say how long a call waits for the call that has its business key, if neither its tool nor its run sets a limit. They
// also say how often the waiting call looks.
const (
	maxFirstWait   = time.Minute
	firstWait      = 10 * time.Millisecond
	mostBetweenOne = 250 * time.Millisecond
)

// made performs an effect. Until it is done, the other calls of its run can see its business key.
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

// isBeside reports whether another call of this run that is in progress has the business key and the same arguments. It is false in
// a Flow, whose body cannot wait for it: the other call continues only when this one gives up its turn.
func (b *branch) isBeside(c business) bool {
	args, made := b.making[actKey{c.tool, c.once}]
	return made && b.flow == nil && bytes.Equal(args, c.args)
}

// awaitFirst makes a call wait for the outcome of the same act that is in progress, in another run or in this one. All calls with
// the same key and arguments get the first outcome. The wait is no longer than the call itself may take. It does not wait for a run
// that waits for a person, or that has ended with the act in doubt.
func (b *branch) awaitFirst(e patterns.Effect) {
	c, ok := b.businessOf("", e)
	if !ok {
		return
	}
	due, _ := b.limit(e, b.Backing.Now())
	if due.IsZero() {
		due = b.Backing.Now().Add(maxFirstWait)
	}
	b.outwaited = false
	for between := firstWait; b.isBeside(c) || b.isUnderWay(c); between = min(2*between, mostBetweenOne) {
		if b.outwaited = !b.Backing.Now().Before(due) || b.recalled() || b.isStopped(e); b.outwaited {
			return
		}
		b.Record.Flush(false, nil) // others may read the run during the wait
		b.idleFor(between)
	}
}

// isUnderWay reports whether a call of another running run has the business key and the same arguments, and has no outcome yet.
func (b *branch) isUnderWay(c business) (yes bool) {
	at, f := b.standsFor(c)
	if at != keyTaken || f.Body != nil || f.Run == c.run || !c.wants(f) {
		return false
	}
	err := b.Backing.Store().View(func(s store.Reader) error {
		r, err := s.Standing(f.Run)
		yes = r.State == "running"
		return err
	})
	if err != nil {
		b.unwind(err)
	}
	return yes
}

// idleFor releases the baton for a while. A body of a Flow keeps its turn, because the record holds the order in which bodies
// continue.
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
