package envelope

import (
	"fmt"
	"strings"

	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/sentence"
)

// appendSubtasks writes one line for each subtask that a result shows. A line has the id, status, tool, dependencies,
// and the description as a JSON string. Subtasks that are not completed also show their arguments. Completed ones show
// what they returned, unless the observations show it.
func (e *Envelope) appendSubtasks(dst []byte) []byte {
	rows := e.subtaskRows()
	if len(rows) == 0 {
		return dst
	}
	dst = append(dst, subtasksHeading...)
	told := map[string]bool{}
	for _, row := range e.History {
		if row, ok := row.(patterns.SubtaskDone); ok {
			told[row.SubtaskID] = true
		}
	}
	for _, row := range rows {
		if result := e.Results[row.ID]; result != nil && row.Result == nil && !told[row.ID] {
			row.Result = &result
		}
		dst = appendSubtask(dst, row)
	}
	return dst
}

func appendSubtask(dst []byte, row patterns.SubtaskRow) []byte {
	dst = append(append(dst, sentence.Label(row.ID)...), ' ')
	dst = append(dst, row.Status...)
	if row.StopReason != "" {
		dst = printable.Append(append(dst, ' '), row.StopReason)
	}
	dst = append(append(dst, " | "...), sentence.Label(row.Tool)...)
	dst = append(dst, " | "...)
	for i, id := range row.Dependencies {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, sentence.Label(id)...)
	}
	if len(row.Dependencies) == 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, " | "...)
	at := len(dst)
	dst = ijson.Append(dst, row.Description)
	if len(row.Args) > 0 && row.Status != patterns.SubtaskCompleted {
		dst = ijson.Append(append(dst, ' '), row.Args)
	}
	if row.Result != nil {
		dst, _ = AppendJSON(append(dst, " -> "...), *row.Result) // the same value is in structuredContent, where a fault is reported
	}
	return append(revealed(dst, at), '\n')
}

// appendPlans writes the plans of a list.
func (e *Envelope) appendPlans(dst []byte) []byte {
	if len(e.Plans) > 0 {
		dst = append(dst, plansHeading...)
		for _, row := range e.Plans {
			dst = append(dst, row.line()...)
		}
	}
	if e.NextCursor != "" {
		dst = append(append(append(dst, "NEXT_CURSOR "...), e.NextCursor...), '\n')
	}
	return dst
}

// line returns the plan's line in the text channel.
func (r PlanRow) line() string {
	stands := completedOf(r.PlanStatus.Completed, r.PlanStatus.Total)
	if r.LastStopReason != "" {
		stands += ", " + printable.Text(r.LastStopReason)
	}
	goal := printable.Text(string(ijson.Canonical(r.Goal)))
	return strings.Join([]string{r.PlanID, stands, string(r.Strategy), fmt.Sprint(r.Revision), goal}, " | ") + "\n"
}
