package status

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/sentence"
)

// planStatusMembers returns the members of results of the tool that shows plans.
func planStatusMembers() members {
	shows := envelope.Among("status stop_reason phase summary next waiting_for problems trace trace_omitted budget demo")
	return members{reflect.TypeFor[envelope.Envelope](), func(name string) bool {
		return shows(name) || envelope.HasPlanMember(patterns.StatusVerb, name)
	}}
}

// answerPlanStatus answers plan_status.
func (s *toolSet) answerPlanStatus(ctx context.Context, r *arguments.Request) (*mcp.CallToolResult, error) {
	id := r.Said("plan_id")
	if id == "" {
		return s.listPlans(ctx, r)
	}
	state, err := s.Engine.Plan(s.Host.Principal(ctx), r.Spec.Plans, id)
	switch {
	case errors.Is(err, patterns.ErrNoPlan):
		return s.Host.Show(ctx, noPlan(r))
	case errors.Is(err, patterns.ErrPlanCorrupt):
		return s.Host.Show(ctx, corruptPlan(r, id))
	case err != nil:
		return nil, err
	}
	e := s.planState(r.Spec.Name, state)
	e.Simulated = r.Spec.Simulated()
	if r.Arguments["include_trace"] == true {
		e.Trace = traceOf(state)
	}
	if r.Arguments["include_details"] == true {
		if !s.pageRows(ctx, r, &e, state) {
			return s.refuseAbout(ctx, r.Call, r.Of(arguments.OutOfLimit))
		}
	}
	return s.Host.Show(ctx, e)
}

// noPlan returns the answer about a plan that the principal does not have.
func noPlan(r *arguments.Request) envelope.Envelope {
	e := envelope.Envelope{
		Status: envelope.StatusStopped, StopReason: patterns.PlanNotFound, Phase: patterns.PhaseStatus, Summary: unknownPlan, Tool: r.Tool,
		Next: envelope.Next{Action: envelope.ActionCall, Tool: r.Tool, Arguments: map[string]any{}, Say: lookAmongPlans},
	}
	e.Resumable = new(false)
	return e
}

// corruptPlan returns the answer about a damaged plan, of which only the id is known.
func corruptPlan(r *arguments.Request, id string) envelope.Envelope {
	plan := printable.Name(id)
	e := envelope.Envelope{
		Status: envelope.StatusStopped, StopReason: patterns.PlanCorrupt, Phase: patterns.PhaseStatus, Summary: planDamaged(plan), Tool: r.Tool,
		Next: envelope.Next{Action: envelope.ActionTell, Say: planDamagedSay(plan)},
	}
	e.PlanID, e.Resumable = ijson.Cut(id, arguments.MaxInput), new(false)
	return e
}

// viewOf returns the current view of a plan, also while a run works on it.
func viewOf(state patterns.PlanState) patterns.PlanView {
	if r := state.Result; r != nil && r.Planned != nil && r.Planned.View != nil {
		return *r.Planned.View
	}
	return state.Plan.View(nil)
}

// storedOf returns the plan as the run that works on it has changed it so far, or else the stored plan.
func storedOf(state patterns.PlanState) patterns.StoredPlan {
	if r := state.Result; r != nil && r.Planned != nil && r.Planned.Stored != nil {
		return *r.Planned.Stored
	}
	return state.Plan
}

// planState presents the current state of a plan. tool is the name of the tool that the caller used.
func (s *toolSet) planState(tool string, state patterns.PlanState) envelope.Envelope {
	view := viewOf(state)
	e := envelope.Done(tool, sentence.Paragraph(outcome.PlanStands(view), holderWords(state)))
	e.ShowView(view)
	p := storedOf(state)
	metadata := p.Metadata
	if r := state.Result; r != nil {
		e.Budget = r.Budget
	}
	metadata.ReplanCount = view.ReplanCount
	e.Goal, e.Strategy, e.Metadata = p.Goal, p.Strategy, &metadata
	e.Revisions = envelope.Listed(p.Revisions)
	if p.Last != nil {
		last := *p.Last
		e.LastRun, e.LastStopReason = &last, last.StopReason
	}
	if state.Holder != "" && state.Verb == patterns.ExecuteVerb && state.State != patterns.Over {
		e.LastRun = &patterns.PlanRun{RunID: state.Holder, Status: string(state.State)}
		if state.State == patterns.Running {
			e.LastRun.Status = envelope.StatusRunning
		}
	}
	if state.State == patterns.Parked && state.Waiting != nil {
		e.WaitingFor = s.waitingOf(state)
	}
	return e
}

// holderWords says what a run currently does with the plan.
func holderWords(state patterns.PlanState) string {
	switch {
	case state.Holder == "":
		return ""
	case state.State == patterns.Running:
		return workedOn(state.Holder)
	case state.State == patterns.Parked && state.Waiting != nil:
		return workWaits(state.Holder, outcome.WaitWords(outcome.WaitKind(state.Waiting)))
	}
	return ""
}

// waitingOf returns what the run of a plan waits for, as the run's own result says it.
func (s *toolSet) waitingOf(state patterns.PlanState) envelope.WaitingFor {
	t := arguments.NewReader(state.Spec, arguments.KeyRow())
	ended := patterns.Ended{RunID: state.Holder, Waiting: state.Waiting}
	c := t.NewCall(nil)
	c.Principal = state.Principal
	return outcome.Waiting(c, ended, s.Host.Inbox()).WaitingFor
}

// traceOf returns the trace of all runs of a plan, including the run that works on it.
func traceOf(state patterns.PlanState) []any {
	stored := storedOf(state).Trace
	rows := make([]any, 0, len(stored))
	for _, row := range stored {
		rows = append(rows, row)
	}
	return rows
}

// pageRows adds the subtasks of one page, each completed one with its result. It notes a fault and returns false if the
// cursor does not belong to this list.
func (s *toolSet) pageRows(ctx context.Context, r *arguments.Request, e *envelope.Envelope, state patterns.PlanState) bool {
	bound := rowsOf(s.Host.Principal(ctx), e.PlanID, e.Revision, r.Arguments["include_completed"] == false)
	from := 0
	if cursor := r.Said("cursor"); cursor != "" {
		var ok bool
		if from, ok = readPlanCursor(cursor, bound); !ok {
			r.Add(arguments.OutOfLimit, "cursor", cursor, wantRowCursor)
			return false
		}
	}
	view := viewOf(state)
	rows := storedOf(state).Details(view)
	e.Subtasks = []patterns.SubtaskRow{}
	for i := min(from, len(rows)); i < len(rows); i++ {
		if rows[i].Status == patterns.SubtaskCompleted && r.Arguments["include_completed"] == false {
			continue
		}
		if len(e.Subtasks) == r.Limit {
			e.NextCursor = planCursor(i, bound)
			break
		}
		e.Subtasks, e.RowPlaces = append(e.Subtasks, rows[i]), append(e.RowPlaces, i)
	}
	e.CursorAt = func(row int) string { return planCursor(row, bound) }
	return true
}

// rowsOf returns a digest of what a cursor belongs to, so that it works for no other list.
func rowsOf(principal, plan string, revision int, open bool) string {
	sum := sha256.Sum256(ijson.Canonical(map[string]any{
		"principal": principal, "plan": plan, "revision": float64(revision), "open": open,
	}))
	return hex.EncodeToString(sum[:8])
}

// planCursor returns a cursor for the row at which the next page begins.
func planCursor(row int, bound string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", row, bound))
}

// readPlanCursor returns the row of a cursor. It returns false if the cursor was not made for this list.
func readPlanCursor(cursor, bound string) (row int, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, false
	}
	var was string
	if n, err := fmt.Sscanf(string(text), "%d %s", &row, &was); n != 2 || err != nil || row < 0 {
		return 0, false
	}
	return row, was == bound && planCursor(row, bound) == cursor
}

// NewPlanStatus makes the tool that shows the plans of a pattern. spec is the pattern's with the name of the tool.
func NewPlanStatus(c Config, spec patterns.Spec, title, description string) (*Tool, error) {
	s := &toolSet{c}
	input, err := arguments.Schema(spec, c.Waits, false)
	if err != nil {
		return nil, err
	}
	t := &Tool{tools: s, takes: planStatusArguments(), shows: planStatusMembers()}
	t.answer = func(ctx context.Context, r *arguments.Request, _ *mcp.Meta) (*mcp.CallToolResult, error) {
		r.Spec = spec
		return s.answerPlanStatus(ctx, r)
	}
	t.declared = mcp.NewToolWithRawSchema(spec.Name, description, input)
	t.declared.Title = title
	t.declared.RawOutputSchema = envelope.BriefSchema()
	yes, no := true, false
	t.declared.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no}
	return t, nil
}

// planStatusArguments returns the arguments of plan_status, in the order in which faults are reported.
func planStatusArguments() []arguments.Row {
	return []arguments.Row{
		{Name: "plan_id", Most: arguments.MaxInput}, {Name: "include_completed", Shape: arguments.Flag}, {Name: "include_details", Shape: arguments.Flag},
		{Name: "include_trace", Shape: arguments.Flag}, {Name: "cursor", Most: 4 << 10}, {Name: "limit", Shape: arguments.Page},
	}
}
