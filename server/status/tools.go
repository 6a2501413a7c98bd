package status

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/progress"
	"patterngate/server/sentence"
	"patterngate/server/transport"
)

// maxReason is the greatest length of the reason for a cancellation, in bytes.
const maxReason = 500

// Host is the server that offers the tools. Its methods may be called concurrently.
type Host interface {
	// Principal returns the requester of a call.
	Principal(context.Context) string
	// ReadsStructured reports whether the client's model reads only structured content.
	ReadsStructured(context.Context) bool
	// SwitchedOff says in one sentence what is switched off now, or returns "" if nothing is.
	SwitchedOff(context.Context) string
	// Inbox returns the address of the page on which people decide, or "" if there is none.
	Inbox() outcome.Page
	// StateOf presents the current state of a run.
	StateOf(patterns.Snapshot) envelope.Envelope
	// Show presents an envelope in both channels.
	Show(context.Context, envelope.Envelope) (*mcp.CallToolResult, error)
	// ShowIn does the same as Show with its own bound for each channel, in bytes.
	ShowIn(ctx context.Context, e envelope.Envelope, most int) (*mcp.CallToolResult, error)
	// Delivered notes that a caller received the result of a run.
	Delivered(context.Context, envelope.Envelope)
	// Progress returns the progress that a request asked for, or nil if it asked for none.
	Progress(context.Context, *mcp.Meta) *progress.Progress
	// Fault logs a cause and returns the error that the client may see.
	Fault(ctx context.Context, cause error) error
}

// Config says what the tools work with.
type Config struct {
	Host        Host
	Engine      patterns.Engine
	Waits       arguments.Waits
	ResultBytes int   // the greatest size of each channel of a result
	Seen        *Seen // what run_wait showed last; all configurations of a server share it
	Log         *slog.Logger
}

// toolSet answers the calls of the tools.
type toolSet struct{ Config }

// Tool is one of these tools in the form that is served. It does not change after it is made.
type Tool struct {
	tools    *toolSet
	takes    []arguments.Row
	shows    members
	declared mcp.Tool
	// answer handles a request without problems. An error is an internal fault.
	answer func(ctx context.Context, r *arguments.Request, meta *mcp.Meta) (*mcp.CallToolResult, error)
}

// New makes the tools about runs, in the order in which they are listed.
func New(c Config) ([]*Tool, error) {
	s := &toolSet{c}
	id := arguments.Row{Name: "run_id", Most: arguments.MaxInput}
	needed := id
	needed.Required = true
	tools := []*Tool{
		{answer: s.answerStatus, takes: []arguments.Row{id, {Name: "step", Shape: arguments.Step, Most: maxStep}}},
		{answer: s.answerWait, takes: []arguments.Row{needed, s.Waits.Row()}},
		{answer: s.answerCancel, takes: []arguments.Row{needed, {Name: "reason", Most: maxReason}}},
		{answer: s.answerList, takes: listArguments()},
	}
	for i, d := range runDeclarations() {
		input, err := d.input()
		if err != nil {
			return nil, fmt.Errorf("input schema of %s: %w", d.name, err)
		}
		t := tools[i]
		t.tools = s
		if t.shows = runMembers(); d.name == arguments.ListTool {
			t.shows = listMembers()
		}
		t.declared = mcp.NewToolWithRawSchema(d.name, d.description, d.complete(input, s.Waits))
		t.declared.Title, t.declared.RawOutputSchema = d.title, envelope.BriefSchema()
		yes, no := true, false
		reads := &yes
		if d.name == arguments.CancelTool {
			reads = &no
		}
		t.declared.Annotations = mcp.ToolAnnotation{
			ReadOnlyHint: reads, DestructiveHint: opposite(reads), IdempotentHint: &yes, OpenWorldHint: &no,
		}
	}
	return tools, nil
}

func opposite(b *bool) *bool {
	not := !*b
	return &not
}

// Name returns the name of the tool.
func (t *Tool) Name() string { return t.declared.Name }

// Declared returns the declaration of the tool.
func (t *Tool) Declared() mcp.Tool { return t.declared }

// Handle answers one tools/call. An error is a protocol error (-32603) with the error's own text.
func (t *Tool) Handle(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
	s := t.tools
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, s.Host.Fault(ctx, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	r, problems := arguments.ReadTable(t.Name(), t.takes, req.Params.RawArguments)
	if len(problems) > 0 {
		return s.refuseAbout(ctx, r.Call, problems)
	}
	if ctx.Err() != nil {
		return nil, transport.ErrCanceled
	}
	if result, err = t.answer(ctx, r, req.Params.Meta); err != nil {
		return nil, s.Host.Fault(ctx, err)
	}
	return result, nil
}

// refuseAbout answers a request that does not fit. Nothing was done.
func (s *toolSet) refuseAbout(ctx context.Context, c arguments.Call, problems []document.Problem) (*mcp.CallToolResult, error) {
	e := outcome.Refused(c, problems)
	e.Trace, e.History = nil, nil // it belongs to no pattern
	e.Summary = requestRefused(sentence.Count(arguments.CountProblems(problems), "problem"))
	s.Log.LogAttrs(ctx, slog.LevelDebug, "request refused",
		slog.String("tool", c.Tool), slog.String("stop_reason", sentence.Reason(e.StopReason)))
	result, err := s.Host.Show(ctx, e)
	if err != nil {
		return nil, s.Host.Fault(ctx, err)
	}
	result.IsError = true
	return result, nil
}

// refuseRun answers a request about a run that the principal does not have.
func (s *toolSet) refuseRun(ctx context.Context, r *arguments.Request) (*mcp.CallToolResult, error) {
	r.Add(arguments.NotFound, "run_id", r.Arguments["run_id"], wantOwnRun)
	return s.refuseAbout(ctx, r.Call, r.Of(arguments.NotFound))
}

// about presents a run, with the members that only the tools about runs show.
func (s *toolSet) about(r patterns.Snapshot) envelope.Envelope {
	e := s.Host.StateOf(r)
	e.Summary = sentence.WithLast(e.Summary, s.Host.SwitchedOff(transport.WithPrincipal(context.Background(), r.Principal)))
	began := r.Began
	if began.IsZero() {
		began = r.Ended.Began
	}
	e.Pattern, e.CreatedAt = r.Pattern, sentence.TimeIfSet(began)
	if r.State == patterns.Over {
		e.EndedAt = sentence.TimeIfSet(r.Ended.Ended)
	}
	if r.Head.Events > 0 {
		e.Record = &envelope.Record{Events: r.Head.Events, Head: fmt.Sprintf("sha256:%x", r.Head.Hash)}
		if r.Parent != nil {
			e.Record.Parent = r.Parent.RunID
		}
	}
	return e
}

// answerStatus answers run_status.
func (s *toolSet) answerStatus(ctx context.Context, r *arguments.Request, _ *mcp.Meta) (*mcp.CallToolResult, error) {
	principal := s.Host.Principal(ctx)
	id, named := r.Arguments["run_id"].(string)
	if !named {
		var any bool
		if id, any = s.Engine.Newest(principal); !any {
			return s.Host.Show(ctx, noRun(s.Host.SwitchedOff(ctx)))
		}
	}
	run, ok := s.Engine.Run(principal, id)
	switch {
	case !ok && !named: // it was removed at this moment
		return s.Host.Show(ctx, noRun(s.Host.SwitchedOff(ctx)))
	case !ok:
		return s.refuseRun(ctx, r)
	}
	e := s.about(run)
	if r.Step != "" {
		return s.showStep(ctx, r, run, e)
	}
	result, err := s.Host.Show(ctx, e)
	if err == nil {
		s.Host.Delivered(ctx, e)
	}
	return result, err
}

// noRun returns the answer when the principal has no run yet.
func noRun(off string) envelope.Envelope {
	return envelope.Done(arguments.StatusTool, sentence.WithLast(noRunYet, off))
}

// answerCancel answers run_cancel.
func (s *toolSet) answerCancel(ctx context.Context, r *arguments.Request, _ *mcp.Meta) (*mcp.CallToolResult, error) {
	principal := s.Host.Principal(ctx)
	id, _ := r.Arguments["run_id"].(string)
	reason, _ := r.Arguments["reason"].(string)
	waiting, done := context.WithTimeout(ctx, cancelWait)
	defer done()
	run, err := s.Engine.Cancel(waiting, principal, id, patterns.Note{By: principal, Channel: "mcp", Reason: reason})
	return s.showCanceled(ctx, r, run, err)
}
