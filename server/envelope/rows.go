package envelope

import (
	"fmt"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/sentence"
)

// Observed returns the observation that a history row shows. It returns false if the row shows none.
func Observed(row any) (any, bool) {
	switch row := row.(type) {
	case patterns.StepDone:
		return row.Observation, true
	case patterns.TaskRow:
		return row.Observation, row.Done()
	case patterns.Delegation:
		return row.Observation, true
	case patterns.ActionDone:
		return row.Observation, true
	case patterns.SubtaskDone:
		return row.Result, true
	}
	return nil, false
}

// showing returns the row with another form of its observation. Rows are values, so the run's own row does not change.
func showing(row, observation any) any {
	switch row := row.(type) {
	case patterns.StepDone:
		row.Observation = observation
		return row
	case patterns.TaskRow:
		row.Observation = observation
		return row
	case patterns.Delegation:
		row.Observation = observation
		return row
	case patterns.ActionDone:
		row.Observation = observation
		return row
	case patterns.SubtaskDone:
		row.Result = observation
		return row
	}
	return row
}

// Line describes one proposed call in short: the call and its outcome.
type Line struct {
	Label string // step, task or attempt; safe at the beginning of a line
	Name  string
	Args  map[string]any
	Stop  string // the stop reason; empty if there is an observation
}

// lineOf returns a row in short. It returns false for rows that another row describes.
func (e *Envelope) lineOf(row any) (Line, bool) {
	switch row := row.(type) {
	case patterns.StepDone:
		return Line{Label: sentence.Label(row.PlanStep.ID), Name: row.PlanStep.Tool, Args: edited(e.humanOf(row.StepNo, ""), row.PlanStep.Args)}, true
	case patterns.StepRow:
		return Line{sentence.Label(row.StepID), row.Tool, e.stepArgs(row.StepNo), row.StopReason}, row.StopReason != ""
	case patterns.TaskRow:
		return Line{sentence.Label(row.TaskID), row.Worker, edited(e.humanOf(0, row.TaskID), e.taskArgs(row.TaskID)), row.StopReason}, true
	case patterns.Delegation:
		target, _ := row.Route["target"].(string)
		args, _ := row.Route["args"].(map[string]any)
		return Line{Label: ordinal("attempt", row.Attempt), Name: target, Args: edited(e.humanOf(row.Attempt, ""), args)}, true
	case patterns.RouteRow:
		return Line{ordinal("attempt", row.Attempt), row.Target, argsOf(e.Route), row.StopReason}, row.StopReason != ""
	case patterns.ActionDone:
		name, _ := row.Executed["name"].(string)
		return Line{Label: ordinal("step", row.Step), Name: name, Args: argsOf(row.Executed)}, name != ""
	case patterns.SubtaskDone:
		return Line{Label: sentence.Label(row.SubtaskID), Name: row.Tool, Args: e.subtaskArgs(row.SubtaskID)}, true
	case patterns.AttemptRow:
		return Line{sentence.Label(row.SubtaskID), row.Tool, e.subtaskArgs(row.SubtaskID), row.StopReason}, row.StopReason != ""
	case patterns.ActionRow:
		return Line{ordinal("step", row.Step), row.Tool, argsOf(e.Action), row.StopReason}, row.StopReason != ""
	}
	return Line{}, false
}

// edited returns the arguments that a person approved in the place of the proposed ones, or the proposed ones if the person changed
// nothing.
func edited(h *patterns.HumanApproval, proposed map[string]any) map[string]any {
	if h == nil || !h.Approved {
		return proposed
	}
	if args := argsOf(h.RevisedAction); args != nil {
		return args
	}
	return proposed
}

// humanOf returns what a person decided about a step or an attempt, or about the task with an id; nil: no person was asked.
func (e *Envelope) humanOf(number int, task string) *patterns.HumanApproval {
	for _, row := range e.Trace {
		switch row := row.(type) {
		case patterns.StepRow:
			if task == "" && row.StepNo == number {
				return row.HumanApproval
			}
		case patterns.RouteRow:
			if task == "" && row.Attempt == number {
				return row.HumanApproval
			}
		case patterns.TaskTrace:
			if task != "" && row.TaskID == task {
				return row.HumanApproval
			}
		}
	}
	return nil
}

func (e *Envelope) stepArgs(n int) map[string]any {
	if steps, ok := e.Plan.([]gateway.Step); ok && n >= 1 && n <= len(steps) {
		return steps[n-1].Args
	}
	return nil
}

func (e *Envelope) subtaskArgs(id string) map[string]any {
	for _, row := range e.subtaskRows() {
		if row.ID == id {
			return row.Args
		}
	}
	return nil
}

func (e *Envelope) taskArgs(id string) map[string]any {
	tasks, _ := e.Plan.([]gateway.Task)
	for _, t := range tasks {
		if t.ID == id {
			return t.Args
		}
	}
	return nil
}

// argsOf returns the arguments of a route or action, or nil for a final answer.
func argsOf(v any) map[string]any {
	row, _ := v.(map[string]any)
	args, _ := row["args"].(map[string]any)
	return args
}

func ordinal(word string, n int) string { return fmt.Sprintf("%s_%d", word, n) }
