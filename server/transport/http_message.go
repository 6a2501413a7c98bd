package transport

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/ijson/printable"
)

const methodInitialize = "initialize"

// maxListenBody is the longest subscription, in bytes. A subscription is kept for as long as its client likes.
const maxListenBody = 8 << 10

// posted is one JSON-RPC message that came by POST.
type posted struct {
	e         *endpoint
	w         http.ResponseWriter
	r         *http.Request
	principal string
	frame     frame
	body      []byte
}

// refuse returns a refusal of this message.
func (m posted) refuse(status, code int, message string) *refusal {
	return refuseFrame(status, &frameFault{code, m.frame.id, message})
}

func refuseFrame(status int, f *frameFault) *refusal {
	return &refusal{status: status, code: f.code, id: f.id, message: f.message}
}

// modern carries out a message of MCP 2026-07-28, which has no sessions. mcp-go compares its headers with its body. A
// cancellation has no effect: it names a request only by its id, which another client may use too. A client of this
// version cancels by closing the connection.
func (m posted) modern() *refusal {
	switch m.frame.method {
	case "":
		return m.refuse(http.StatusBadRequest, codeRequest, noResponsesWanted)
	case methodCancel:
		m.w.WriteHeader(http.StatusAccepted)
		return nil
	case methodListen:
		return m.listen()
	}
	return m.carryOut("", func() {})
}

// initialize begins a session. The client gets the id of the session only with a result, and only when the session
// exists.
func (m posted) initialize() *refusal {
	table := m.e.sessions
	if m.e.traffic.stopping() {
		return m.stopping()
	}
	if !table.reserve(m.principal) {
		return m.refuse(http.StatusServiceUnavailable, codeBusy, busySessions)
	}
	x := &exchange{answer: m.answer()}
	x.answer.kept = true
	m.pass(x, m.r.Context())
	id := x.answer.header.Get(mcpserver.HeaderKeySessionID)
	var result struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	switch {
	case id == "":
		table.places.give(m.principal)
	case json.Unmarshal(x.answer.body, &result) == nil && result.Result.ProtocolVersion != "":
		table.bind(id, m.principal, result.Result.ProtocolVersion)
	default:
		delete(x.answer.header, mcpserver.HeaderKeySessionID)
		table.places.give(m.principal)
		m.e.forget(id)
	}
	x.answer.finish(m.frame.id, m.lost)
	return nil
}

// lost logs that mcp-go could not write an answer, and returns the error for the client.
func (m posted) lost() error {
	return m.e.server.config.Host.Fault(m.r.Context(), errors.New(noAnswerWritten(printable.Name(m.frame.method))))
}

// inSession carries out a message of an earlier MCP version, in a session of its requester.
func (m posted) inSession() *refusal {
	version, id := m.r.Header.Get(mcp.HeaderProtocolVersion), m.r.Header.Get(mcp.HeaderSessionID)
	switch {
	case version != "" && !mcp.IsValidProtocolVersion(version):
		return m.refuse(http.StatusBadRequest, codeRequest,
			versionsSpoken(strings.Join(mcp.ValidProtocolVersions, ", ")))
	case id == "" && m.saysModern():
		return m.carryOut("", func() {}) // mcp-go answers which header is missing
	case id == "":
		return m.refuse(http.StatusBadRequest, codeRequest, sessionMissing)
	}
	s, repeated := m.e.sessions.enter(id, m.principal, m.frame.id)
	switch {
	case repeated:
		return refuseFrame(http.StatusBadRequest, &frameFault{codeRequest, "null", idInUse})
	case s == nil:
		return m.refuse(http.StatusNotFound, codeRequest, sessionUnknown)
	}
	defer m.e.sessions.leave(s)
	defer m.e.sessions.free(s, m.frame.id)
	switch {
	case m.frame.method == "", // an answer, but this server asks nothing
		m.frame.method == methodCancel && !m.e.sessions.knows(s, m.frame.about):
		m.w.WriteHeader(http.StatusAccepted)
		return nil
	}
	return m.carryOut(s.era, func() { m.e.sessions.free(s, m.frame.id) })
}

// saysModern reports whether the body says that it is of MCP 2026-07-28. It reads the body as mcp-go does.
func (m posted) saysModern() bool {
	var message struct {
		Params struct {
			Meta *mcp.Meta `json:"_meta"`
		} `json:"params"`
	}
	return json.Unmarshal(m.body, &message) == nil && mcp.IsModernProtocol(message.Params.Meta.ProtocolVersion())
}

// carryOut makes mcp-go answer a message. It calls over before the client can read the answer. A call needs a slot.
func (m posted) carryOut(era string, over func()) *refusal {
	x := &exchange{answer: m.answer(), era: era}
	x.answer.over = over
	if m.frame.id != "" {
		if m.e.traffic.stopping() {
			return m.stopping()
		}
		if m.frame.method == methodCall {
			slots := &m.e.server.slots
			if !slots.take() {
				return refuseFrame(http.StatusServiceUnavailable, slots.busy(m.frame.id))
			}
			x.answer.over = func() { over(); slots.give() }
		}
	}
	defer x.answer.release() // if mcp-go panics
	ctx := m.r.Context()
	if m.frame.method == methodCall {
		x.gone, ctx = ctx, context.WithoutCancel(ctx) // mcp-go writes no answer after its context has ended
	}
	m.pass(x, ctx)
	x.answer.finish(m.frame.id, m.lost)
	return nil
}

// listen opens a stream of notifications. The stream ends when the client goes or the server stops.
func (m posted) listen() *refusal {
	e := m.e
	switch {
	case !accepts(m.r.Header["Accept"], "text", "event-stream"):
		return m.refuse(http.StatusNotAcceptable, codeRequest, wantEventStream)
	case len(m.body) > maxListenBody:
		return m.refuse(http.StatusBadRequest, codeParams, subscriptionTooLong)
	case e.traffic.stopping():
		return m.stopping()
	}
	if ok, _ := e.streams.take(m.principal); !ok {
		return m.refuse(http.StatusServiceUnavailable, codeBusy, busyStreams)
	}
	defer e.streams.give(m.principal)
	ctx, cancel := context.WithCancel(m.r.Context())
	defer cancel()
	defer context.AfterFunc(e.ending, cancel)()
	x := &exchange{answer: m.answer()}
	m.pass(x, ctx)
	x.answer.finish("", nil)
	return nil
}

func (m posted) stopping() *refusal {
	return m.refuse(http.StatusServiceUnavailable, codeBusy, busyStopping)
}

func (m posted) answer() *answer {
	return newAnswer(m.w, m.e.limits, accepts(m.r.Header["Accept"], "text", "event-stream"))
}

// pass gives the message to mcp-go, which writes its answer to x.answer.
func (m posted) pass(x *exchange, ctx context.Context) {
	if m.e.own == nil {
		ctx = WithPrincipal(ctx, m.principal)
	}
	body := m.body
	if m.frame.method == methodCall {
		body = tamed(body)
	}
	m.e.mcp.Handle(x.answer, &mcpserver.HTTPRequest{
		Method: http.MethodPost, URL: m.r.URL, Header: m.r.Header, Body: body, Context: context.WithValue(ctx, exchangeKey{}, x),
	})
}

// listen opens the stream of a session (GET). It ends with the session, when the client goes, or when the server stops.
func (e *endpoint) listen(w http.ResponseWriter, r *http.Request, principal string) *refusal {
	if refused := sessionRequest(r); refused != nil {
		return refused
	}
	if !accepts(r.Header["Accept"], "text", "event-stream") {
		return refuse(http.StatusNotAcceptable, wantEventStream)
	}
	s, _ := e.sessions.enter(r.Header.Get(mcp.HeaderSessionID), principal, "")
	if s == nil {
		return refuse(http.StatusNotFound, sessionUnknown)
	}
	defer e.sessions.leave(s)
	if e.traffic.stopping() {
		return &refusal{status: http.StatusServiceUnavailable, code: codeBusy, message: busyStoppingOnly}
	}
	if ok, _ := e.streams.take(principal); !ok {
		return &refusal{status: http.StatusServiceUnavailable, code: codeBusy, message: busyStreams}
	}
	defer e.streams.give(principal)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(e.ending, cancel)()
	over := e.sessions.over(s)
	go func() {
		select {
		case <-over:
			cancel()
		case <-ctx.Done():
		}
	}()
	x := newAnswer(w, e.limits, true)
	e.mcp.Handle(x, &mcpserver.HTTPRequest{Method: http.MethodGet, URL: r.URL, Header: r.Header, Context: ctx})
	x.finish("", nil)
	return nil
}

// endSession ends a session (DELETE).
func (e *endpoint) endSession(w http.ResponseWriter, r *http.Request, principal string) *refusal {
	if refused := sessionRequest(r); refused != nil {
		return refused
	}
	if !e.sessions.end(r.Header.Get(mcp.HeaderSessionID), principal) {
		return refuse(http.StatusNotFound, noSuchSession)
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// sessionRequest checks a GET or DELETE, which are about a session.
func sessionRequest(r *http.Request) *refusal {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	switch {
	case r.ContentLength != 0:
		refused := refuse(http.StatusBadRequest, noBody, r.Method)
		refused.close = true
		return refused
	case version != "" && !slices.Contains(mcp.ValidProtocolVersions, version):
		return refuse(http.StatusBadRequest, unsupportedVersion)
	case r.Header.Get(mcp.HeaderSessionID) == "":
		return refuse(http.StatusBadRequest, sessionIDMissing)
	}
	return nil
}
