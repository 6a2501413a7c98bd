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

// inbox serves the approval page of a state file, unless another process does. It starts with the first question that waits for a
// person. Before that, it is one sleeping goroutine.
//
//	             a new question here, or one waits after a change
//	asleep ────────────────────────────────────────────────▶ try to listen ──▶ serve until the end
//	   ▲                                                      │        ▲
//	   └── nothing waits ── the port is in use: ours or not ◀┘          └── a few seconds later
//
// A nil inbox is off. It is safe for concurrent use.
type inbox struct {
	config inboxConfig
	end    context.CancelFunc
	ended  chan struct{}
	wake   chan struct{} // holds one

	mu      sync.Mutex
	base    string        // URL of the page; "" if it is unknown or there is no page
	wanted  bool          // a new question here waits for the result in pending
	serving bool          // this process serves the page
	pending chan struct{} // closed when the result of a wanted attempt is known; nil: no attempt
	said    string        // the last log line, to log it only once
}

// inboxConfig holds the settings of an inbox.
type inboxConfig struct {
	address   string // host:port
	approvals patterns.Approvals
	changed   func(ctx context.Context, since uint64) (ids []string, next uint64) // like the method of [patterns.Owner]
	door      func(address string) *web.Door
	log       *slog.Logger

	look time.Duration // interval between checks for waiting questions
	next time.Duration // time until the next try of the port, plus up to half as much
}

const (
	inboxLook = time.Second
	inboxNext = 2 * time.Second
	// inboxSoon is how long URL waits for a running attempt.
	inboxSoon = 2 * time.Second
)

// newInbox starts an inbox; Close ends it.
func newInbox(c inboxConfig) *inbox {
	ctx, end := context.WithCancel(context.Background())
	i := &inbox{config: c, end: end, ended: make(chan struct{}), wake: make(chan struct{}, 1), pending: make(chan struct{})}
	go i.run(ctx)
	return i
}

// Close ends the inbox, and the page if this process serves it.
func (i *inbox) Close() {
	if i == nil {
		return
	}
	i.end()
	<-i.ended
}

// Asked is called for each question to a person in this process, after it is recorded. It returns at once.
func (i *inbox) Asked(patterns.Asked) {
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
	default: // a wake-up is already pending
	}
}

// URL returns the page's address, without a final slash and without a token. It returns "" if the page is off or cannot be
// served.
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
		case <-soon.C: // the page can still start later
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.base
}

// run works until ctx ends.
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
	return err == nil && n > 0 // after an error, the next check reads again
}

// sleep returns when something has changed, but not before the next check is due. A wake-up ends it at once.
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

// try serves the page until ctx ends, or finds the process that serves it.
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

// beside logs what uses the port that the page could not use.
func (i *inbox) beside(ctx context.Context, place pagePlace) {
	switch {
	case ctx.Err() != nil:
	case place.held == heldBySame:
		i.known("http://"+place.address, false)
		i.say(slog.LevelInfo, "inbox is served by another process", slog.String("url", "http://"+place.address+"/"))
	case place.held == heldByNobody && portTaken(place.cause): // the other process ended a moment ago: try again next time
	default:
		i.known("", false)
		i.say(slog.LevelWarn, "no inbox: "+place.held.of(place.address, place.cause), slog.String("try", inboxElsewhere))
	}
}

// known records the page's address.
func (i *inbox) known(base string, serving bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.base, i.serving, i.wanted = base, serving, false
	if i.pending != nil {
		close(i.pending)
		i.pending = nil
	}
}

// say logs a message, unless it is the same as the last one.
func (i *inbox) say(level slog.Level, message string, attrs ...slog.Attr) {
	if i.said == message {
		return
	}
	i.said = message
	i.config.log.LogAttrs(context.Background(), level, message, attrs...)
}

const inboxElsewhere = "--inbox 127.0.0.1:8767 for another address; meanwhile `patterngate approvals` decides"
