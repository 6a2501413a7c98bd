package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
)

// unsigned is why a tool is held whose line in the lock does not count.
const unsigned = "no approver key signed its acceptance"

// cause returns why a tool is held, for the message to its caller.
func (h heldTool) cause() string {
	if strings.HasPrefix(h.why, unsigned) {
		return unsigned + ", and an approver key is enrolled"
	}
	return "nobody accepted what its server declares"
}

// countingLines are the lines of a lock that count: those that an approver key signed, where one is enrolled. An agent that can
// write files must not accept what a server declares. It is the lock itself where all its lines count.
func countingLines(lock *pins.Lock, ring gateway.Ring, at time.Time) *pins.Lock {
	if lock == nil || !ring.Counts(at) {
		return lock
	}
	return lock.Where(func(name string, d pins.Definition, by pins.Acceptance) bool {
		act := gateway.SignedAct{Signature: by.Signature, Act: gateway.Act{
			Act: gateway.ActAccept, Subject: acceptSubject(name, d), At: by.At, Nonce: by.Nonce, Key: by.Key,
		}}
		return ring.Stands(act, at) == nil
	})
}

// under is a configuration under those lines of its lock that count. A line that does not is as if it were not there: the tool is
// held and shown as nobody's, and the hash is another one, so that a run is replayed with what it was begun with.
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

// counting is a configuration under the lines of its lock that count by the keys of a state file, with what it declares; d is that
// where all of them do, nil: not known yet.
func (c Loaded) counting(d *declared, engine *local.Engine, environ []string) (Loaded, *declared, error) {
	counting := c
	if c.lock != nil && len(c.lock.Names()) > 0 {
		ring, err := engine.Approvals().Keys()
		if err != nil {
			return c, d, fmt.Errorf("approver keys: %w", err)
		}
		if counting, err = c.under(countingLines(c.lock, ring, console.Now()), environ); err != nil {
			return c, d, err
		}
	}
	if d != nil && counting.lock == c.lock {
		return c, d, nil
	}
	d, err := declare(counting, environ)
	return counting, d, err
}

// holdOthers holds each tool that a lock does not accept as it is here, and changes nothing else of it: what a run was shown
// stays what it is carried on with. It is called before the tools are used.
func (o *ownTools) holdOthers(lock *pins.Lock) {
	for _, b := range o.behind {
		accepted, ok := lock.Tool(b.at, b.upstream)
		switch {
		case b.pinned == nil && ok: // it was shown nothing of the tool, and is carried on with that
			o.holdFor(b, "this run began before it was accepted; begin it again")
		case b.held == "" && (!ok || accepted.Hash() != b.pinned.Hash()):
			o.hold(b, "the lock has no line for it as it is here, or none that counts")
		}
	}
}

// hold holds a tool until it is accepted, for another reason than before where it is held.
func (o *ownTools) hold(b *behindServer, why string) {
	o.holdFor(b, fmt.Sprintf("%s; run patterngate catalog accept %s/%s", why, b.at, b.upstream))
}

func (o *ownTools) holdFor(b *behindServer, why string) {
	b.held = why
	o.held = slices.DeleteFunc(o.held, func(h heldTool) bool { return h.name == b.name })
	o.held = append(o.held, heldTool{b.at, b.upstream, b.name, b.held})
}

// acceptSubject is what is signed of an acceptance of server/tool (spec/config.md section 10).
func acceptSubject(name string, d pins.Definition) map[string]any {
	return map[string]any{"name": name, "sha256": d.Hash()}
}
