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

// listeners holds the open subscriptions/listen requests that ask for notifications about runs (protocol 2026-07-28,
// where they replace resources/subscribe). The zero value has no requests. It is safe for concurrent use.
type listeners struct {
	mu  sync.Mutex
	all map[*listener]struct{}
}

// listener is one such request.
type listener struct {
	session   mcpserver.ClientSession
	id        any // of the request; its notifications carry it
	principal string
	runs      []string // URIs of the principal's runs
}

// listenToRuns registers a subscription to its principal's runs until the request ends. mcp-go acknowledges everything
// that was requested.
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

// tell notifies the listeners of a run that it has changed. It never waits.
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
		default: // the client is behind; a client that waits for a run also reads it
		}
	}
}
