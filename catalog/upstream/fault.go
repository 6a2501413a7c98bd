package upstream

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/catalog"
)

// notSent returns a fault of a call that did not reach the server.
func notSent(cause error) *catalog.Fault {
	return &catalog.Fault{Kind: catalog.NotSent, Again: mayPass(cause), Cause: cause}
}

// localError is a fault of one call or one tool that this program caused. It shows nothing about the server.
type localError struct{ error }

// Unwrap returns what is wrong.
func (e localError) Unwrap() error { return e.error }

// Local reports that this program caused the fault.
func (localError) Local() bool { return true }

// refusedAddress is the error of an endpoint's Judge for an address. It contains no secret.
type refusedAddress struct{ error }

// Unwrap returns the error of Judge.
func (e *refusedAddress) Unwrap() error { return e.error }

// veiledError is a fault without its secrets. It keeps the address that was refused.
type veiledError struct {
	text    string
	refused *refusedAddress
}

// Error returns the text without secrets.
func (e *veiledError) Error() string { return e.text }

// Unwrap returns the address that was refused.
func (e *veiledError) Unwrap() error { return e.refused }

// isLocal reports whether an error has Local() true: this program caused it.
func isLocal(err error) bool {
	local, ok := errors.AsType[interface {
		error
		Local() bool
	}](err)
	return ok && local.Local()
}

// mayPass reports whether the reason why a call was not sent may be over soon: no process listened, or the server
// ended.
func mayPass(cause error) bool {
	_, ended := errors.AsType[*endedError](cause)
	return ended || errors.Is(cause, errStuck) || errors.Is(cause, syscall.ECONNREFUSED)
}

// faultOf returns the fault of a call that returned err. t is the trace of the call, and ctx its context.
func faultOf(ctx context.Context, t traced, err error) *catalog.Fault {
	kind, again, after := kindOf(ctx, t, err)
	return &catalog.Fault{Kind: kind, Again: again, After: after, Cause: err}
}

// refusals are the codes of a server that did not begin: an invalid request, an unknown method or tool, arguments or
// headers that do not fit. With any other code the server may have acted, for example before a panic or a time-out of a
// tool.
var refusals = []int{mcp.PARSE_ERROR, mcp.INVALID_REQUEST, mcp.METHOD_NOT_FOUND, mcp.INVALID_PARAMS,
	mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION}

func kindOf(ctx context.Context, t traced, err error) (kind catalog.FaultKind, again bool, after time.Duration) {
	switch {
	case t.doubt:
		return catalog.NoAnswer, false, 0
	case t.status == http.StatusTooManyRequests:
		return catalog.Declined, true, t.after
	case t.status == http.StatusRequestTimeout:
		return catalog.TimedOut, true, t.after
	case t.status >= http.StatusInternalServerError: // a 503 too: it may come from a proxy before the server
		return catalog.NoAnswer, true, t.after
	case t.status >= http.StatusBadRequest:
		return catalog.Declined, false, 0
	case t.status >= http.StatusMultipleChoices: // a redirect that is not followed
		return catalog.NoAnswer, false, 0
	}
	answer, answered := errors.AsType[*RPCError](err)
	refused := answered && slices.Contains(refusals, answer.Code)
	_, unreadable := errors.AsType[unreadableError](err)
	switch {
	case refused:
		return catalog.Declined, false, 0
	case errors.Is(err, ErrInputWanted): // the server may have acted before it asked
		return catalog.Unreadable, false, 0
	case answered: // it failed at some point of its work
		return catalog.NoAnswer, true, 0
	case !t.sent:
		return catalog.NotSent, mayPass(err) || unreadable, 0 // another call's answer was unreadable and ended the session
	case ctx.Err() != nil:
		return catalog.TimedOut, true, 0
	case unreadable, t.status != 0 && !t.stream: // the server did answer
		return catalog.Unreadable, false, 0
	}
	return catalog.NoAnswer, true, 0
}

// forgotten reports whether a request failed because the server no longer knows the HTTP session. Then the request did
// nothing.
func (c *Client) forgotten(err error) bool {
	if err == nil || !c.overHTTP() || c.modern() {
		return false
	}
	if errors.Is(err, transport.ErrSessionTerminated) { // an earlier request showed it
		return true
	}
	answer, ok := errors.AsType[*StatusError](err)
	if !ok {
		return false
	}
	return answer.Status == http.StatusNotFound ||
		answer.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(answer.Message), "session") // some servers answer so
}
