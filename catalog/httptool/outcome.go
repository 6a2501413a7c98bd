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

// StatusError is a reply that is not a result. It keeps no text of the reply, which may contain a secret.
type StatusError struct {
	Tool   string
	Code   int
	Secret string // the header or query member with a secret, if the service refused the caller; "": none
}

// Error returns the tool, the code and which secret to check.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s: %d %s", e.Tool, e.Code, http.StatusText(e.Code))
	if e.Secret != "" {
		text += checkSecret(e.Secret)
	}
	return text
}

// credential returns the name of the first header or query member whose value is a secret. It returns "" if the code does
// not say that the service refused the caller.
func (t *Tool) credential(code int) string {
	if code != http.StatusUnauthorized && code != http.StatusForbidden {
		return ""
	}
	for _, h := range t.headers {
		if h.secret != nil {
			return h.name
		}
	}
	if len(t.secretQuery) > 0 {
		return t.secretQuery[0].name
	}
	return ""
}

// refused returns what a reply that is not a result means for the call. A 4xx did nothing, except for 408. For any
// other code the outcome is unknown.
func (t *Tool) refused(response *http.Response) *catalog.Fault {
	code := response.StatusCode
	fault := &catalog.Fault{Cause: &StatusError{t.name, code, t.credential(code)}}
	switch {
	case code == http.StatusRequestTimeout:
		fault.Kind, fault.Again = catalog.TimedOut, true
	case code == http.StatusTooManyRequests:
		fault.Kind, fault.Again = catalog.Declined, true
	case code >= 400 && code < 500:
		fault.Kind = catalog.Declined
	case code >= 500:
		fault.Kind, fault.Again = catalog.NoAnswer, true
	case code >= 200 && code < 300: // an answer, but not with a configured code
		fault.Kind = catalog.Unreadable
	default:
		fault.Kind = catalog.NoAnswer // a redirect that was not followed
	}
	if fault.Again {
		fault.After = retryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return fault
}

// lost returns what a request without a reply means for the call.
func (t *Tool) lost(ctx context.Context, err error, sent bool) *catalog.Fault {
	fault := &catalog.Fault{Kind: catalog.NoAnswer, Again: true, Cause: fmt.Errorf("%s: %w", t.name, err)}
	late := isTimeout(ctx, err)
	switch {
	case !sent: // a call may be repeated after a time-out if repeatable; any tool may repeat after a refused connection
		fault.Kind, fault.Again = catalog.NotSent, isRefused(err) || late && t.repeatable
	case late:
		fault.Kind = catalog.TimedOut
	case ctx.Err() != nil:
		fault.Again = false // the caller left
	}
	return fault
}

// cut returns what a reply means for the call if it began as a success and could not be read.
func (t *Tool) cut(ctx context.Context, err error) *catalog.Fault {
	fault := &catalog.Fault{Kind: catalog.Unreadable, Cause: fmt.Errorf(replyUnread, t.name, err)}
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

// isRefused reports whether the connection was refused.
func isRefused(err error) bool {
	const onWindows = syscall.Errno(10061) // WSAECONNREFUSED
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, onWindows)
}

// maxAfter is the longest pause that a server may ask for.
const maxAfter = time.Hour

// retryAfter reads Retry-After: seconds, or a date. A past date or any other text is 0.
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
