package server

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/patterns"
)

// listeners are the subscriptions/listen requests under way that want to hear of runs (2026-07-28, where they stand in
// for resources/subscribe). The zero listeners are nobody. They are safe for concurrent use.
type listeners struct {
	mu  sync.Mutex
	all map[*listener]struct{}
}

// listener is one such request.
type listener struct {
	session   mcpserver.ClientSession
	id        any // of the request; what is told bears it
	principal string
	runs      []string // URIs of the principal's runs
}

// listenToRuns notes a subscription's wish to hear of its principal's runs, until the request is over. mcp-go
// acknowledges all that was asked for.
func (s *Server) listenToRuns(ctx context.Context, id any, req *mcp.SubscriptionsListenRequest) {
	l := &listener{session: mcpserver.ClientSessionFromContext(ctx), id: id, principal: s.principalOf(ctx)}
	for _, uri := range req.Params.Notifications.ResourceSubscriptions {
		run, isRun := strings.CutPrefix(uri, runsURI)
		if _, ok := s.config.Engine.Run(l.principal, run); isRun && ok && len(l.runs) < maxSubscriptions {
			l.runs = append(l.runs, uri)
		}
	}
	if l.session == nil || len(l.runs) == 0 {
		return
	}
	s.listening.mu.Lock()
	defer s.listening.mu.Unlock()
	if s.listening.all == nil {
		s.listening.all = map[*listener]struct{}{}
	}
	s.listening.all[l] = struct{}{}
	context.AfterFunc(ctx, func() {
		s.listening.mu.Lock()
		defer s.listening.mu.Unlock()
		delete(s.listening.all, l)
	})
}

// tell tells those who listen to a run that it has changed. It never waits.
func (l *listeners) tell(r patterns.Snapshot, uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for one := range l.all {
		if one.principal != r.Principal || !slices.Contains(one.runs, uri) {
			continue
		}
		note := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
			Method: mcp.MethodNotificationResourceUpdated,
			Params: mcp.NotificationParams{
				Meta: map[string]any{mcp.MetaKeySubscriptionID: one.id}, AdditionalFields: map[string]any{"uri": uri},
			},
		}}
		select {
		case one.session.NotificationChannel() <- note:
		default: // the client is behind; whoever waits for a run also reads it
		}
	}
}
