package local

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// How long calls are known in memory, and how many of them; a window that begins before what is known cannot be told.
const (
	callsKnown     = 32 * 24 * time.Hour
	maxCalls       = 100_000
	maxCallsWeight = 128 << 20
)

// errForgotten says that a window begins before what is known.
var errForgotten = errors.New("calls of that time are forgotten")

// memoryCalls are the calls of all runs in memory, in the order of their intents. The engine's lock guards them.
type memoryCalls struct {
	list   []*memoryCall
	byKey  map[callKey]*memoryCall
	found  map[callKey]lastWord // by idempotency key: what was found out
	weight int
	since  time.Time // what is older is forgotten
}

type memoryCall struct {
	run             int64
	principal, once string
	entry           gateway.Entry
	out             *patterns.Outcome
	weight          int
}

// add takes in a call that is about to be made.
func (m *memoryCalls) add(c *memoryCall) {
	if m.byKey == nil {
		m.byKey, m.found = map[callKey]*memoryCall{}, map[callKey]lastWord{}
	}
	c.weight = ijson.Weight(c.entry.Args)
	m.weight += c.weight
	m.list = append(m.list, c)
	m.byKey[callKey{c.run, c.entry.Key}] = c
	for len(m.list) > 0 && (len(m.list) > maxCalls || m.weight > maxCallsWeight || m.list[0].entry.At.Before(c.entry.At.Add(-callsKnown))) {
		oldest := m.list[0]
		m.list = m.list[1:]
		m.weight -= oldest.weight
		m.since = oldest.entry.At.Add(1)
		delete(m.byKey, callKey{oldest.run, oldest.entry.Key})
		delete(m.found, callKey{oldest.run, oldest.once})
	}
}

// ended takes in what became of a call.
func (m *memoryCalls) ended(run int64, key string, out patterns.Outcome) {
	c := m.byKey[callKey{run, key}]
	if c == nil {
		return
	}
	more := ijson.Weight(out.Output)
	c.out, c.weight = &out, c.weight+more
	m.weight += more
}

func (e *Engine) callsSince(to *calls, tool string, since time.Time, but int64, principal string) error {
	if since.Before(e.calls.since) {
		return errForgotten
	}
	from, _ := slices.BinarySearchFunc(e.calls.list, since, func(c *memoryCall, at time.Time) int { return cmp.Or(c.entry.At.Compare(at), 1) })
	for _, c := range e.calls.list[from:] {
		if c.entry.Tool != tool || c.run == but || principal != "" && c.principal != principal {
			continue
		}
		if err := to.begun(c.run, c.entry, c.once); err != nil {
			return err
		}
		if c.out != nil {
			if err := to.ended(c.run, c.entry.Key, *c.out); err != nil {
				return err
			}
		}
	}
	return nil
}

// hiding implements [callTable]: in memory nothing is kept out, and what looks like it is a value.
func (e *Engine) hiding() *redaction.Rules { return nil }

// mark implements [callTable]: what is in memory is as quickly read.
func (e *Engine) mark([]string, time.Time) (string, error) { return "", nil }

func (e *Engine) found(run int64, once string) (lastWord, error) {
	return e.calls.found[callKey{run, once}], nil
}

// enters takes in a call in memory that is about to be made; false: what it was let through by does not hold any more.
func (b *branch) enters(key, once string, e patterns.Effect, holds func(callTable) error, now time.Time) bool {
	if b.engine.file != nil || e.Kind != patterns.ToolEffect {
		return true
	}
	n, _ := journal.RunNumber(b.id)
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	if holds != nil && holds(b.engine) != nil {
		return false
	}
	p := e.Permit
	b.engine.calls.add(&memoryCall{run: n, principal: b.job.Principal, once: once, entry: gateway.Entry{
		Key: key, Tool: p.Tool(), Effect: p.Effect(), Args: p.Args(), Hash: p.Hash(), At: now,
	}})
	return true
}

// became notes in memory what became of a call.
func (b *branch) became(e patterns.Effect, out patterns.Outcome) {
	if b.engine.file != nil || e.Kind != patterns.ToolEffect {
		return
	}
	n, _ := journal.RunNumber(b.id)
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	b.engine.calls.ended(n, out.Key, out)
}

// foundOut notes what became of a call of which its own outcome does not say it.
func (b *branch) foundOut(e patterns.Effect, out patterns.Outcome) {
	once := cmp.Or(out.Once, e.Once)
	if b.dry != nil || once == "" || out.State == patterns.Unknown || e.Permit.Effect() == catalog.Read {
		return
	}
	state := patterns.Failed
	if statusOf(e.Permit.Effect(), out) == gateway.Finished {
		state = patterns.OK
	}
	n, _ := journal.RunNumber(b.id)
	if b.engine.file != nil {
		b.record.then(store.SetSettled{Run: n, Once: once, State: state, Attempt: out.Newest()})
		return
	}
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	if b.engine.calls.byKey != nil {
		b.engine.calls.found[callKey{n, once}] = lastWord{State: state, Attempt: out.Newest()}
	}
}
