package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/gateway"
	"patterngate/server/arguments"
	"patterngate/server/outcome"
	"patterngate/server/transport"
)

// A dry run predicts how the policy would judge the calls of an intent (spec/surface.md section 1, dry_run). It calls
// and records nothing. It begins no run and joins none. A dry run of planning is different: plan_decompose stores
// nothing, see plan_decompose.go of patterns.

// dry reports whether a call asks for a dry run of the pattern.
func (t *tool) dry(c arguments.Call) bool {
	return t.Spec.Kind != gateway.Planning && t.takesDry() && c.Arguments[arguments.DryRunName] == true
}

// takesDry reports whether dry_run is an argument of the call itself, and not an argument of the tool that it calls.
func (t *tool) takesDry() bool {
	for _, a := range t.Takes {
		if a.Name == arguments.DryRunName {
			return true
		}
	}
	return false
}

// rehearse answers a dry run.
func (t *tool) rehearse(ctx context.Context, c arguments.Call) (*mcp.CallToolResult, error) {
	s := t.server
	rehearsal, err := s.config.Engine.Rehearse(ctx, t.asked(ctx, c, peerOf(ctx)))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, transport.ErrCanceled
	case err != nil:
		return t.notBegun(ctx, c, err)
	}
	c.Model = t.modelOf(c, rehearsal.Result)
	result, err := s.show(ctx, outcome.Rehearsed(c, rehearsal))
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	return result, nil
}
