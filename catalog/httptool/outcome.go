package httptool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"patterngate/catalog"
)

// StatusError is a reply that is no result. Nothing of its text is kept: it may echo what must not be written down.
type StatusError struct {
	Tool string
	Code int
}

// Error words tool and code.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: %d %s", e.Tool, e.Code, http.StatusText(e.Code))
}

// refused says what a reply that is no result means for the call: a 4xx did nothing, but for 408; of anything else nobody
// knows what was done.
func (t *Tool) refused(response *http.Response) *catalog.Fault {
	code := response.StatusCode
	fault := &catalog.Fault{Cause: &StatusError{t.name, code}}
	switch {
	case code == http.StatusRequestTimeout:
		fault.Kind, fault.Again = catalog.TimedOut, true
	case code == http.StatusTooManyRequests:
		fault.Kind, fault.Again = catalog.Declined, true
	case code >= 400 && code < 500:
		fault.Kind = catalog.Declined
	case code >= 500:
		fault.Kind, fault.Again = catalog.NoAnswer, true
	case code >= 200 && code < 300: // an answer, but not one of those that were written down
		fault.Kind = catalog.Unreadable
	default:
		fault.Kind = catalog.NoAnswer // a redirect that was not followed
	}
	if fault.Again {
		fault.After = retryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return fault
}

// lost says what a request without a reply means for the call.
func (t *Tool) lost(ctx context.Context, err error, sent bool) *catalog.Fault {
	fault := &catalog.Fault{Kind: catalog.NoAnswer, Again: true, Cause: fmt.Errorf("%s: %w", t.name, err)}
	late := isTimeout(ctx, err)
	switch {
	case !sent: // a time-out may be repeated like one after sending, a refused connection by any tool
		fault.Kind, fault.Again = catalog.NotSent, isRefused(err) || late && t.repeatable
	case late:
		fault.Kind = catalog.TimedOut
	case ctx.Err() != nil:
		fault.Again = false // the caller left
	}
	return fault
}

// cut says what a reply that began as a success and could not be read means for the call.
func (t *Tool) cut(ctx context.Context, err error) *catalog.Fault {
	fault := &catalog.Fault{Kind: catalog.Unreadable, Cause: fmt.Errorf("%s: reading the reply: %w", t.name, err)}
	switch {
	case isTimeout(ctx, err):
		fault.Kind, fault.Again = catalog.TimedOut, true
	case ctx.Err() != nil:
		fault.Kind = catalog.NoAnswer
	}
	return fault
}

// isTimeout reports whether time ran out.
func isTimeout(ctx context.Context, err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), context.DeadlineExceeded) ||
		errors.Is(err, context.DeadlineExceeded) || ok && timeout.Timeout()
}

// isRefused reports whether nobody listened.
func isRefused(err error) bool {
	const onWindows = syscall.Errno(10061) // WSAECONNREFUSED
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, onWindows)
}

// maxAfter bounds what a server may ask us to wait.
const maxAfter = time.Hour

// retryAfter reads Retry-After: seconds, or a date. What is neither, and the past, is 0.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxAfter)
}
