package server

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/server/arguments"
)

// maxCompletions is the number of values that a completion offers at most (MCP, "Completion").
const maxCompletions = 100

// completer offers values while a person fills in a prompt or the address of a resource.
type completer struct{ server *Server }

// CompletePromptArgument offers the values that begin with the argument's text, in any case. For an input that has an
// enum, the values are its words. Otherwise they are those that come with the pattern. An
// unknown prompt or argument has no values.
func (c completer) CompletePromptArgument(_ context.Context, name string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	for _, p := range c.server.newest().config.Patterns {
		if p.Spec.Name != name {
			continue
		}
		if words := arguments.EnumTexts(p.Spec, a.Name); len(words) > 0 { // an input that the pattern declares
			return completion(words, a.Value), nil
		}
		return completion(p.Completions[a.Name], a.Value), nil
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

// completion returns the values that begin with the text, ignoring case, in the given order.
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
