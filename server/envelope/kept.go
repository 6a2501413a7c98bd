package envelope

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/reference"
	"patterngate/server/arguments"
)

// maxKeptResult is the largest kept result that is read, in bytes. Observations and intents are bounded before.
const maxKeptResult = 16 << 20

// Kept reads the result that the record of an ended run holds, written by this version or another. It returns false if
// it cannot.
func Kept(s patterns.Snapshot) (Envelope, bool) {
	if len(s.Kept) > maxKeptResult {
		return Envelope{}, false
	}
	var k kept
	err := k.read(s.Kept)
	if plain := patterns.RedactedAsText(s.Kept); err != nil && plain != nil { // for example, an answer was redacted
		plan, trace, history := k.Plan, k.Trace, k.History
		k.Plan, k.Trace, k.History = nil, nil, nil
		err = k.read(plain)
		k.Plan, k.Trace, k.History = plan, trace, history // rows of any shape are shown as they are
		if strings.HasPrefix(k.Summary, `{"$`) {
			k.Summary = redactedSummary
		}
	}
	if err != nil || k.Status != StatusOK && k.Status != StatusStopped {
		return Envelope{}, false
	}
	e := k.Envelope
	e.Plan, e.Aggregate = keptPlan(k.Plan), k.aggregate
	if e.Trace, e.History = nil, nil; k.Trace != nil || k.History != nil { // a call of one tool has none
		e.Trace, e.History = keptRows(k.Trace, true), keptRows(k.History, false)
	}
	e.Called = calledOf(s, e)
	if len(e.Expected) > 0 { // next to expected, null is a value
		e.Received, e.BadObservation = nullable(e.Received), nullable(e.BadObservation)
	}
	e.Tool, e.Author = s.Pattern, "model"
	if e.Usage != nil && (e.Usage.Model == "caller" || e.Usage.Model == patterns.ByRules) {
		e.Author = e.Usage.Model
	}
	return e, true
}

// kept is a kept result while it is read.
type kept struct {
	Envelope
	Plan      json.RawMessage   `json:"plan"`
	Trace     []json.RawMessage `json:"trace"`
	History   []json.RawMessage `json:"history"`
	Aggregate json.RawMessage   `json:"aggregate"`

	aggregate *patterns.Aggregate
}

// read reads the text of a kept result.
func (k *kept) read(text []byte) error {
	if err := json.Unmarshal(text, k); err != nil {
		return err
	}
	if len(k.Aggregate) == 0 || string(k.Aggregate) == "null" {
		return nil
	}
	var all struct {
		reference.Report
		Fields map[string]any       `json:"fields"`
		Errors []patterns.JoinError `json:"errors"`
	}
	if err := json.Unmarshal(k.Aggregate, &all); err != nil {
		return err
	}
	k.aggregate = &patterns.Aggregate{Health: all.Health, Missing: all.Missing, Fields: all.Fields, Errors: all.Errors}
	if all.Fields == nil { // only the built-in orchestrator's has none
		k.aggregate.Report = &all.Report
	}
	return nil
}

// calledOf describes the call of a kept result of a one-tool call. It returns nil for other results.
func calledOf(s patterns.Snapshot, e Envelope) *Line {
	if e.Trace != nil || len(e.Effects) == 0 {
		return nil
	}
	called := Line{Label: "call", Name: e.Effects[0].Tool, Args: arguments.Call{Spec: s.Spec, Arguments: s.Arguments}.CalledWith()}
	if e.Observation == nil {
		called.Stop = e.StopReason
	}
	return &called
}

func nullable(v *any) *any {
	if v == nil {
		return new(any)
	}
	return v
}

// keptPlan returns a plan with the type of its rows, so that it is shown like any other.
func keptPlan(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	if plan, ok := exactly[patterns.ShownPlan](raw); ok {
		return &plan
	}
	if steps, ok := exactly[[]gateway.Step](raw); ok {
		return steps
	}
	if tasks, ok := exactly[[]gateway.Task](raw); ok {
		return tasks
	}
	return anyValue(raw)
}

// keptRows returns rows with their types. Rows of another version are shown as they are.
func keptRows(raw []json.RawMessage, trace bool) []any {
	list := make([]any, 0, len(raw))
	for _, text := range raw {
		list = append(list, keptRow(text, trace))
	}
	return list
}

func keptRow(raw json.RawMessage, trace bool) any {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return anyValue(raw)
	}
	row, ok := any(nil), false
	switch {
	case members["subtask_id"] != nil && trace:
		row, ok = exactly[patterns.AttemptRow](raw)
	case members["subtask_id"] != nil:
		row, ok = exactly[patterns.SubtaskDone](raw)
	case members["plan_step"] != nil:
		row, ok = exactly[patterns.StepDone](raw)
	case members["step_no"] != nil:
		row, ok = exactly[patterns.StepRow](raw)
	case members["task_id"] != nil && trace:
		row, ok = exactly[patterns.TaskTrace](raw)
	case members["task_id"] != nil:
		row, ok = exactly[patterns.TaskRow](raw)
	case members["route"] != nil:
		row, ok = exactly[patterns.Delegation](raw)
	case members["target"] != nil:
		row, ok = exactly[patterns.RouteRow](raw)
	case members["executed_action"] != nil:
		row, ok = exactly[patterns.ActionDone](raw)
		recallChanges(row)
	case members["supervisor_decision"] != nil:
		row, ok = exactly[patterns.ActionRow](raw)
	}
	if !ok {
		return anyValue(raw)
	}
	return row
}

// recallChanges gives a kept supervised action what its approver was asked about and left, as far as the row tells it. An argument that
// only the approved action has can be a default of the tool, so it is not taken for a change. If the person was asked twice, the row
// has only the first question.
func recallChanges(row any) {
	done, _ := row.(patterns.ActionDone)
	if done.Human == nil || argsOf(done.Human.RevisedAction) == nil {
		return
	}
	asked := argsOf(done.Action)
	if done.Supervisor.RevisedAction != nil {
		asked = argsOf(done.Supervisor.RevisedAction)
	}
	left := maps.Clone(argsOf(done.Human.RevisedAction))
	maps.DeleteFunc(left, func(name string, _ any) bool { _, was := asked[name]; return !was })
	done.Human.Asked, done.Human.Left = asked, left
}

// exactly reads JSON that has no members other than those of the type.
func exactly[T any](raw json.RawMessage) (v T, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&v)
	return v, err == nil
}

func anyValue(raw json.RawMessage) any {
	v, _ := ijson.Decode(raw) // nil if it is not JSON
	return v
}
