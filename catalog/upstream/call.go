package upstream

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson"
)

// MaxSend is the size in bytes of the longest message that is sent. Patterngate and most servers accept it, and it
// leaves room for the text around the arguments. A server might drop a longer message without an answer.
const MaxSend = 4<<20 - 4<<10

// cancelGrace is how long a server may take to answer a call after the client cancelled it.
const cancelGrace = 2 * time.Second

// ErrTooLarge is wrapped by the error of a call whose encoded arguments are longer than [MaxSend].
var ErrTooLarge = errors.New(callTooLarge)

// ErrInputWanted reports that a server asks a question during a call. This client answers none.
var ErrInputWanted = errors.New(asksForInput)

// RPCError is a JSON-RPC error. Its code shows whether the server did not begin, or failed during its work.
type RPCError struct {
	Code    int
	Message string // the server's own message, cut
}

// Error returns message and code.
func (e *RPCError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// InvalidParams reports whether the server rejected the parameters: JSON-RPC 2.0 section 5.1, -32602.
func (e *RPCError) InvalidParams() bool { return e.Code == mcp.INVALID_PARAMS }

// Call calls a tool with a value of arguments. It works as [Client.CallRaw], for callers that need a value: an answer
// that [ijson.Decode] rejects is an error.
func (c *Client) Call(ctx context.Context, tool string, args map[string]any, progress func(string)) (Reply, error) {
	if args == nil {
		args = map[string]any{}
	}
	text, err := json.Marshal(args)
	if err != nil {
		return Reply{}, fmt.Errorf(callArguments, tool, err)
	}
	result, err := c.CallRaw(ctx, tool, text, progress)
	if err != nil {
		return Reply{}, fmt.Errorf("call %s: %w", tool, err)
	}
	reply := Reply{Text: result.Text(), IsError: result.IsError}
	if result.Structured != nil {
		if reply.Structured, err = ijson.Decode(result.Structured); err != nil {
			return Reply{}, fmt.Errorf(structuredContentOf, tool, err)
		}
	}
	return reply, nil
}

// CallRaw calls a tool with the text of an object of arguments, unchanged. The server itself decides about repeated
// members, large numbers and the like. If progress is not nil, another goroutine calls it with lines of progress; a
// line may come after the answer.
//
// When ctx ends, the client asks the server to cancel the call and gives it a moment to answer. Then CallRaw returns
// the error of ctx, with the result if one came. A server that no longer reads does not block the call. Other errors
// are an *[RPCError], [ErrTooLarge], [ErrInputWanted], a *[StatusError], or an error of the connection.
func (c *Client) CallRaw(ctx context.Context, tool string, args json.RawMessage, progress func(string)) (Result, error) {
	params, t := map[string]any{"name": tool, "arguments": args}, &trace{}
	if progress != nil {
		token := c.newID()
		params["_meta"] = map[string]any{"progressToken": token}
		c.progress.add(token, func(line string) {
			t.wrote() // the server reports about the call, so it has read it; the writer may not have recorded it yet
			progress(line)
		})
		defer c.progress.end(token)
	}
	raw, err := c.ask(ctx, t, mcp.MethodToolsCall, params)
	if raw == nil || err != nil && ctx.Err() == nil {
		return Result{}, err
	}
	result, unread := readResult(raw)
	if err == nil {
		err = unread
	}
	return result, err
}

// request sends one request and returns its result without changes. After the end of ctx it may return a result and the
// error of ctx.
func (c *Client) request(ctx context.Context, method mcp.MCPMethod, params map[string]any) (json.RawMessage, error) {
	return c.ask(ctx, &trace{}, method, params)
}

// ask works as request does, and records in t what happens to it.
func (c *Client) ask(ctx context.Context, t *trace, method mcp.MCPMethod, params map[string]any) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r, err := c.newRequest(method, params)
	if err != nil {
		return nil, err
	}
	sending, giveUp := context.WithCancel(withTrace(context.WithoutCancel(ctx), t))
	defer giveUp()
	// In the stateless era, the end of the HTTP request cancels a call. Otherwise the client sends a cancellation.
	tell := !c.overHTTP() || !c.modern()
	var told atomic.Bool
	stop := context.AfterFunc(ctx, func() {
		if tell && !c.how.prompt && t.read().sent {
			told.Store(true)
			go c.cancel(r.ID)
			time.AfterFunc(cancelGrace, giveUp)
			return
		}
		giveUp()
	})
	defer stop()
	response, err := c.wire.SendRequest(sending, r)
	raw, err := c.taken(ctx, t, response, err)
	if ctx.Err() == nil {
		return raw, err
	}
	if tell && response == nil && t.read().sent && !told.Load() { // also if it was recorded as sent only after ctx had ended
		go c.cancel(r.ID)
	}
	return raw, ctx.Err()
}

// taken converts a response to a result or an error.
func (c *Client) taken(ctx context.Context, t *trace, response *transport.JSONRPCResponse, err error) (json.RawMessage, error) {
	switch {
	case err != nil:
		return nil, c.explain(ctx, t, err)
	case response == nil:
		return nil, errNoResult
	case response.Error != nil:
		return nil, &RPCError{response.Error.Code, ijson.Cut(response.Error.Message, maxWords)}
	case response.Result == nil, string(response.Result) == "null":
		return nil, errNoResult
	}
	return response.Result, nil
}

var errNoResult = unreadableError{errors.New(neitherResultNorError)}

// maxWords is the maximum size, in bytes, of a server's message that is kept.
const maxWords = 2000

// newRequest returns a request with the metadata that its era requires.
func (c *Client) newRequest(method mcp.MCPMethod, params map[string]any) (transport.JSONRPCRequest, error) {
	version := c.mcp.ProtocolVersion()
	if c.modern() {
		meta := map[string]any{
			mcp.MetaKeyProtocolVersion: version, mcp.MetaKeyClientCapabilities: struct{}{},
			mcp.MetaKeyClientInfo: mcp.Implementation{Name: c.how.who.Name, Version: c.how.who.Version},
		}
		if own, ok := params["_meta"].(map[string]any); ok {
			maps.Copy(meta, own)
		}
		params["_meta"] = meta
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		return transport.JSONRPCRequest{}, err
	}
	if len(encoded) > MaxSend {
		return transport.JSONRPCRequest{}, localError{fmt.Errorf(callBytes, ErrTooLarge, len(encoded), MaxSend)}
	}
	r := transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(c.newID()), Method: string(method), Params: json.RawMessage(encoded),
	}
	if c.modern() && c.overHTTP() {
		r.Header = c.mirrored(version, method, encoded, params)
	}
	return r, nil
}

// mirrored returns the headers that repeat parts of a request, for systems that route by them.
func (c *Client) mirrored(version string, method mcp.MCPMethod, encoded json.RawMessage, params map[string]any) http.Header {
	h := http.Header{}
	for name, value := range mcp.StandardHeaders(version, method, encoded) {
		h.Set(name, value)
	}
	name, _ := params["name"].(string)
	c.mu.Lock()
	tool, known := c.known[name]
	c.mu.Unlock()
	if known && method == mcp.MethodToolsCall {
		for name, value := range mcp.GenerateParamHeaders(&tool, encoded) {
			h.Set(name, value)
		}
	}
	return h
}

// cancel notifies the server that a request is given up.
func (c *Client) cancel(id mcp.RequestId) {
	ctx, end := context.WithTimeout(context.Background(), cancelGrace)
	defer end()
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = string(mcp.MethodNotificationCancelled)
	n.Params.AdditionalFields = map[string]any{"requestId": id, "reason": callerGaveUp}
	_ = c.wire.SendNotification(ctx, n) // best effort: the call is given up in any case
}

// newID returns an id that no other client of the server uses.
func (c *Client) newID() string { return c.prefix + strconv.FormatInt(c.requests.Add(1), 10) }

func randomPrefix() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "pg-" + hex.EncodeToString(b[:]) + "-"
}

// explain returns what a transport's error does not show: the limit that was exceeded, how the child ended, or the HTTP
// answer.
func (c *Client) explain(ctx context.Context, t *trace, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if why := t.read().fault; why != nil {
		return why
	}
	if errors.Is(err, errEnded) {
		if why := c.by.why(); why != nil {
			return &endedError{why}
		}
		return &endedError{errEnded}
	}
	if failed, ok := errors.AsType[*url.Error](err); ok { // its own text repeats the URL
		return failed.Err
	}
	if failed, ok := errors.AsType[*transport.Error](err); ok {
		return failed.Err
	}
	return err
}

// endedError reports that the session ended, and why.
type endedError struct{ why error }

func (e *endedError) Error() string { return e.why.Error() }
func (e *endedError) Unwrap() error { return e.why }
