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
)

// A run is a resource of its principal: patterngate://runs/{run_id} is its envelope as it stands, and below it /trace is
// its record as it is exported. Other principals' runs are not there, neither to read nor to hear of.
const (
	runsURI       = "patterngate://runs/"
	runsTemplate  = runsURI + "{run_id}"
	traceTail     = "/trace"
	traceTemplate = runsTemplate + traceTail
)

const ndjsonType = "application/x-ndjson"

// errNoRun is the answer where a run was forgotten in the very moment in which it was read.
var errNoRun = errors.New("the run is not known any more")

// addRuns offers the runs.
func (s *Server) addRuns() {
	t := mcp.NewResourceTemplate(runsTemplate, "run",
		mcp.WithTemplateDescription("One of your runs as it stands: what was done, what it waits for, what to do next."),
		mcp.WithTemplateMIMEType(jsonType))
	t.Title = "A run"
	s.mcp.AddResourceTemplate(t, func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		s := s.newest()
		e, ok := s.runEnvelope(s.principalOf(ctx), strings.TrimPrefix(req.Params.URI, runsURI))
		if !ok {
			return nil, errNoRun
		}
		structured, _, err := e.present(s.config.ResultBytes)
		if err != nil {
			return nil, s.fault(ctx, err)
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: jsonType, Text: string(structured)}}, nil
	})
	s.addTraces()
}

// addTraces offers the runs' records.
func (s *Server) addTraces() {
	t := mcp.NewResourceTemplate(traceTemplate, "trace",
		mcp.WithTemplateDescription("The record of one of your runs: a line for the run, then one an event, chained by their hashes."),
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

// keys are the approver keys; no private half is among them.
func (s *Server) keys() (gateway.Ring, error) {
	if s.config.Keys == nil {
		return gateway.Ring{}, nil
	}
	return s.config.Keys()
}

// runEnvelope is a principal's run as it stands.
func (s *Server) runEnvelope(principal, id string) (Envelope, bool) {
	r, ok := s.config.Engine.Run(principal, id)
	if !ok {
		return Envelope{}, false
	}
	return s.stateOf(r), true
}

// hideRuns moves a URI of a run that the principal does not have to where there is no template, so that mcp-go answers
// as it does for every resource that is not there.
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

// maxSubscriptions is how many runs one session may subscribe to; more are acknowledged and not heard of.
const maxSubscriptions = 100

// subscriptions are who wants to hear of which runs. The zero subscriptions are nobody's. They are safe for concurrent
// use.
type subscriptions struct {
	mu sync.Mutex
	by map[string]map[string]string // run URI and its principal's name, by session
}

// subscribe notes a session's wish to hear of one of its principal's runs. Of others there is nothing to hear, and a wish
// that is kept takes as much memory as its URI is long.
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

// forgetSubscriptions forgets a session that has ended.
func (s *Server) forgetSubscriptions(_ context.Context, session mcpserver.ClientSession) {
	s.subscribed.mu.Lock()
	defer s.subscribed.mu.Unlock()
	delete(s.subscribed.by, session.SessionID())
}

// updated tells the principal's subscribed sessions that a run has changed. A notification that finds no place is lost:
// whoever waits for a run also reads it.
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
