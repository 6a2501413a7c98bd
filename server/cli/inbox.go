package cli

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/server/web"
)

// inbox has the page served for a state file, here or by another process, from the first question on that waits for a
// person. Before that it is one goroutine that sleeps.
//
//	             a question was put here, or waits when something changed
//	asleep ────────────────────────────────────────────────▶ try to listen ──▶ serve until the end
//	   ▲                                                      │        ▲
//	   └── nothing waits ── the port is held: ours or strange ◀┘        └── a few seconds later
//
// A nil inbox is one that is off. It is safe for concurrent use.
type inbox struct {
	config inboxConfig
	end    context.CancelFunc
	ended  chan struct{}
	wake   chan struct{} // holds one

	mu      sync.Mutex
	base    string        // URL of the page; "" if it is not known or there is no page
	wanted  bool          // a question was put here that pending is about
	serving bool          // by this process
	pending chan struct{} // closed when it is known how an attempt that is wanted ended; nil: none is
	said    string        // what was logged last, so that it is said once
}

// inboxConfig is what an inbox stands on.
type inboxConfig struct {
	address   string // host:port
	approvals patterns.Approvals
	changed   func(ctx context.Context, since uint64) (ids []string, next uint64) // as [patterns.Owner] has it
	door      func(address string) *web.Door
	log       *slog.Logger

	look time.Duration // between two looks at what waits
	next time.Duration // until the port is tried again, and up to half as much more
}

const (
	inboxLook = time.Second
	inboxNext = 2 * time.Second
	// inboxSoon is how long who asks for the URL waits for an attempt under way.
	inboxSoon = 2 * time.Second
)

// newInbox begins to watch; close ends it.
func newInbox(c inboxConfig) *inbox {
	ctx, end := context.WithCancel(context.Background())
	i := &inbox{config: c, end: end, ended: make(chan struct{}), wake: make(chan struct{}, 1), pending: make(chan struct{})}
	go i.run(ctx)
	return i
}

// close ends the page, if this process serves it.
func (i *inbox) close() {
	if i == nil {
		return
	}
	i.end()
	<-i.ended
}

// asked is told of each question that is put to a person here, once it is recorded. It returns at once.
func (i *inbox) asked(patterns.Asked) {
	if i == nil {
		return
	}
	i.mu.Lock()
	if !i.serving {
		i.wanted = true
		if i.pending == nil {
			i.pending = make(chan struct{})
		}
	}
	i.mu.Unlock()
	select {
	case i.wake <- struct{}{}:
	default: // somebody did before
	}
}

// URL is where the page is, without a slash at its end and without a token; "" where it is off or cannot be had.
func (i *inbox) URL() string {
	if i == nil {
		return ""
	}
	i.mu.Lock()
	pending := i.pending
	i.mu.Unlock()
	if pending != nil {
		soon := time.NewTimer(inboxSoon)
		defer soon.Stop()
		select {
		case <-pending:
		case <-soon.C: // it may come yet
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.base
}

// run goes on until ctx ends.
func (i *inbox) run(ctx context.Context) {
	defer close(i.ended)
	var since uint64
	woken := false
	for ctx.Err() == nil {
		if !woken && !i.waits() {
			i.idle()
			since, woken = i.sleep(ctx, since)
			continue
		}
		woken = false
		i.try(ctx)
		rest(ctx, i.config.next+rand.N(i.config.next/2+1))
	}
}

// waits reports whether a question waits now.
func (i *inbox) waits() bool {
	n, err := i.config.approvals.WaitingApprovals()
	return err == nil && n > 0 // what cannot be read is looked at again
}

// sleep returns when something has changed, but not before it is time for another look; or at once when woken.
func (i *inbox) sleep(ctx context.Context, since uint64) (next uint64, woken bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changed := make(chan uint64, 1)
	go func() {
		_, next := i.config.changed(ctx, since)
		changed <- next
	}()
	select {
	case <-i.wake:
		stop()
		return <-changed, true
	case next = <-changed:
	}
	pause := time.NewTimer(i.config.look)
	defer pause.Stop()
	select {
	case <-i.wake:
		return next, true
	case <-pause.C:
	case <-ctx.Done():
	}
	return next, false
}

// rest waits for some time, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// idle records that no question waits, so that no caller waits for an attempt.
func (i *inbox) idle() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pending != nil && !i.wanted {
		close(i.pending)
		i.pending = nil
	}
}

// try serves the page until ctx ends, or finds out who does.
func (i *inbox) try(ctx context.Context) {
	state, err := i.config.approvals.StateID()
	if err != nil {
		i.known("", false)
		i.say(slog.LevelWarn, "inbox", slog.Any("cause", err))
		return
	}
	place := findPage(ctx, i.config.address, state)
	if place.listener == nil {
		i.beside(ctx, place)
		return
	}
	door := i.config.door(place.address)
	i.known(door.URL(), true)
	if place.moved(i.config.address) {
		i.say(slog.LevelWarn, "inbox at the next free port", slog.String("url", door.URL()+"/"), slog.String("because", heldByOther.of(i.config.address, nil)))
	} else {
		i.say(slog.LevelInfo, "inbox", slog.String("url", door.URL()+"/"))
	}
	if err := door.Serve(ctx, place.listener); err != nil {
		i.known("", false)
		i.say(slog.LevelWarn, "inbox ended", slog.Any("cause", err))
	}
}

// beside logs who holds the port that the page could not use.
func (i *inbox) beside(ctx context.Context, place pagePlace) {
	switch {
	case ctx.Err() != nil:
	case place.held == heldBySame:
		i.known("http://"+place.address, false)
		i.say(slog.LevelInfo, "inbox is served by another process", slog.String("url", "http://"+place.address+"/"))
	case place.held == heldByNobody && portTaken(place.cause): // the holder ended a moment ago: try again next time
	default:
		i.known("", false)
		i.say(slog.LevelWarn, "no inbox: "+place.held.of(place.address, place.cause), slog.String("try", inboxElsewhere))
	}
}

// known notes where the page is.
func (i *inbox) known(base string, serving bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.base, i.serving, i.wanted = base, serving, false
	if i.pending != nil {
		close(i.pending)
		i.pending = nil
	}
}

// say logs what has changed, once.
func (i *inbox) say(level slog.Level, message string, attrs ...slog.Attr) {
	if i.said == message {
		return
	}
	i.said = message
	i.config.log.LogAttrs(context.Background(), level, message, attrs...)
}

const inboxElsewhere = "--inbox 127.0.0.1:8767 for another address; meanwhile `patterngate approvals` decides"
