package patterns

// TextValues are texts as decoded values.
func TextValues(texts []string) []any {
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}

// TaskRow is how one task of an orchestrator ended: a history row, and a row of failed_critical.
type TaskRow struct {
	TaskID           string `json:"task_id"`
	Worker           string `json:"worker"`
	Critical         bool   `json:"critical"`
	Status           string `json:"status"` // done or failed
	AttemptsUsed     int    `json:"attempts_used"`
	Retried          bool   `json:"retried"`
	ArgsHash         string `json:"args_hash"`
	StopReason       string `json:"stop_reason,omitempty"` // of a failed task
	InDoubt          bool   `json:"in_doubt,omitempty"`    // nobody knows whether it acted
	ObservationError string `json:"observation_error,omitempty"`
	Observation      any    `json:"observation,omitempty"` // of a done task
}

// Done reports whether the task came to a result.
func (t TaskRow) Done() bool { return t.Status == "done" }
