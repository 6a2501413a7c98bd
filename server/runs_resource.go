package server

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/envelope"
)

// A run is a resource of its principal. patterngate://runs/{run_id} is its current envelope, and /trace below it is its
// exported record. For other principals a run does not exist, and they get no notifications about it.
const (
	runsURI       = "patterngate://runs/"
	runsTemplate  = runsURI + "{run_id}"
	traceTail     = "/trace"
	traceTemplate = runsTemplate + traceTail
)

const ndjsonType = "application/x-ndjson"

// addRuns adds the resource templates for runs.
func (s *Server) addRuns() {
	t := mcp.NewResourceTemplate(runsTemplate, "run",
		mcp.WithTemplateDescription(runResourceAbout),
		mcp.WithTemplateMIMEType(jsonType))
	t.Title = runResource
	s.mcp.AddResourceTemplate(t, func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		s := s.newest()
		e, ok := s.runEnvelope(s.principalOf(ctx), strings.TrimPrefix(req.Params.URI, runsURI))
		if !ok {
			return nil, errNoRun
		}
		structured, _, err := e.Present(s.config.ResultBytes)
		if err != nil {
			return nil, s.fault(ctx, err)
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: jsonType, Text: string(structured)}}, nil
	})
	s.addTraces()
}

// addTraces adds the resource template for the records of runs.
func (s *Server) addTraces() {
	t := mcp.NewResourceTemplate(traceTemplate, "trace",
		mcp.WithTemplateDescription(traceAbout),
		mcp.WithTemplateMIMEType(ndjsonType))
	t.Title = "A run's record"
	s.mcp.AddResourceTemplate(t, func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		id, _ := strings.CutSuffix(strings.TrimPrefix(req.Params.URI, runsURI), traceTail)
		principal := s.principalOf(ctx)
		run, ok := s.config.Engine.Run(principal, id)
		if !ok {
			return nil, errNoRun
		}
		events, err := s.config.Engine.Events(principal, id)
		switch {
		case errors.Is(err, patterns.ErrNoRun):
			return nil, errNoRun
		case err != nil:
			return nil, s.fault(ctx, err)
		}
		ring, err := s.newest().keys()
		if err != nil {
			return nil, s.fault(ctx, err)
		}
		text := patterns.ExportRecord(id, run.Pattern, events, ring, time.Now())
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: ndjsonType, Text: string(text)}}, nil
	})
}

// keys returns the approver keys. They contain no private key.
func (s *Server) keys() (gateway.Ring, error) {
	if s.config.Keys == nil {
		return gateway.Ring{}, nil
	}
	return s.config.Keys()
}

// runEnvelope returns the current envelope of a principal's run.
func (s *Server) runEnvelope(principal, id string) (envelope.Envelope, bool) {
	r, ok := s.config.Engine.Run(principal, id)
	if !ok {
		return envelope.Envelope{}, false
	}
	return s.stateOf(r), true
}

// hideRuns moves the URI of a run that the principal does not have to a URI without a template. The answer of mcp-go is
// then the same as for every resource that does not exist.
func (s *Server) hideRuns(ctx context.Context, _ any, req *mcp.ReadResourceRequest) {
	name, isRun := strings.CutPrefix(req.Params.URI, runsURI)
	if !isRun {
		return
	}
	id, _ := strings.CutSuffix(name, traceTail)
	if _, ok := s.config.Engine.Run(s.principalOf(ctx), id); !ok {
		req.Params.URI = runsURI + "//" + id // no template has so many parts
	}
}

// maxSubscriptions is the number of runs that one session may subscribe to. Further ones are acknowledged, but cause no
// notifications.
const maxSubscriptions = 100

// subscriptions holds which sessions want notifications about which runs. The zero value has no sessions. It is safe
// for concurrent use.
type subscriptions struct {
	mu sync.Mutex
	by map[string]map[string]string // run URI to its principal's name, by session
}

// subscribe registers a session for notifications about one of its principal's runs. It ignores other runs. A
// subscription takes as much memory as its URI is long.
func (s *Server) subscribe(ctx context.Context, _ any, req *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
	session := mcpserver.ClientSessionFromContext(ctx)
	id, isRun := strings.CutPrefix(req.Params.URI, runsURI)
	if session == nil || session.SessionID() == "" || !isRun {
		return
	}
	if _, ok := s.config.Engine.Run(s.principalOf(ctx), id); !ok {
		return
	}
	s.subscribed.mu.Lock()
	defer s.subscribed.mu.Unlock()
	if s.subscribed.by == nil {
		s.subscribed.by = map[string]map[string]string{}
	}
	own := s.subscribed.by[session.SessionID()]
	if own == nil {
		own = map[string]string{}
		s.subscribed.by[session.SessionID()] = own
	}
	if len(own) < maxSubscriptions {
		own[req.Params.URI] = s.principalOf(ctx)
	}
}

func (s *Server) unsubscribe(ctx context.Context, _ any, req *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
	if session := mcpserver.ClientSessionFromContext(ctx); session != nil {
		s.subscribed.mu.Lock()
		defer s.subscribed.mu.Unlock()
		delete(s.subscribed.by[session.SessionID()], req.Params.URI)
	}
}

// forgetSubscriptions removes the subscriptions of a session that has ended.
func (s *Server) forgetSubscriptions(_ context.Context, session mcpserver.ClientSession) {
	s.subscribed.mu.Lock()
	defer s.subscribed.mu.Unlock()
	delete(s.subscribed.by, session.SessionID())
}

// updated notifies the principal's subscribed sessions that a run has changed. If a session's queue is full, the
// notification is lost. A client that waits for a run also reads it.
func (s *Server) updated(r patterns.Snapshot) {
	uri := runsURI + r.RunID
	s.listening.tell(r, uri)
	s.subscribed.mu.Lock()
	var sessions []string
	for session, own := range s.subscribed.by {
		if own[uri] == r.Principal && r.Principal != "" {
			sessions = append(sessions, session)
		}
	}
	s.subscribed.mu.Unlock()
	for _, session := range sessions {
		_ = s.mcp.SendNotificationToSpecificClient(session, mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
	}
}
