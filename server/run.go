package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/progress"
	"patterngate/server/sentence"
	"patterngate/server/transport"
)

// internalFault is a fault of Patterngate outside a run. The client learns only its id.
type internalFault struct{ id string }

func (f internalFault) Error() string { return "internal fault " + f.id }

// handle answers one tools/call. An error is a protocol error (-32603) with the error's own text.
func (t *tool) handle(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, t.server.fault(ctx, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	c, problems := t.take(req.Params.RawArguments, t.server.principalOf(ctx))
	if len(problems) > 0 {
		return t.refuse(ctx, c, problems)
	}
	if ctx.Err() != nil {
		return nil, transport.ErrCanceled
	}
	if t.dry(c) {
		return t.rehearse(ctx, c)
	}
	if c.Run != nil && (c.Run.State != patterns.Parked || c.Empty()) {
		return t.look(ctx, c)
	}
	if t.Spec.Kind == gateway.Planning {
		if answer, err := t.checkPlan(ctx, &c); answer != nil || err != nil {
			return answer, err
		}
	}
	return t.run(ctx, c, t.server.progressOf(ctx, req.Params.Meta))
}

// refuse answers a request that does not fit. Nothing ran.
func (t *tool) refuse(ctx context.Context, c arguments.Call, problems []document.Problem) (*mcp.CallToolResult, error) {
	e := outcome.Refused(c, problems)
	t.server.log.LogAttrs(ctx, slog.LevelDebug, "request refused",
		slog.String("tool", c.Tool), slog.String("stop_reason", sentence.Reason(e.StopReason)))
	result, err := t.server.show(ctx, e)
	if err != nil {
		return nil, t.server.fault(ctx, err)
	}
	result.IsError = true
	return result, nil
}

// run starts or continues a run and presents it. It returns when the run ends or waits, or when the call has waited
// long enough.
func (t *tool) run(ctx context.Context, c arguments.Call, told *progress.Progress) (*mcp.CallToolResult, error) {
	s, who := t.server, peerOf(ctx)
	ended, err := t.carry(ctx, c, told, who)
	if err != nil && t.Spec.Kind == gateway.Planning && goneOn(c, err) { // the plan names its run now
		c.Run = nil
		return t.run(ctx, c, told)
	}
	if err != nil && ended.RunID == "" { // no run began or continued
		told.End("")
		return t.notBegun(ctx, c, err)
	}
	e, result, err := t.conclude(ctx, c, ended, err)
	if err != nil {
		told.End("")
		return nil, s.fault(ctx, err)
	}
	switch {
	case ended.Joined || ended.Running != nil: // another call logs it
	case ended.Waiting != nil:
		s.logWaiting(ctx, ended.RunID, ended.Waiting)
	default:
		s.logRun(ctx, c.Tool, who, e, ended)
	}
	told.End(progress.LastWords(e, ended))
	s.delivered(ctx, e)
	result.IsError = e.Status == envelope.StatusStopped && e.Phase == patterns.PhaseRequest
	return result, nil
}

// notBegun answers a call that started and continued nothing.
func (t *tool) notBegun(ctx context.Context, c arguments.Call, cause error) (*mcp.CallToolResult, error) {
	s := t.server
	switch {
	case c.Run != nil && (errors.Is(cause, patterns.ErrNoRun) || errors.Is(cause, patterns.ErrNotTaken)): // another call was faster
		return t.lookAgain(ctx, c)
	case errors.Is(cause, patterns.ErrReused):
		r := arguments.Request{Call: c}
		r.Add(arguments.Reused, arguments.KeyName, c.Key, wantOwnKey)
		return t.refuse(ctx, c, r.Of(arguments.Reused))
	case errors.Is(cause, patterns.ErrJournal):
		s.logFault(ctx, cause)
		return s.show(ctx, unrecorded(t, c))
	}
	return nil, s.fault(ctx, cause)
}

// delivered notes that a caller received the result of a run, unless the caller has disconnected. A caller that
// cancelled the run also counts: it knows the outcome, and another call means another run.
func (s *Server) delivered(ctx context.Context, e envelope.Envelope) {
	over := e.RunID != "" && (e.Status == envelope.StatusOK || e.Status == envelope.StatusStopped)
	if over && (ctx.Err() == nil || e.StopReason == "cancelled") {
		s.config.Engine.Delivered(s.principalOf(ctx), e.RunID)
	}
}

// carry lets the engine start the run or continue it.
func (t *tool) carry(ctx context.Context, c arguments.Call, told *progress.Progress, who peer) (patterns.Ended, error) {
	s := t.server
	var tell func(patterns.Progress)
	if told != nil {
		tell = told.Tell
	}
	if c.Run != nil {
		more := c.Continuation(s.principalOf(ctx))
		more.Progress, more.Wait, more.Taken = tell, s.config.waits().Of(c), func() { s.logResumed(ctx, c.Run.RunID, "caller") }
		return s.config.Engine.Continue(ctx, more)
	}
	job := t.asked(ctx, c, who)
	job.Progress, job.Wait = tell, s.config.waits().Of(c)
	return s.config.Engine.Start(ctx, job)
}

// asked returns the job of a call that begins a run, with its requester, client, configuration and policy.
func (t *tool) asked(ctx context.Context, c arguments.Call, who peer) patterns.Job {
	s := t.server
	job := t.job(c, t.answers, t.Configured)
	job.Principal, job.Client, job.ClientVersion, job.Era = s.principalOf(ctx), who.name, who.version, who.era
	job.Config, job.Policy, job.Catalog = s.config.ConfigHash, t.policy, s.config.CatalogHash
	return job
}

// lookAgain answers a continuation that came second with the current state of the run.
func (t *tool) lookAgain(ctx context.Context, c arguments.Call) (*mcp.CallToolResult, error) {
	r := arguments.Request{Call: c}
	if r.FindRun(t.Reader, t.server.runsOf(t.server.principalOf(ctx))); len(r.Of(arguments.NotFound)) > 0 {
		return t.refuse(ctx, c, r.Of(arguments.NotFound))
	}
	return t.look(ctx, r.Call)
}

// look answers a continuation when the run's state accepts nothing of it.
func (t *tool) look(ctx context.Context, c arguments.Call) (*mcp.CallToolResult, error) {
	looking := c
	looking.Intents = nil // they are not part of the run
	e := t.server.shownBy(*c.Run).stateOf(looking, *c.Run)
	e.Problems = append([]document.Problem{outcome.NotTaken(c)}, e.Problems...)
	return t.server.show(ctx, e)
}

// envelope presents a run that ended or waits.
func (t *tool) envelope(c arguments.Call, ended patterns.Ended) envelope.Envelope {
	if ended.Waiting != nil {
		c.Model = t.modelOf(c, ended.Waiting.SoFar)
		return outcome.Waiting(c, ended, t.server.inbox())
	}
	c = t.Whole(c, ended.Result)
	c.Model = t.modelOf(c, ended.Result)
	if ended.Result.StopReason == outcome.KillSwitch {
		c.Off = t.server.switchFor(c)
	}
	return outcome.Ended(c, ended)
}

// modelOf returns the name for a result's usage: the models, or the caller if no model was needed.
func (t *tool) modelOf(c arguments.Call, r patterns.Result) string {
	if !r.Asked && (c.Proposes || len(r.Proposed) > 0 || c.Run != nil && t.NewCall(c.Run.Arguments).Proposes) {
		return cmp.Or(r.Answerers(""), "caller")
	}
	return r.Answerers(t.model)
}

// conclude presents a run that ended or waits, or that an internal fault ended. A run that cannot be presented counts
// as such a fault.
func (t *tool) conclude(ctx context.Context, c arguments.Call, ended patterns.Ended, cause error) (envelope.Envelope, *mcp.CallToolResult, error) {
	s := t.server
	if cause == nil {
		e := t.came(ctx, c, ended)
		result, err := s.show(ctx, e)
		if err == nil {
			return e, result, nil
		}
		cause = err
	}
	id := runFault(ended.RunID)
	s.logFaultAs(ctx, id, cause)
	e := outcome.Fault(c, ended, id)
	result, err := s.show(ctx, e)
	return e, result, err
}

// came presents the run of a call. A run that continues, or that an earlier call began, is shown in its current state.
// A run that was not waited for is shown as running, even if it ends at this moment. Its result is for the next call
// that asks.
func (t *tool) came(ctx context.Context, c arguments.Call, ended patterns.Ended) envelope.Envelope {
	c.Principal = t.server.principalOf(ctx)
	if ended.Running == nil && !ended.Joined {
		return t.envelope(c, ended)
	}
	run, known := t.server.config.Engine.Run(c.Principal, ended.RunID)
	var e envelope.Envelope
	switch {
	case known && (ended.Running == nil || run.State != patterns.Over):
		e = t.server.stateOf(run)
	case ended.Running != nil:
		e = outcome.Running(c, patterns.Snapshot{RunID: ended.RunID, Began: ended.Began, Current: *ended.Running})
	default:
		e = t.envelope(c, ended)
	}
	e.Joined = ended.Joined
	return e
}

// show presents an envelope in both channels, or only as far as the client's model reads them.
func (s *Server) show(ctx context.Context, e envelope.Envelope) (*mcp.CallToolResult, error) {
	return s.showIn(ctx, e, s.config.ResultBytes)
}

// showIn does the same as show with its own bound for each channel, in bytes.
func (s *Server) showIn(ctx context.Context, e envelope.Envelope, most int) (*mcp.CallToolResult, error) {
	space, _ := s.scratch.Get().(*envelope.Scratch)
	if space == nil {
		space = envelope.NewScratch()
	}
	e.Next = s.newest().onlyOffered(e.Next)
	structured, text, err := e.PresentIn(space, most)
	if space.Ordinary() {
		s.scratch.Put(space)
	}
	if err != nil {
		return nil, fmt.Errorf("presenting: %w", err)
	}
	if e.Phase != patterns.PhaseRequest && s.readsStructured(ctx) {
		text = envelope.FirstLines(text)
	}
	return &mcp.CallToolResult{
		RawStructuredContent: structured, Content: []mcp.Content{mcp.NewTextContent(text)},
	}, nil
}

// fault logs a cause and returns the error that the client may see.
func (s *Server) fault(ctx context.Context, cause error) error {
	return internalFault{s.logFault(ctx, cause)}
}

// progressOf returns the progress that a request asked for, or nil if it asked for none.
func (s *Server) progressOf(ctx context.Context, meta *mcp.Meta) *progress.Progress {
	return progress.New(meta, func(n progress.Note) { s.notify(ctx, n) })
}

// notify sends a progress notification, in order with the answer.
func (s *Server) notify(ctx context.Context, n progress.Note) {
	s.transports.Notify(ctx, "notifications/progress", n)
}
