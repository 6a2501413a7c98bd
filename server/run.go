package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/gateway"
	"patterngate/patterns"
)

// errCanceled is the answer to a call whose client took it back.
var errCanceled = errors.New("the call was cancelled")

// internalFault is a fault of ours outside a run. Its id is all that a client learns.
type internalFault struct{ id string }

func (f internalFault) Error() string { return "internal fault " + f.id }

// handle answers one tools/call. An error is a protocol error (-32603) with the error's own text.
func (t *tool) handle(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, t.server.fault(ctx, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	c, problems := t.take(req.Params.RawArguments)
	if len(problems) > 0 {
		return t.refuse(ctx, c, problems)
	}
	if ctx.Err() != nil {
		return nil, errCanceled
	}
	return t.run(ctx, c, newProgress(ctx, t.server, req.Params.Meta))
}

// refuse answers a request that does not fit. Nothing ran.
func (t *tool) refuse(ctx context.Context, c call, problems []gateway.Problem) (*mcp.CallToolResult, error) {
	e := refusedEnvelope(c, problems)
	t.server.log.LogAttrs(ctx, slog.LevelDebug, "request refused",
		slog.String("tool", c.Tool), slog.String("stop_reason", shownReason(e.StopReason)))
	result, err := t.server.show(e)
	if err != nil {
		return nil, t.server.fault(ctx, err)
	}
	result.IsError = true
	return result, nil
}

// run carries out a run to its end and presents it.
func (t *tool) run(ctx context.Context, c call, told *progress) (*mcp.CallToolResult, error) {
	s, who := t.server, peerOf(ctx)
	model := &witness{Model: s.config.Model}
	job := patterns.Job{
		Spec: t.spec, Task: c.task(s.config.Configured), Model: model, Client: who.client, Principal: s.principalOf(ctx),
	}
	if told != nil {
		job.Progress = told.tell
	}
	ended, err := s.config.Engine.Start(ctx, job)
	c.Model = model.name(c.ByCaller)
	switch {
	case errors.Is(err, patterns.ErrCanceled):
		told.end("")
		s.logRun(ctx, c, who, Envelope{Status: statusStopped, StopReason: "cancelled", Phase: ended.Phase}, ended)
		return nil, errCanceled
	case err != nil && ended.RunID == "": // no run was begun
		told.end("")
		return nil, s.fault(ctx, err)
	}
	e, result, err := t.conclude(ctx, c, ended, err)
	if err != nil {
		told.end("")
		return nil, s.fault(ctx, err)
	}
	s.logRun(ctx, c, who, e, ended)
	told.end(lastWords(e, ended))
	return result, nil
}

// conclude presents a run that ended, or that a fault of ours ended. A run that cannot be presented is such a fault.
func (t *tool) conclude(ctx context.Context, c call, ended patterns.Ended, cause error) (Envelope, *mcp.CallToolResult, error) {
	s := t.server
	if cause == nil {
		e := endedEnvelope(c, ended)
		result, err := s.show(e)
		if err == nil {
			return e, result, nil
		}
		cause = err
	}
	e := faultEnvelope(c, ended, s.logFault(ctx, cause))
	result, err := s.show(e)
	return e, result, err
}

// show presents an envelope in both channels.
func (s *Server) show(e Envelope) (*mcp.CallToolResult, error) {
	structured, text, err := e.present(s.config.ResultBytes)
	if err != nil {
		return nil, fmt.Errorf("presenting: %w", err)
	}
	return &mcp.CallToolResult{
		RawStructuredContent: structured, Content: []mcp.Content{mcp.NewTextContent(text)},
	}, nil
}

// fault notes a cause and returns what the client may know of it.
func (s *Server) fault(ctx context.Context, cause error) error {
	return internalFault{s.logFault(ctx, cause)}
}

// witness is a model that remembers whether it was asked.
type witness struct {
	patterns.Model
	asked atomic.Bool
}

// Ask implements [patterns.Model].
func (w *witness) Ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	w.asked.Store(true)
	return w.Model.Ask(ctx, q)
}

// name is who stands in a result's usage: the model, or the caller who needed none.
func (w *witness) name(byCaller bool) string {
	if byCaller && !w.asked.Load() {
		return "caller"
	}
	return w.Model.Name()
}
