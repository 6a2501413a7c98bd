package openai

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 8 * time.Second
	// maxUnboundWait is how long a server may put off a question whose context has no deadline.
	maxUnboundWait = 2 * time.Minute
)

// pause stays away from the server after the given try ended in err, and reports whether another one makes sense:
// the fault may pass, the wait fits into ctx's time, and ctx has not ended. A wait that does not fit is not
// begun.
func (m *Client) pause(ctx context.Context, try int, err error) bool {
	var known *fault
	if !errors.As(err, &known) || !known.passing {
		return false
	}
	d := rand.N(min(m.backoff<<min(try, 10), maxBackoff) + 1) // exponential, full jitter
	if known.after != nil {
		d = *known.after
	}
	limit := maxUnboundWait
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline)
	}
	if d >= limit {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter reads Retry-After, seconds or a date (RFC 9110 section 10.2.3); nil where there is none to understand.
func retryAfter(h http.Header, now time.Time) *time.Duration {
	text := h.Get("Retry-After")
	seconds, err := strconv.ParseUint(text, 10, 63)
	if err == nil || errors.Is(err, strconv.ErrRange) { // seconds is then the largest number
		const most = 1 << 31 // 68 years: beyond every deadline, and no overflow
		d := time.Duration(min(seconds, most)) * time.Second
		return &d
	}
	if date, err := http.ParseTime(text); err == nil {
		d := max(date.Sub(now), 0)
		return &d
	}
	return nil
}
