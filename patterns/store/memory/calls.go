package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// How long calls are known, and how many of them. A window that begins before what is known cannot be read.
const (
	callsKnown     = 32 * 24 * time.Hour
	maxCalls       = 100_000
	maxCallsWeight = 128 << 20
)

// calls are the tool calls of all runs, in the order of their intents. A call stays known when its run is removed.
type calls struct {
	list   []*call
	byKey  map[callKey]*call
	found  map[callKey]store.Settled // by run and idempotency key
	weight int                       // bytes
	since  time.Time                 // older calls were removed
}

type callKey struct {
	run int64
	key string
}

type call struct {
	run       int64
	principal string
	tool      string
	intent    journal.Event
	outcome   journal.Event // its body is nil: there is none
	weight    int
}

// add notes an event of a run, if it is the intent or the outcome of a call.
func (c *calls) add(r *run, e *journal.Event) {
	switch body := e.Body.(type) {
	case journal.IntentBody:
		if body.Effect != "" {
			c.begun(&call{run: r.N, principal: r.Principal, tool: toolOf(e.Key), intent: *e, weight: len(body.Input)})
		}
	case journal.OutcomeBody:
		of := c.byKey[callKey{r.N, e.Key}]
		if e.Kind != patterns.OutcomeEvent || of == nil {
			return
		}
		more := ijson.Weight(body.Output)
		of.outcome, of.weight = *e, of.weight+more
		c.weight += more
	}
}

func (c *calls) begun(of *call) {
	c.weight += of.weight
	c.list = append(c.list, of)
	c.byKey[callKey{of.run, of.intent.Key}] = of
	for len(c.list) > 0 && (len(c.list) > maxCalls || c.weight > maxCallsWeight || c.list[0].intent.At.Before(of.intent.At.Add(-callsKnown))) {
		oldest := c.list[0]
		c.list = c.list[1:]
		c.weight -= oldest.weight
		c.since = oldest.intent.At.Add(1)
		delete(c.byKey, callKey{oldest.run, oldest.intent.Key})
		delete(c.found, callKey{oldest.run, onceOf(oldest)})
	}
}

func onceOf(c *call) string {
	body, _ := c.intent.Body.(journal.IntentBody)
	return body.Once
}

// toolOf returns the name of an effect: the last part of its key, without the number.
func toolOf(key string) string {
	if at := strings.LastIndexByte(key, '/'); at >= 0 {
		key = key[at+1:]
	}
	return strings.TrimRight(strings.TrimRight(key, "0123456789"), "#")
}

func (c *calls) settle(t *tables, s store.SetSettled) {
	puts(t, c.found, callKey{s.Run, s.Once}, &store.Settled{State: s.State, Attempt: s.Attempt})
}

// CallsSince implements [store.Calls].
func (t *tables) CallsSince(tool string, since time.Time, but int64, principal string, to func(store.CallEvent) error) (pruned bool, err error) {
	if since.Before(t.calls.since) || slices.ContainsFunc(t.tombstones, func(b store.Bury) bool { return b.Ended >= since.UnixMicro() }) {
		return true, nil
	}
	from, _ := slices.BinarySearchFunc(t.calls.list, since, func(c *call, at time.Time) int { return cmp.Or(c.intent.At.Compare(at), 1) })
	for _, c := range t.calls.list[from:] {
		if c.tool != tool || c.run == but || principal != "" && c.principal != principal {
			continue
		}
		for _, e := range []*journal.Event{&c.intent, &c.outcome} {
			if e.Body == nil {
				continue
			}
			if err := to(store.CallEvent{Run: c.run, At: e.At.UnixMicro(), Kind: e.Kind, Key: e.Key, Body: journal.Encode(e.Body)}); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// CallsMark implements [store.Calls]. To read the calls again is as quick as to compare.
func (t *tables) CallsMark([]string, time.Time) (string, error) { return "", nil }

// SettledCall implements [store.Calls].
func (t *tables) SettledCall(run int64, once string) (store.Settled, error) {
	return t.calls.found[callKey{run, once}], nil
}

// stepOfKey takes a step about a business key.
func (t *tables) stepOfKey(of store.Step) error {
	switch s := of.(type) {
	case store.TakeKey:
		a := t.taken[businessKey{s.Tool, s.Once}]
		if a == nil {
			puts(t, t.taken, businessKey{s.Tool, s.Once}, new(&store.Act{Args: s.Args, Run: s.Run, Act: s.Act, Effect: s.Effect}))
			return nil
		}
		return must(s, a.Run == s.Run && a.Act == s.Act)
	case store.AdoptKey:
		a := t.has(s.Tool, s.Once, s.FromRun, s.FromAct)
		if a == nil || a.Body != nil {
			return store.Refuse(s)
		}
		next := *a
		next.Run, next.Act, next.Effect = s.Run, s.Act, ""
		puts(t, t.taken, businessKey{s.Tool, s.Once}, new(&next))
	case store.KeyDone:
		a := t.has(s.Tool, s.Once, s.Run, s.Act)
		return must(s, a != nil && a.Body != nil)
	case store.KeepOutcome:
		if a := t.has(s.Tool, s.Once, s.Run, s.Act); a != nil {
			next := *a
			next.Body = s.Body
			puts(t, t.taken, businessKey{s.Tool, s.Once}, new(&next))
		}
	case store.FreeKey:
		if a := t.has(s.Tool, s.Once, s.Run, s.Act); a != nil && a.Body == nil && (s.Settled || a.Effect == s.Effect) {
			puts(t, t.taken, businessKey{s.Tool, s.Once}, nil)
		}
	}
	return nil
}

// has returns the act that has a business key, if it is the given one.
func (t *tables) has(tool, once string, run int64, act string) *store.Act {
	if a := t.taken[businessKey{tool, once}]; a != nil && a.Run == run && a.Act == act {
		return a
	}
	return nil
}

// Act implements [store.Reader]. A run that is gone has ended.
func (t *tables) Act(tool, once string) (*store.Act, error) {
	a := t.taken[businessKey{tool, once}]
	if a == nil {
		return nil, nil
	}
	seen := *a
	r := t.runs[a.Run]
	seen.Over = r == nil || r.State == "ended"
	return &seen, nil
}
