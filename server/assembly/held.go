package assembly

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/patterns/local"
)

// unsigned is the reason why a tool with a line in the lock is held: the line lacks a valid signature.
const unsigned = unsignedAcceptance

// Cause returns the reason why a tool is held, for the message to its caller.
func (h HeldTool) Cause() string {
	if strings.HasPrefix(h.why, unsigned) {
		return keyEnrolled(unsigned)
	}
	return notAccepted
}

// CountingLines returns the lock with only the lines that count. If an approver key is enrolled, only lines that such a key
// signed count. Then an agent that can write files cannot accept what a server declares. It returns the lock itself if all
// its lines count.
func CountingLines(lock *pins.Lock, ring gateway.Ring, at time.Time) *pins.Lock {
	if lock == nil || !ring.Counts(at) {
		return lock
	}
	return lock.Where(func(name string, d pins.Definition, by pins.Acceptance) bool {
		act := gateway.SignedAct{Signature: by.Signature, Act: gateway.Act{
			Act: gateway.ActAccept, Subject: AcceptSubject(name, d), At: by.At, Nonce: by.Nonce, Key: by.Key,
		}}
		return ring.Stands(act, at) == nil
	})
}

// under returns the configuration with counting as its lock. A line that does not count has no effect: its tool is held.
// The hash changes too, so a run is replayed with the configuration that it began with.
func (c Loaded) under(counting *pins.Lock, environ []string) (Loaded, error) {
	if counting == c.lock {
		return c, nil
	}
	own, faults := makeOwn(&c.Config, counting, c.pool, environ)
	for _, f := range faults {
		if !f.warning {
			return c, errors.New(f.Reason)
		}
	}
	for _, b := range own.behind {
		if _, there := c.lock.Tool(b.at, b.upstream); there && b.pinned == nil {
			own.hold(b, unsigned)
		}
	}
	c.lock, c.own = counting, own
	return c, nil
}

// UnderKeys returns the configuration with only the lines of its lock that count under the approver keys of a ring.
func (c Loaded) UnderKeys(ring gateway.Ring, environ []string) (Loaded, error) {
	return c.under(CountingLines(c.lock, ring, now()), environ)
}

// now returns the time in the precision of signed acts.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// counting returns the configuration with only the lines of its lock that count, by the keys of a state file. It also
// returns what this configuration declares. d is the result of declare for c, or nil; it is reused if all lines count.
func (c Loaded) counting(d *Declaration, engine *local.Engine, environ []string) (Loaded, *Declaration, error) {
	counting := c
	if c.lock != nil && len(c.lock.Names()) > 0 {
		ring, err := engine.Approvals().Keys()
		if err != nil {
			return c, d, fmt.Errorf("approver keys: %w", err)
		}
		if counting, err = c.under(CountingLines(c.lock, ring, now()), environ); err != nil {
			return c, d, err
		}
	}
	if d != nil && counting.lock == c.lock {
		return c, d, nil
	}
	d, err := Declare(counting, environ)
	return counting, d, err
}

// holdOthers holds each tool that lock does not accept in its present form. It changes nothing else: a run continues with
// the schemas that it was shown. Call it before the tools are used.
func (o *ownTools) holdOthers(lock *pins.Lock) {
	for _, b := range o.behind {
		accepted, ok := lock.Tool(b.at, b.upstream)
		switch {
		case b.pinned == nil && ok: // the run saw no schema of the tool, and continues without one
			o.holdFor(b, acceptedLater)
		case b.held == "" && (!ok || accepted.Hash() != b.pinned.Hash()):
			o.hold(b, noLineHere)
		}
	}
}

// hold holds a tool until it is accepted. It replaces the reason if the tool is already held.
func (o *ownTools) hold(b *behindServer, why string) {
	o.holdFor(b, acceptFirst(why, pins.Word(b.at, b.upstream)))
}

func (o *ownTools) holdFor(b *behindServer, why string) {
	b.held = why
	o.held = slices.DeleteFunc(o.held, func(h HeldTool) bool { return h.name == b.name })
	o.held = append(o.held, HeldTool{b.at, b.upstream, b.name, b.held})
}

// AcceptSubject returns what an acceptance of server/tool signs (spec/config.md section 10).
func AcceptSubject(name string, d pins.Definition) map[string]any {
	return map[string]any{"name": name, "sha256": d.Hash()}
}
