package status

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// These limit what is shown of one step. Everything that was recorded is shown, and the record has its own bounds. The
// size of a row depends on its proposer.
const (
	maxStep       = 1 << 10   // bytes of the name of a step
	maxStepRow    = 32 << 10  // bytes
	maxStepResult = 512 << 10 // bytes of each channel; never reached
)

// showStep answers with one row and the whole recorded observation.
func (s *toolSet) showStep(ctx context.Context, r *arguments.Request, run patterns.Snapshot, whole envelope.Envelope) (*mcp.CallToolResult, error) {
	step := stepOf(r.Step, whole, run.Ended)
	if step == nil {
		r.Add(arguments.NotFound, "step", r.Arguments["step"], wantStep)
		c := r.Call
		c.Run = &run
		return s.refuseAbout(ctx, c, r.Of(arguments.NotFound))
	}
	s.inFull(ctx, step, whole.PlanID)
	e := envelope.Envelope{
		Status: whole.Status, StopReason: whole.StopReason, Phase: whole.Phase, RunID: whole.RunID, Summary: whole.Summary, Next: whole.Next,
		WaitingFor: whole.WaitingFor, Current: whole.Current, Simulated: whole.Simulated, Record: whole.Record,
		Tool: whole.Tool,
	}
	e.Pattern, e.CreatedAt, e.EndedAt = whole.Pattern, whole.CreatedAt, whole.EndedAt
	e, err := e.Fitted(envelope.NewScratch(), s.ResultBytes) // the rest of the space is for the observation
	if err != nil {
		return nil, fmt.Errorf("presenting: %w", err)
	}
	e.Step = step
	return s.Host.ShowIn(ctx, e, maxStepResult)
}

// inFull adds the whole result of a subtask if its row shows only the beginning and no recorded call has the rest. This
// occurs for subtasks of the caller. The plan stores the result.
func (s *toolSet) inFull(ctx context.Context, step *envelope.Step, plan string) {
	row, _ := step.Row.(map[string]any)
	id, _ := row["subtask_id"].(string)
	if _, _, isCut := envelope.CutBefore(step.Observation); !isCut || id == "" {
		return
	}
	state, err := s.Engine.Plan(s.Host.Principal(ctx), "", plan)
	if err != nil {
		return
	}
	for _, subtask := range storedOf(state).Subtasks {
		if subtask.ID == id && subtask.Status == patterns.SubtaskCompleted {
			step.Observation = subtask.Result
		}
	}
}

// stepOf finds a step by its name: a row of the history, then of the trace, then a call by its key. It returns nil if
// there is none.
func stepOf(name string, e envelope.Envelope, ended patterns.Ended) *envelope.Step {
	for _, rows := range [][]any{e.History, e.Trace} {
		for _, row := range rows {
			if members := membersOf(row); isNamed(members, name) {
				observation, shown := envelope.Observed(row)
				if !shown {
					observation = members["observation"]
				}
				delete(members, "observation")
				if _, isSubtask := row.(patterns.SubtaskDone); isSubtask {
					delete(members, "result")
				}
				return &envelope.Step{Row: boundedRow(members), Observation: recorded(observation, members, e, ended)}
			}
		}
	}
	for i, call := range e.Effects {
		if call.Key != name {
			continue
		}
		step := &envelope.Step{Row: boundedRow(membersOf(e.Effects[i]))}
		for _, entry := range ledgerOf(ended) {
			if entry.Key == name {
				step.Observation = entry.Observation
			}
		}
		return step
	}
	return nil
}

// membersOf returns a row's members as they are shown.
func membersOf(row any) map[string]any {
	text, err := envelope.AppendJSON(nil, row)
	if err != nil {
		return nil
	}
	v, _ := ijson.Decode(text)
	members, _ := v.(map[string]any)
	return members
}

// isNamed reports whether a row has a name: its number, its id, or the label in the text channel.
func isNamed(members map[string]any, name string) bool {
	if id, ok := members["subtask_id"].(string); ok { // all subtasks have a first attempt
		return id == name
	}
	planned, _ := members["plan_step"].(map[string]any)
	for _, id := range []any{members["task_id"], members["step_id"], planned["id"]} {
		if text, ok := id.(string); ok && text == name {
			return true
		}
	}
	for member, words := range map[string]string{"step_no": "step_", "step": "step_", "attempt": "attempt_"} {
		n, ok := members[member].(float64)
		if ok && strings.TrimPrefix(name, words) == strconv.Itoa(int(n)) {
			return true
		}
	}
	return false
}

// recorded returns the whole recorded observation if the row shows only its beginning.
func recorded(observation any, members map[string]any, e envelope.Envelope, ended patterns.Ended) any {
	if _, _, isCut := envelope.CutBefore(observation); !isCut {
		return observation
	}
	hash, _ := members["args_hash"].(string)
	tool, named := members["tool"].(string)
	for _, row := range e.Trace { // a row of the history has no hash
		if other := membersOf(row); hash == "" && sameStep(members, other) {
			hash, _ = other["args_hash"].(string)
		}
	}
	for _, entry := range ledgerOf(ended) {
		if hash != "" && entry.Hash == hash && (!named || entry.Tool == tool) && entry.Status == gateway.Finished {
			observation = entry.Observation
		}
	}
	return observation
}

// sameStep reports whether two rows are about the same step.
func sameStep(a, b map[string]any) bool {
	if id, ok := a["subtask_id"].(string); ok {
		return b["subtask_id"] == id
	}
	for _, member := range []string{"step_no", "step", "attempt"} {
		if n, ok := a[member].(float64); ok && b[member] == n {
			return true
		}
	}
	return false
}

// ledgerOf returns the calls of a run so far.
func ledgerOf(ended patterns.Ended) []gateway.Entry {
	if ended.Waiting != nil {
		return ended.Waiting.SoFar.Ledger
	}
	return ended.Result.Ledger
}

func boundedRow(members map[string]any) any {
	return envelope.Bounded(members, maxStepRow)
}
