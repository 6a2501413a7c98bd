package server

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxCompletions is how many values a completion offers (MCP, "Completion").
const maxCompletions = 100

// completer offers values while a person fills in a prompt or a resource's address.
type completer struct{ server *Server }

// CompletePromptArgument offers the pattern's own values that begin as the argument does, whatever the case. An unknown
// prompt or argument has none, nor has a pattern that reaches nothing make-believe: the values are the demo's. Of an input that is
// one of some words they are these.
func (c completer) CompletePromptArgument(_ context.Context, name string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	for _, p := range c.server.newest().config.Patterns {
		if p.Spec.Name != name {
			continue
		}
		if words := enumOf(p.Spec, a.Name); len(words) > 0 { // of an input of the pattern's own
			return completion(words, a.Value), nil
		}
		if reachOf(p.Spec).demo {
			return completion(p.Completions[a.Name], a.Value), nil
		}
	}
	return completion(nil, a.Value), nil
}

// CompleteResourceArgument offers the principal's newest runs or plans.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri == plansTemplate && a.Name == "plan_id" {
		return completion(c.server.planIDs(c.server.principalOf(ctx)), a.Value), nil
	}
	if uri != runsTemplate || a.Name != "run_id" {
		return completion(nil, a.Value), nil
	}
	return completion(c.server.config.Engine.RunIDs(c.server.principalOf(ctx)), a.Value), nil
}

// completion is what begins as the text does, in the order given.
func completion(values []string, begun string) *mcp.Completion {
	found := []string{}
	for _, v := range values {
		if len(v) >= len(begun) && strings.EqualFold(v[:len(begun)], begun) {
			found = append(found, v)
		}
	}
	shown := found[:min(len(found), maxCompletions)]
	return &mcp.Completion{Values: shown, Total: len(found), HasMore: len(found) > len(shown)}
}
