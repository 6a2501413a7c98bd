package resilience

import (
	"context"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"
)

// Rate is how often a tool may be called: Calls in each Per, Burst of them at once (0: Calls). The zero Rate does not limit.
type Rate struct {
	Calls, Burst int
	Per          time.Duration
}

// limiter holds calls to a rate; the zero limiter to none.
type limiter struct {
	permits ratelimiter.RateLimiter[any]
	never   bool // Calls is 0 of a rate: none are allowed
}

// limiter makes a rate's limiter. Burst calls are let through in each window of time in which the rate allows as many.
func (r Rate) limiter() limiter {
	if r.Per <= 0 {
		return limiter{}
	}
	if r.Calls <= 0 {
		return limiter{never: true}
	}
	burst := r.Burst
	if burst <= 0 {
		burst = r.Calls
	}
	window := time.Duration(float64(r.Per) * float64(burst) / float64(r.Calls))
	return limiter{permits: ratelimiter.NewBursty[any](uint(burst), max(window, 1))}
}

// wait returns when a call may be made; at once with a fault where that is not before ctx's deadline.
func (l limiter) wait(ctx context.Context) error {
	switch {
	case l.never:
		return turnedAway(ctx, ErrRate)
	case l.permits == nil:
		return nil
	}
	const forever = -1
	patience := time.Duration(forever)
	if deadline, ok := ctx.Deadline(); ok {
		patience = max(time.Until(deadline), 0)
	}
	wait := l.permits.TryReservePermit(patience)
	switch {
	case wait < 0:
		return turnedAway(ctx, ErrRate)
	case wait == 0:
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return turnedAway(ctx, ErrRate)
	}
}
