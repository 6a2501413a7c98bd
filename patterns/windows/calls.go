package windows

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// Calls are the calls that a window holds, put together from what was recorded of them: intents, then outcomes, in the order of
// their times. The attempts at one act that changes something are one call, under the first one's name.
//
// The record decides what is known of a call. A call without an outcome is reserved. A call with an unknown outcome is in doubt until
// the outcome is found out. Values that are kept out of the record are absent, see calls_public.go.
type Calls struct {
	byKey map[callKey]*calledAct
	byAct map[callKey]*calledAct // by idempotency key
	list  []*calledAct
	seen  int              // attempts
	hides *redaction.Rules // what recorded values are kept out by; nil: they are as they were
}

// callKey is a place, or an idempotency key, in a run.
type callKey struct {
	run int64
	key string
}

type calledAct struct {
	gateway.Entry
	run    int64
	once   string
	newest string // attempt
}

func newCalls(hides *redaction.Rules) *Calls {
	return &Calls{hides: hides, byKey: map[callKey]*calledAct{}, byAct: map[callKey]*calledAct{}}
}

// errCrowded says that a window holds more calls than are looked at.
var errCrowded = fmt.Errorf("more than %d calls", gateway.MaxWindow)

// begun takes in an intent.
func (c *Calls) begun(run int64, e gateway.Entry, once string) error {
	if c.seen++; c.seen > gateway.MaxWindow {
		return errCrowded
	}
	act := c.byAct[callKey{run, once}]
	if act == nil || e.Effect == catalog.Read || once == "" {
		e.RunID, e.Status, e.Order = journal.RunID(run), gateway.Reserved, c.seen
		var err error
		if e.Args, err = c.publicArgs(e); err != nil {
			return err
		}
		act = &calledAct{Entry: e, run: run, once: once}
		c.list = append(c.list, act)
	}
	act.Status, act.Observation, act.newest = gateway.Reserved, nil, e.Key
	c.byKey[callKey{run, e.Key}], c.byAct[callKey{run, once}] = act, act
	return nil
}

// ended takes in an outcome. What is no call's of the window is passed over.
func (c *Calls) ended(run int64, key string, out patterns.Outcome) (err error) {
	act := c.byKey[callKey{run, key}]
	if act == nil {
		return nil
	}
	act.Status, act.Duplicate = StatusOf(act.Effect, out), out.Duplicate
	act.Observation, err = c.publicOutput(act.Tool, out.Output)
	return err
}

// StatusOf is what an outcome says of a call.
func StatusOf(effect catalog.Effect, out patterns.Outcome) gateway.EffectStatus {
	switch {
	case out.State == patterns.OK, out.Reason == patterns.ReasonBadResult:
		return gateway.Finished
	case out.State == patterns.Failed, out.State == patterns.Canceled, effect == catalog.Read:
		return gateway.Failed
	}
	return gateway.InDoubt
}

// settled takes in what was found out about calls in doubt. Of an attempt after that nothing was found out yet.
func (c *Calls) settled(found func(run int64, once string) (store.Settled, error)) error {
	for _, act := range c.list {
		if act.Status != gateway.InDoubt {
			continue
		}
		switch f, err := found(act.run, act.once); {
		case err != nil:
			return err
		case f.Attempt != act.newest:
		case f.State == patterns.OK:
			act.Status = gateway.Finished
		case f.State == patterns.Failed:
			act.Status = gateway.Failed
		}
	}
	return nil
}

// with are the calls and those of the run itself, from a time on, by their times.
func (c *Calls) with(own []gateway.Entry, window gateway.Window, since time.Time) gateway.Seen {
	var list []gateway.Entry
	for _, act := range c.list {
		list = append(list, act.Entry)
	}
	for _, e := range own {
		if slices.Contains(window.Tools, e.Tool) && !e.At.Before(since) {
			list = append(list, e)
		}
	}
	if len(list) > gateway.MaxWindow {
		return gateway.Seen{Since: since, Err: errCrowded}
	}
	slices.SortStableFunc(list, func(a, b gateway.Entry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Order, b.Order)) })
	return gateway.Seen{Effects: list, Since: since}
}

// publicArgs are a call's arguments without what is hidden.
func (c *Calls) publicArgs(e gateway.Entry) (map[string]any, error) {
	if c.hides == nil {
		return e.Args, nil
	}
	return c.hides.PublicArgs(e.Tool, e.Args)
}

// publicOutput is likewise what a call came to.
func (c *Calls) publicOutput(tool string, v any) (any, error) {
	if c.hides == nil {
		return v, nil
	}
	return c.hides.PublicOutput(tool, v)
}
