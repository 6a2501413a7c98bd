package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"patterngate/patterns"
)

// The stop reasons of a model that gives no answer (spec patterns.md section 0, "Model faults").
const (
	timeoutReason     = "llm_timeout"
	unreachableReason = "llm_unreachable"
	authReason        = "llm_error:auth"
	rateReason        = "llm_error:rate_limit"
	serverReason      = "llm_error:server"
	requestReason     = "llm_error:bad_request"
	refusedReason     = "llm_error:refused"
	noChoicesReason   = "llm_error:no_choices"
)

var (
	errTimedOut = errors.New("the request reached its time-out")
	errNoTime   = errors.New("the time-out leaves a request no time")
	errTooLarge = errors.New("the answer has more than 8 MiB")
)

const (
	errorBodyBytes = 4 << 10         // of an error's body are read
	errorBodyTime  = 2 * time.Second // at most, before the status alone must do
	errorTextBytes = 300             // of it stand in a cause
)

// fault is why a request gave no answer.
type fault struct {
	reason  string
	cause   error
	code    int            // of the answer's status, where it was another than 2xx
	passing bool           // another try may do
	after   *time.Duration // what the server asks to wait before it
}

func (f *fault) Error() string { return f.reason + ": " + f.cause.Error() }
func (f *fault) Unwrap() error { return f.cause }

// wrongAnswer is the fault of a status 200 without a chat completion.
func wrongAnswer(cause error) error { return &fault{reason: serverReason, cause: cause} }

// outward gives err the form that callers of Ask know: ctx's error if ctx ended, else a [*patterns.ModelFault].
func outward(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	var known *fault
	if !errors.As(err, &known) {
		return err
	}
	return &patterns.ModelFault{Reason: known.reason, Cause: known.cause}
}

// denied is the fault of an answer with another status than 2xx. What its body says goes into the cause, if it comes
// soon; cancel ends reading.
func denied(res *http.Response, cancel func(), key bearer) error {
	defer res.Body.Close()
	defer time.AfterFunc(errorBodyTime, cancel).Stop()
	body, _ := io.ReadAll(io.LimitReader(res.Body, errorBodyBytes)) // what came is enough
	reason, passing := classify(res.StatusCode)
	return &fault{
		reason:  reason,
		code:    res.StatusCode,
		cause:   fmt.Errorf("status %d: %q", res.StatusCode, key.quotable(string(body))),
		passing: passing,
		after:   retryAfter(res.Header, time.Now()),
	}
}

// classify names the fault of a status and says whether it may pass.
func classify(code int) (reason string, passing bool) {
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return authReason, false
	case code == http.StatusTooManyRequests:
		return rateReason, true
	case code >= 400 && code < 500:
		return requestReason, false
	}
	return serverReason, code >= 500
}
