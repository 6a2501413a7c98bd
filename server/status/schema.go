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
	RunID string `json:"run_id,omitempty"`
	Step  string `json:"step,omitempty" jsonschema_description:"Number, id, attempt or effect key."`
}

type waitInput struct {
	RunID          string  `json:"run_id"`
	MaxWaitSeconds float64 `json:"max_wait_seconds,omitempty" jsonschema_description:"$max_wait_seconds"`
}

type cancelInput struct {
	RunID  string `json:"run_id"`
	Reason string `json:"reason,omitempty" jsonschema:"maxLength=500"`
}

type listInput struct {
	Status     string `json:"status,omitempty" jsonschema:"enum=running,enum=waiting,enum=ok,enum=stopped"`
	Pattern    string `json:"pattern,omitempty"`
	StopReason string `json:"stop_reason,omitempty"`
	Since      string `json:"since,omitempty" jsonschema_description:"As 2026-11-21T09:30:00Z."`
	Until      string `json:"until,omitempty"`
	Cursor     string `json:"cursor,omitempty"`
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
		{arguments.StatusTool, statusTitle, statusAbout, catalog.SchemaOf[statusInput]},
		{arguments.WaitTool, waitTitle, waitAbout, catalog.SchemaOf[waitInput]},
		{arguments.CancelTool, cancelTitle, cancelAbout, catalog.SchemaOf[cancelInput]},
		{arguments.ListTool, listTitle, listAbout, catalog.SchemaOf[listInput]},
	}
}

// complete puts the configured bounds into a schema.
func (runDeclaration) complete(schema *catalog.Schema, w arguments.Waits) json.RawMessage {
	return json.RawMessage(strings.Replace(string(schema.JSON()), `"description":"$`+arguments.WaitName+`"`, w.Remark(), 1))
}

// members are the members that results of a tool can have: those of a result type that has accepts.
type members struct {
	result reflect.Type
	has    func(name string) bool
}

// Output returns the tool's whole output schema. The one in tools/list names fewer members.
func (t *Tool) Output() json.RawMessage { return envelope.SchemaOf(t.shows.result, t.shows.has) }

// runMembers returns the members of results of the tools that show a run: those of the run's envelope. The schema of the
// pattern describes its further members.
func runMembers() members {
	return members{reflect.TypeFor[envelope.Envelope](), envelope.Among(`status stop_reason phase answered run_id summary next
		waiting_for current problems answer history effects record pattern created_at ended_at step`)}
}

// listMembers returns the members of results of list_runs.
func listMembers() members {
	return members{reflect.TypeFor[listResult](), envelope.Among("status stop_reason phase summary next problems runs next_cursor")}
}
