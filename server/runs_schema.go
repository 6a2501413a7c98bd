package server

import (
	"bytes"
	"encoding/json"
	"strings"

	"patterngate/catalog"
)

// The inputs of the tools about runs, for readers; what a call holds is judged by each tool's own table.

type statusInput struct {
	RunID string `json:"run_id,omitempty" jsonschema_description:"Without it: your newest waiting or just finished run."`
	Step  string `json:"step,omitempty" jsonschema_description:"Step number, task id, attempt or effect key."`
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

// runDeclaration are the words by which such a tool is listed (spec/surface.md section 2).
type runDeclaration struct {
	name, title, description string
	input                    func() (*catalog.Schema, error)
}

// runDeclarations are in the order in which they are listed.
func runDeclarations() []runDeclaration {
	return []runDeclaration{
		{statusTool, "State of a run", "Shows a run as it stands: what was done, what it waits for, what to do next. Use it after a call was " +
			"cut off or when the person writes again. Without run_id: your newest waiting or just finished run. With step: one observation in full.",
			catalog.SchemaOf[statusInput]},
		{waitTool, "Wait for a run", "Waits for a running or waiting run to end or change, with progress. Use it after `running`, and once after " +
			"`waiting`; when `next` says end_turn, stop calling.", catalog.SchemaOf[waitInput]},
		{cancelTool, "Cancel a run", "Stops a run before its next call; what was done stays done and is listed in effects. Use it only when the " +
			"person asks.", catalog.SchemaOf[cancelInput]},
		{listTool, "List runs", "Lists your runs, newest first, with status, stop reason and one line each. Use it to find a run whose id was lost.",
			catalog.SchemaOf[listInput]},
	}
}

// complete puts the configured bounds into a schema.
func (runDeclaration) complete(schema *catalog.Schema, c Config) json.RawMessage {
	return json.RawMessage(strings.Replace(string(schema.JSON()), `"description":"$`+waitArgument+`"`, waitRemark(c), 1))
}

// runShape is a result of these tools as readers are told of it: the run's envelope, whose further members its pattern's
// own schema names.
type runShape struct {
	Status     string         `json:"status" jsonschema:"enum=ok,enum=stopped,enum=running,enum=waiting"`
	StopReason string         `json:"stop_reason,omitempty"`
	Phase      string         `json:"phase,omitempty"`
	RunID      string         `json:"run_id,omitempty"`
	Summary    string         `json:"summary,omitempty"`
	Next       aboutNextShape `json:"next,omitzero" jsonschema_description:"What to do now."`
	WaitingFor object         `json:"waiting_for,omitempty"`
	Current    object         `json:"current,omitempty"`
	Problems   []object       `json:"problems,omitempty"`
	Answer     string         `json:"answer,omitempty" jsonschema_description:"A claim, not checked."`
	Trace      []object       `json:"trace,omitempty"`
	History    []object       `json:"history,omitempty"`
	Effects    []object       `json:"effects,omitempty"`
	Budget     object         `json:"budget,omitempty"`
	Usage      object         `json:"usage,omitempty"`
	Demo       bool           `json:"demo,omitempty"`
	Record     object         `json:"record,omitempty"`
	Pattern    string         `json:"pattern,omitempty"`
	CreatedAt  string         `json:"created_at,omitempty"`
	EndedAt    string         `json:"ended_at,omitempty"`
	Step       object         `json:"step,omitempty"`
}

type aboutNextShape struct {
	Action    string `json:"action,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Arguments object `json:"arguments,omitempty"`
	Say       string `json:"say,omitempty"`
	Wait      int    `json:"wait_seconds,omitempty"`
}

type listShape struct {
	Status     string         `json:"status" jsonschema:"enum=ok,enum=stopped"`
	StopReason string         `json:"stop_reason,omitempty"`
	Phase      string         `json:"phase,omitempty"`
	Summary    string         `json:"summary,omitempty"`
	Next       object         `json:"next,omitempty"`
	Problems   []object       `json:"problems,omitempty"`
	Runs       []listRowShape `json:"runs,omitempty"`
	NextCursor string         `json:"next_cursor,omitempty"`
}

type listRowShape struct {
	RunID       string `json:"run_id,omitempty"`
	Pattern     string `json:"pattern,omitempty"`
	Status      string `json:"status,omitempty"`
	StopReason  string `json:"stop_reason,omitempty"`
	Phase       string `json:"phase,omitempty"`
	Summary     string `json:"summary,omitempty"`
	WaitingKind string `json:"waiting_kind,omitempty"`
	ExpiresAt   string `json:"expires_at,omitempty"`
	CreatedAt   string `json:"created_at,omitempty"`
	EndedAt     string `json:"ended_at,omitempty"`
}

// opened is a schema whose objects may have members that it does not name.
func opened(schema []byte) json.RawMessage {
	return bytes.ReplaceAll(schema, []byte(`"additionalProperties":false,`), nil)
}
