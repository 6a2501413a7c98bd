package status

import (
	"encoding/json"
	"reflect"
	"strings"

	"patterngate/catalog"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// These are the inputs of the tools about runs, for readers. Each tool's own table judges the arguments of a call.

type statusInput struct {
	RunID string `json:"run_id,omitempty" jsonschema_description:"Without it: your newest waiting or just finished run."`
	Step  string `json:"step,omitempty" jsonschema_description:"Step number, task or subtask id, attempt or effect key."`
}

type waitInput struct {
	RunID          string  `json:"run_id"`
	MaxWaitSeconds float64 `json:"max_wait_seconds,omitempty" jsonschema_description:"$max_wait_seconds"`
}

type cancelInput struct {
	RunID  string `json:"run_id"`
	Reason string `json:"reason,omitempty" jsonschema:"maxLength=500" jsonschema_description:"For the record."`
}

type listInput struct {
	Status     string `json:"status,omitempty" jsonschema:"enum=running,enum=waiting,enum=ok,enum=stopped"`
	Pattern    string `json:"pattern,omitempty"`
	StopReason string `json:"stop_reason,omitempty" jsonschema_description:"Whole, or its family."`
	Since      string `json:"since,omitempty" jsonschema_description:"Begun then or later, as 2026-11-21T09:30:00Z."`
	Until      string `json:"until,omitempty" jsonschema_description:"Begun before."`
	Cursor     string `json:"cursor,omitempty" jsonschema_description:"The last answer's next_cursor, with the same filters."`
	Limit      int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=20"`
}

// runDeclaration holds the words that such a tool is listed with (spec/surface.md section 2).
type runDeclaration struct {
	name, title, description string
	input                    func() (*catalog.Schema, error)
}

// runDeclarations returns the declarations in the order in which the tools are listed.
func runDeclarations() []runDeclaration {
	return []runDeclaration{
		{arguments.StatusTool, "State of a run", "Shows a run as it stands: what was done, what it waits for, what to do next. Use it after a call was " +
			"cut off or when the person writes again. Without run_id: your newest waiting or just finished run. With step: one observation in full.",
			catalog.SchemaOf[statusInput]},
		{arguments.WaitTool, "Wait for a run", "Waits for a running or waiting run to end or change, with progress. Use it after `running`, and once after " +
			"`waiting`; when `next` says end_turn, stop calling.", catalog.SchemaOf[waitInput]},
		{arguments.CancelTool, "Cancel a run", "Stops a run before its next call; what was done stays done and is listed in effects. Use it only when the " +
			"person asks.", catalog.SchemaOf[cancelInput]},
		{arguments.ListTool, "List runs", "Lists your runs, newest first, with status, stop reason and one line each. Use it to find a run whose id was lost.",
			catalog.SchemaOf[listInput]},
	}
}

// complete puts the configured bounds into a schema.
func (runDeclaration) complete(schema *catalog.Schema, w arguments.Waits) json.RawMessage {
	return json.RawMessage(strings.Replace(string(schema.JSON()), `"description":"$`+arguments.WaitName+`"`, w.Remark(), 1))
}

// runSchema returns the output schema of the tools that show a run. It describes the run's envelope. The schema of the
// pattern describes its further members.
func runSchema() json.RawMessage {
	return envelope.SchemaOf(reflect.TypeFor[envelope.Envelope](), envelope.Among(`status stop_reason phase answered run_id summary next
		waiting_for current problems answer history effects record pattern created_at ended_at step`))
}

// listSchema returns the output schema of list_runs.
func listSchema() json.RawMessage {
	return envelope.SchemaOf(reflect.TypeFor[listResult](), envelope.Among("status stop_reason phase summary next problems runs next_cursor"))
}
