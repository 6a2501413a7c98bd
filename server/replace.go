package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Replace serves another configuration from now on: tools, prompts, the catalog, instructions and limits, all at once
// (spec/config.md section 8, Reload). Calls that have started end as they began, and runs continue under the
// configuration that they began with. Clients that listen get a notification that the lists have changed. New
// connections get the new instructions. On an error nothing has changed.
//
// Engine, Model, Keys, Inbox, Switches and Results may be nil: they then keep their values. Engine cannot be another
// one. Log, Version and State always keep their values.
func (s *Server) Replace(c Config) error {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	before := s.newest()
	c = c.after(before.config)
	if c.Engine != before.config.Engine {
		return fmt.Errorf("server: %w", errOtherEngine)
	}
	next := &Server{shared: s.shared, config: c.completed()}
	if err := errors.Join(c.check(), next.declare()); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	next.prompts = next.declaredPrompts()
	// A client that is notified of a change requests the lists at once, so the new ones must be in force before. The
	// lists of tools belong to mcp-go, which replaces them in one step.
	s.current.Store(next)
	s.transports.Limit(next.config.runs())
	s.mcp.SetTools(next.served()...)
	s.replacePrompts(before, next)
	if plans := len(next.planStatus) > 0; plans != (len(before.planStatus) > 0) {
		s.mcp.SendNotificationToAllClients(mcp.MethodNotificationResourcesListChanged, nil)
	}
	return nil
}

// after returns the configuration with values from the one before: those that never change and those that are nil.
func (c Config) after(before Config) Config {
	c.Log, c.Version, c.State = before.Log, before.Version, before.State
	if c.Engine == nil {
		c.Engine = before.Engine
	}
	if c.Model == nil {
		c.Model = before.Model
	}
	if c.Keys == nil {
		c.Keys = before.Keys
	}
	if c.Inbox == nil {
		c.Inbox = before.Inbox
	}
	if c.Switches == nil {
		c.Switches = before.Switches
	}
	if c.Results == nil {
		c.Results = before.Results
	}
	return c
}

// replacePrompts replaces the prompts. It adds the new ones before it deletes the old ones, and a list shows only the
// newest, see [Server.listedPrompts].
func (s *Server) replacePrompts(before, next *Server) {
	if offered := next.offeredPrompts(); len(offered) > 0 {
		s.mcp.AddPrompts(offered...)
	}
	gone := maps.Clone(before.prompts)
	maps.DeleteFunc(gone, func(name string, _ *prompt) bool { return next.prompts[name] != nil })
	if len(gone) > 0 {
		s.mcp.DeletePrompts(slices.Sorted(maps.Keys(gone))...)
	}
}

// offeredPrompts returns the prompts with their handlers.
func (s *Server) offeredPrompts() []mcpserver.ServerPrompt {
	var list []mcpserver.ServerPrompt
	for _, name := range slices.Sorted(maps.Keys(s.prompts)) {
		p := s.prompts[name]
		list = append(list, mcpserver.ServerPrompt{Prompt: p.declared(), Handler: p.handle})
	}
	return list
}

// listedPrompts removes from a list the prompts that are no longer offered.
func (s *Server) listedPrompts(_ context.Context, _ any, _ *mcp.ListPromptsRequest, result *mcp.ListPromptsResult) {
	offered := s.newest().prompts
	result.Prompts = slices.DeleteFunc(slices.Clone(result.Prompts), func(p mcp.Prompt) bool { return offered[p.Name] == nil })
}

// instruct sets the instructions for a new connection from the current tools, because mcp-go knows only the first ones.
func (s *Server) instruct(_ context.Context, _ any, _ *mcp.InitializeRequest, result *mcp.InitializeResult) {
	result.Instructions = s.newest().instructions()
}

// instructModern does the same as instruct for the protocol era without a handshake.
func (s *Server) instructModern(_ context.Context, _ any, _ *mcp.DiscoverRequest, result *mcp.DiscoverResult) {
	result.Instructions = s.newest().instructions()
}

// inOrder lists the tools in the order in which they are served, because mcp-go sorts them by name.
func (s *Server) inOrder(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	place := map[string]int{}
	for i, t := range s.Tools() {
		place[t.Name] = i
	}
	slices.SortStableFunc(result.Tools, func(a, b mcp.Tool) int { return cmp.Compare(place[a.Name], place[b.Name]) })
	s.encodedOnce(ctx, result)
}
