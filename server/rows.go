package server

import (
	"fmt"

	"patterngate/gateway"
	"patterngate/patterns"
)

// observed is the observation that a history row shows, if it shows one.
func observed(row any) (any, bool) {
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

// showing is the row with another form of its observation. Rows are values: the run's own stays as it is.
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

// line is one proposed call in short: what it was and what came of it.
type line struct {
	label string // step, task or attempt; fit to begin a line
	name  string
	args  map[string]any
	stop  string // why it came to nothing; empty where there is an observation
}

// lineOf is a row in short. It is false for rows that another row tells of.
func (e *Envelope) lineOf(row any) (line, bool) {
	switch row := row.(type) {
	case patterns.StepDone:
		return line{label: label(row.PlanStep.ID), name: row.PlanStep.Tool, args: row.PlanStep.Args}, true
	case patterns.StepRow:
		return line{label(row.StepID), row.Tool, e.stepArgs(row.StepNo), row.StopReason}, row.StopReason != ""
	case patterns.TaskRow:
		return line{label(row.TaskID), row.Worker, e.taskArgs(row.TaskID), row.StopReason}, true
	case patterns.Delegation:
		target, _ := row.Route["target"].(string)
		args, _ := row.Route["args"].(map[string]any)
		return line{label: ordinal("attempt", row.Attempt), name: target, args: args}, true
	case patterns.RouteRow:
		return line{ordinal("attempt", row.Attempt), row.Target, argsOf(e.Route), row.StopReason}, row.StopReason != ""
	case patterns.ActionDone:
		name, _ := row.Executed["name"].(string)
		return line{label: ordinal("step", row.Step), name: name, args: argsOf(row.Executed)}, name != ""
	case patterns.SubtaskDone:
		return line{label: label(row.SubtaskID), name: row.Tool, args: e.subtaskArgs(row.SubtaskID)}, true
	case patterns.AttemptRow:
		return line{label(row.SubtaskID), row.Tool, e.subtaskArgs(row.SubtaskID), row.StopReason}, row.StopReason != ""
	case patterns.ActionRow:
		return line{ordinal("step", row.Step), row.Tool, argsOf(e.Action), row.StopReason}, row.StopReason != ""
	}
	return line{}, false
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

// argsOf are the arguments of a route or action; nil for a closing answer.
func argsOf(v any) map[string]any {
	row, _ := v.(map[string]any)
	args, _ := row["args"].(map[string]any)
	return args
}

func ordinal(word string, n int) string { return fmt.Sprintf("%s_%d", word, n) }
