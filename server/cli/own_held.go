package cli

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/pins"
	"patterngate/gateway"
)

// holdUnsigned holds each tool whose acceptance no approver key signed, where one is enrolled: an agent that can write files
// must not accept what a server declares. Nothing of what such a line says is shown. It is called before the tools are used.
func (o *ownTools) holdUnsigned(lock *pins.Lock, ring gateway.Ring, at time.Time) {
	if !ring.Counts(at) {
		return
	}
	for _, b := range o.behind {
		if b.held != "" {
			continue
		}
		by, _ := lock.Accepted(b.at, b.upstream)
		act := gateway.SignedAct{Signature: by.Signature, Act: gateway.Act{
			Act: gateway.ActAccept, Subject: acceptSubject(b.at, *b.pinned), At: by.At, Nonce: by.Nonce, Key: by.Key,
		}}
		if ring.Stands(act, at) != nil {
			o.hold(b, "no approver key signed its acceptance")
			o.unsay(b)
		}
	}
}

// holdOthers holds each tool that a lock does not accept as it is here. It is called before the tools are used.
func (o *ownTools) holdOthers(lock *pins.Lock) {
	for _, b := range o.behind {
		if b.held != "" {
			continue
		}
		if accepted, ok := lock.Tool(b.at, b.upstream); !ok || accepted.Hash() != b.pinned.Hash() {
			o.hold(b, "it is not what the lock has of it")
		}
	}
}

func (o *ownTools) hold(b *behindServer, why string) {
	b.held = fmt.Sprintf("%s; run patterngate catalog accept %s/%s", why, b.at, b.upstream)
	o.held = append(o.held, heldTool{b.at, b.upstream, b.name, b.held})
}

// unsay has a tool be shown as one that has no line in the lock: a model reads no words of a definition that nobody vouches
// for. What whole arguments are judged by besides stays: a run that is carried on was judged by it.
func (o *ownTools) unsay(b *behindServer) {
	at := slices.IndexFunc(o.tools, func(t catalog.Tool) bool { return t.Name == b.name })
	if at < 0 {
		return
	}
	t := &o.tools[at]
	t.Title, t.Description, t.Phrase, t.Output = b.own.Title, b.own.Description, "", nil
	if open, err := catalog.CompileUpstream(openInput); err == nil { // it is ours
		t.Input = open.Shown().Without(slices.Collect(maps.Keys(t.Fixed))...)
	}
}

// acceptSubject is what is signed of an acceptance (spec/config.md section 10).
func acceptSubject(at string, d pins.Definition) map[string]any {
	return map[string]any{"name": pins.Name(at, d.Name), "sha256": d.Hash()}
}
