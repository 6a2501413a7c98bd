package local

import (
	"cmp"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
	"patterngate/patterns/windows"
)

// enters adds a call that is about to be made to the calls in memory; false: the limits that permitted it do not hold
// any more. With a state file it does nothing.
func (b *branch) enters(key, once string, e patterns.Effect, holds func(windows.Table) error, now time.Time) bool {
	call, isCall := callOf(e)
	if b.engine.file != nil || !isCall {
		return true
	}
	n, _ := journal.RunNumber(b.id)
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	if holds != nil && holds(&b.engine.calls) != nil {
		return false
	}
	p := call.Permit
	b.engine.calls.Add(n, b.job.Principal, once, gateway.Entry{Key: key, Tool: p.Tool(), Effect: p.Effect(), Args: p.Args(), Hash: p.Hash(), At: now})
	return true
}

// became stores the outcome of a call in memory. With a state file it does nothing.
func (b *branch) became(e patterns.Effect, out patterns.Outcome) {
	if b.engine.file != nil || !does[patterns.CallAct](e) {
		return
	}
	n, _ := journal.RunNumber(b.id)
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	b.engine.calls.Ended(n, out.Key, out)
}

// foundOut stores what happened to a call that ended in doubt. out is the outcome that was found out later.
func (b *branch) foundOut(e patterns.Effect, out patterns.Outcome) {
	call, _ := callOf(e)
	once, effect := cmp.Or(out.Once, call.Once), call.Permit.Effect()
	if b.dry != nil || once == "" || out.State == patterns.Unknown || effect == catalog.Read {
		return
	}
	state := patterns.Failed
	if windows.StatusOf(effect, out) == gateway.Finished {
		state = patterns.OK
	}
	n, _ := journal.RunNumber(b.id)
	if b.engine.file != nil {
		b.record.then(store.SetSettled{Run: n, Once: once, State: state, Attempt: out.Newest()})
		return
	}
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	b.engine.calls.Settle(n, once, store.Settled{State: state, Attempt: out.Newest()})
}
