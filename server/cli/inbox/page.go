package inbox

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/server/web"
)

// Page serves the approval page of a state file, unless another process does. It starts with the first question that waits for a
// person. Before that, it is one sleeping goroutine.
//
//	             a new question here, or one waits after a change
//	asleep ────────────────────────────────────────────────▶ try to listen ──▶ serve until the end
//	   ▲                                                      │        ▲
//	   └── nothing waits ── the port is in use: ours or not ◀┘          └── a few seconds later
//
// A nil Page is off. It is safe for concurrent use.
type Page struct {
	config pageConfig
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

// pageConfig holds what a page needs.
type pageConfig struct {
	address   string // host:port
	approvals patterns.Approvals
	changed   func(ctx context.Context, since uint64) (ids []string, next uint64) // like the method of [patterns.Owner]
	door      func(address string) *web.Door
	log       *slog.Logger

	look time.Duration // interval between checks for waiting questions
	next time.Duration // time until the next try of the port, plus up to half as much
}

const (
	usualLook = time.Second
	usualNext = 2 * time.Second
	// attemptTime is how long URL waits for a running attempt.
	attemptTime = 2 * time.Second
)

// newPage starts a page; Close ends it.
func newPage(c pageConfig) *Page {
	ctx, end := context.WithCancel(context.Background())
	p := &Page{config: c, end: end, ended: make(chan struct{}), wake: make(chan struct{}, 1), pending: make(chan struct{})}
	go p.run(ctx)
	return p
}

// Close ends the page, if this process serves it, and the wait for questions.
func (p *Page) Close() {
	if p == nil {
		return
	}
	p.end()
	<-p.ended
}

// Asked is called for each question to a person in this process, after it is recorded. It returns at once.
func (p *Page) Asked(patterns.Asked) {
	if p == nil {
		return
	}
	p.mu.Lock()
	if !p.serving {
		p.wanted = true
		if p.pending == nil {
			p.pending = make(chan struct{})
		}
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// URL returns the page's address, without a final slash and without a token. It returns "" if the page is off or cannot be
// served.
func (p *Page) URL() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	pending := p.pending
	p.mu.Unlock()
	if pending != nil {
		soon := time.NewTimer(attemptTime)
		defer soon.Stop()
		select {
		case <-pending:
		case <-soon.C: // the page can still start later
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.base
}

// run works until ctx ends.
func (p *Page) run(ctx context.Context) {
	defer close(p.ended)
	var since uint64
	woken := false
	for ctx.Err() == nil {
		if !woken && !p.waits() {
			p.idle()
			since, woken = p.sleep(ctx, since)
			continue
		}
		woken = false
		p.try(ctx)
		rest(ctx, p.config.next+rand.N(p.config.next/2+1))
	}
}

// waits reports whether a question waits now.
func (p *Page) waits() bool {
	n, err := p.config.approvals.WaitingApprovals()
	return err == nil && n > 0 // after an error, the next check reads again
}

// sleep returns when something has changed, but not before the next check is due. A wake-up ends it at once.
func (p *Page) sleep(ctx context.Context, since uint64) (next uint64, woken bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changed := make(chan uint64, 1)
	go func() {
		_, next := p.config.changed(ctx, since)
		changed <- next
	}()
	select {
	case <-p.wake:
		stop()
		return <-changed, true
	case next = <-changed:
	}
	pause := time.NewTimer(p.config.look)
	defer pause.Stop()
	select {
	case <-p.wake:
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
func (p *Page) idle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending != nil && !p.wanted {
		close(p.pending)
		p.pending = nil
	}
}

// try serves the page until ctx ends, or finds the process that serves it.
func (p *Page) try(ctx context.Context) {
	state, err := p.config.approvals.StateID()
	if err != nil {
		p.known("", false)
		p.say(slog.LevelWarn, "inbox", slog.Any("cause", err))
		return
	}
	place := findPage(ctx, p.config.address, state)
	if place.listener == nil {
		p.beside(ctx, place)
		return
	}
	door := p.config.door(place.address)
	p.known(door.URL(), true)
	if place.moved(p.config.address) {
		p.say(slog.LevelWarn, logMoved, slog.String("url", door.URL()+"/"), slog.String("because", heldByOther.of(p.config.address, nil)))
	} else {
		p.say(slog.LevelInfo, "inbox", slog.String("url", door.URL()+"/"))
	}
	if err := door.Serve(ctx, place.listener); err != nil {
		p.known("", false)
		p.say(slog.LevelWarn, "inbox ended", slog.Any("cause", err))
	}
}

// beside logs what uses the port that the page could not use.
func (p *Page) beside(ctx context.Context, place pagePlace) {
	switch {
	case ctx.Err() != nil:
	case place.held == heldBySame:
		p.known("http://"+place.address, false)
		p.say(slog.LevelInfo, logBeside, slog.String("url", "http://"+place.address+"/"))
	case place.held == heldByNobody && portTaken(place.cause): // the other process ended a moment ago: try again next time
	default:
		p.known("", false)
		p.say(slog.LevelWarn, "no inbox: "+place.held.of(place.address, place.cause), slog.String("try", elsewhere))
	}
}

// known records the page's address.
func (p *Page) known(base string, serving bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base, p.serving, p.wanted = base, serving, false
	if p.pending != nil {
		close(p.pending)
		p.pending = nil
	}
}

// say logs a message, unless it is the same as the last one.
func (p *Page) say(level slog.Level, message string, attrs ...slog.Attr) {
	if p.said == message {
		return
	}
	p.said = message
	p.config.log.LogAttrs(context.Background(), level, message, attrs...)
}
