// Package resilience keeps calls away from a server that does not answer, and within a rate and a number at once
// (spec/config.md section 4, breaker, max_parallel and rate).
//
//	call ──▶ breaker open? ──▶ rate ──▶ number at once ──▶ breaker ──▶ the tool
//
// A call that is refused gets a *[catalog.Fault] of kind [catalog.NotSent], because nothing was sent. Repetitions are not made here:
// each is a call of its own, which patterns judge, count and record.
package resilience

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"patterngate/catalog"
)

// Why a call was turned away. Each is the cause of a fault, or within it.
var (
	ErrOpen = errors.New(breakerOpen)
	ErrRate = errors.New(rateExhausted)
	ErrBusy = errors.New(tooManyCalls)
)

// Config says what a server's calls are held to. The zero Config holds them to nothing.
type Config struct {
	// Failures in a row open the breaker; 0: there is none.
	Failures int
	// Open is how long it stays open; then one call is let through, and its outcome closes it or opens it again.
	Open time.Duration
	// MaxParallel is how many calls are under way at once; 0: any number.
	MaxParallel int
}

// Guard stands before the tools of one server, or before one HTTP tool. It is safe for concurrent use.
type Guard struct {
	breaker  circuitbreaker.CircuitBreaker[any] // nil: none
	parallel bulkhead.Bulkhead[any]             // nil: no limit
}

// New returns a guard that has seen no failure.
func New(config Config) *Guard {
	g := &Guard{}
	if config.Failures > 0 {
		g.breaker = circuitbreaker.NewBuilder[any]().
			WithFailureThreshold(uint(config.Failures)).
			WithSuccessThreshold(1).
			WithDelay(max(config.Open, 0)).
			Build()
	}
	if config.MaxParallel > 0 {
		g.parallel = bulkhead.New[any](uint(config.MaxParallel))
	}
	return g
}

// Open reports whether calls are turned away at present, and until when.
func (g *Guard) Open() (open bool, until time.Time) {
	left := g.remaining()
	if left <= 0 {
		return false, time.Time{}
	}
	return true, time.Now().Add(left)
}

// remaining is how long the breaker stays open.
func (g *Guard) remaining() time.Duration {
	if g.breaker == nil {
		return 0
	}
	return g.breaker.RemainingDelay()
}

// Wrap returns a tool that is called through the guard, and no more often than rate says. Each tool has a rate of its own.
func (g *Guard) Wrap(do catalog.Func, rate Rate) catalog.Func {
	limit := rate.limiter()
	return func(ctx context.Context, call catalog.Call) (any, error) {
		if left := g.remaining(); left > 0 {
			return nil, opened(left)
		}
		if err := limit.wait(ctx); err != nil {
			return nil, err
		}
		if err := g.enter(ctx); err != nil {
			return nil, err
		}
		defer g.leave()
		return g.call(ctx, do, call)
	}
}

// enter waits until fewer calls are under way than may be.
func (g *Guard) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return turnedAway(ctx, ErrBusy)
	}
	if g.parallel == nil {
		return nil
	}
	if err := g.parallel.AcquirePermit(ctx); err != nil {
		return turnedAway(ctx, ErrBusy)
	}
	return nil
}

func (g *Guard) leave() {
	if g.parallel != nil {
		g.parallel.ReleasePermit()
	}
}

// call makes the call and reports its result to the breaker. It counts a panic as a failure and passes it on.
func (g *Guard) call(ctx context.Context, do catalog.Func, call catalog.Call) (v any, err error) {
	if g.breaker == nil {
		return do(ctx, call)
	}
	if !g.breaker.TryAcquirePermit() {
		return nil, opened(g.breaker.RemainingDelay())
	}
	verdict := failed
	defer func() { g.tell(verdict) }()
	v, err = do(ctx, call)
	verdict = judge(ctx, err)
	return v, err
}

// tell records an outcome.
func (g *Guard) tell(v verdict) {
	switch v {
	case answered:
		g.breaker.RecordSuccess()
	case failed:
		g.breaker.RecordFailure()
	case unknown:
		if g.breaker.IsHalfOpen() { // the one call that was let through showed nothing: the next one is let through
			g.breaker.Open()
			g.breaker.HalfOpen()
		}
	}
}

// verdict is what a call says of its server.
type verdict int

const (
	unknown  verdict = iota // nothing: the caller left, or the fault was ours
	answered                // it is there
	failed                  // it is not, or does not answer
)

// judge reads an outcome. A refusal and an answer that cannot be read are answers.
func judge(ctx context.Context, err error) verdict {
	fault, known := errors.AsType[*catalog.Fault](err)
	switch {
	case err == nil:
		return answered
	case isLocal(err), errors.Is(ctx.Err(), context.Canceled) && !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return unknown
	case !known && errors.Is(err, context.DeadlineExceeded):
		return failed
	case !known, fault.Kind == catalog.Declined, fault.Kind == catalog.Unreadable:
		return answered
	}
	return failed
}

// isLocal reports whether a fault says of itself that it lies here: a secret that is missing, an address that is not dialled.
func isLocal(err error) bool {
	local, ok := errors.AsType[interface {
		error
		Local() bool
	}](err)
	return ok && local.Local()
}

// opened is the fault of a call that the breaker turned away.
func opened(left time.Duration) *catalog.Fault {
	return &catalog.Fault{Kind: catalog.NotSent, After: left, Cause: ErrOpen}
}

// turnedAway is the fault of a call whose time ran out, or whose caller left, while it waited.
func turnedAway(ctx context.Context, why error) *catalog.Fault {
	cause := why
	if ctx.Err() != nil {
		cause = fmt.Errorf("%w: %w", why, ctx.Err())
	}
	return &catalog.Fault{Kind: catalog.NotSent, Cause: cause}
}
