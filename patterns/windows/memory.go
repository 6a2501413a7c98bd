package windows

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
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

// Memory is a [Table] in this process: the calls of all runs, in the order of their intents. The zero Memory is empty. It is not safe for
// concurrent use.
type Memory struct {
	list   []*memoryCall
	byKey  map[callKey]*memoryCall
	found  map[callKey]store.Settled // by idempotency key: what was found out
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

// Add takes in a call that is about to be made.
func (m *Memory) Add(run int64, principal, once string, entry gateway.Entry) {
	c := &memoryCall{run: run, principal: principal, once: once, entry: entry}
	if m.byKey == nil {
		m.byKey, m.found = map[callKey]*memoryCall{}, map[callKey]store.Settled{}
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

// Ended takes in what became of a call.
func (m *Memory) Ended(run int64, key string, out patterns.Outcome) {
	c := m.byKey[callKey{run, key}]
	if c == nil {
		return
	}
	more := ijson.Weight(out.Output)
	c.out, c.weight = &out, c.weight+more
	m.weight += more
}

// CallsSince implements [Table].
func (m *Memory) CallsSince(to *Calls, tool string, since time.Time, but int64, principal string) error {
	if since.Before(m.since) {
		return errForgotten
	}
	from, _ := slices.BinarySearchFunc(m.list, since, func(c *memoryCall, at time.Time) int { return cmp.Or(c.entry.At.Compare(at), 1) })
	for _, c := range m.list[from:] {
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

// Hiding implements [Table]: in memory nothing is kept out, and what looks like it is a value.
func (m *Memory) Hiding() *redaction.Rules { return nil }

// Mark implements [Table]: what is in memory is as quickly read.
func (m *Memory) Mark([]string, time.Time) (string, error) { return "", nil }

// Found implements [Table].
func (m *Memory) Found(run int64, once string) (store.Settled, error) {
	return m.found[callKey{run, once}], nil
}

// Settle takes in what was found out about an act.
func (m *Memory) Settle(run int64, once string, found store.Settled) {
	if m.found != nil {
		m.found[callKey{run, once}] = found
	}
}
