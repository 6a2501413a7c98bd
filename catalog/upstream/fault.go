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

// notSent is a fault of a call that did not reach the server.
func notSent(cause error) *catalog.Fault {
	return &catalog.Fault{Kind: catalog.NotSent, Again: mayPass(cause), Cause: cause}
}

// localError is a fault of one call or one tool that lies here and says nothing of the server.
type localError struct{ error }

// Unwrap returns what is wrong.
func (e localError) Unwrap() error { return e.error }

// Local reports that the fault lies here.
func (localError) Local() bool { return true }

// refusedAddress is what an endpoint's Judge said against an address. It holds no secret.
type refusedAddress struct{ error }

// Unwrap returns what Judge said.
func (e *refusedAddress) Unwrap() error { return e.error }

// veiledError is a fault without its secrets that still knows which address was refused.
type veiledError struct {
	text    string
	refused *refusedAddress
}

// Error is the text without secrets.
func (e *veiledError) Error() string { return e.text }

// Unwrap returns the address that was refused.
func (e *veiledError) Unwrap() error { return e.refused }

// isLocal reports whether an error says of itself that it lies here.
func isLocal(err error) bool {
	local, ok := errors.AsType[interface {
		error
		Local() bool
	}](err)
	return ok && local.Local()
}

// mayPass reports whether what kept a call from being sent may be over in a moment: nobody listened, or the server ended.
func mayPass(cause error) bool {
	_, ended := errors.AsType[*endedError](cause)
	return ended || errors.Is(cause, errStuck) || errors.Is(cause, syscall.ECONNREFUSED)
}

// faultOf says what is known about a call that gave err, and whose way t traced. ctx is the call's.
func faultOf(ctx context.Context, t traced, err error) *catalog.Fault {
	kind, again, after := kindOf(ctx, t, err)
	return &catalog.Fault{Kind: kind, Again: again, After: after, Cause: err}
}

// refusals are the codes by which a server says that it did not begin: the request is none, the method or tool is unknown, the
// arguments or headers do not fit. By any other, a panic or time-out of a tool among them, it may have acted.
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
	case t.status >= http.StatusInternalServerError: // a 503 too: it may come from what stands before the server
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
	case errors.Is(err, ErrInputWanted): // who knows what it did before it asked
		return catalog.Unreadable, false, 0
	case answered: // it broke, or gave up, at some point of its work
		return catalog.NoAnswer, true, 0
	case !t.sent:
		return catalog.NotSent, mayPass(err) || unreadable, 0 // what was unreadable was another call's, and ended the session
	case ctx.Err() != nil:
		return catalog.TimedOut, true, 0
	case unreadable, t.status != 0 && !t.stream: // it did answer
		return catalog.Unreadable, false, 0
	}
	return catalog.NoAnswer, true, 0
}

// forgotten reports whether a request failed because the server has forgotten the HTTP session. It did nothing then.
func (c *Client) forgotten(err error) bool {
	if err == nil || !c.overHTTP() || c.modern() {
		return false
	}
	if errors.Is(err, transport.ErrSessionTerminated) { // an earlier request found out
		return true
	}
	answer, ok := errors.AsType[*StatusError](err)
	if !ok {
		return false
	}
	return answer.Status == http.StatusNotFound ||
		answer.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(answer.Message), "session") // of some servers
}
