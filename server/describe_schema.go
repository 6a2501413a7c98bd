package server

import (
	"encoding/json"
	"strings"

	"patterngate/catalog"
)

type describeInput struct {
	Pattern string   `json:"pattern,omitempty" jsonschema_description:"$pattern"`
	Names   []string `json:"names,omitempty" jsonschema:"maxItems=50" jsonschema_description:"Only these tools."`
	Query   string   `json:"query,omitempty" jsonschema:"maxLength=256" jsonschema_description:"Words of names and descriptions; the tools that meet most of them are listed."`
	Cursor  string   `json:"cursor,omitempty" jsonschema_description:"The last answer's next_cursor, with the same pattern, names and query."`
	Limit   int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=20" jsonschema_description:"How many tools at most."`
}

// describeInputSchema is the published schema of the arguments; what a call holds is judged by [describer.take].
func describeInputSchema(offered []Pattern) (json.RawMessage, error) {
	shape, err := catalog.SchemaOf[describeInput]()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(offered))
	for i, p := range offered {
		names[i] = p.Spec.Name
	}
	pattern := `"enum":` + jsonText(names) + `,` + described("Only tools that this pattern may use.")
	return json.RawMessage(strings.Replace(string(shape.JSON()), `"description":"$pattern"`, pattern, 1)), nil
}

// describeOutputSchema is the schema of the result; see [envelopeSchema].
func describeOutputSchema() (json.RawMessage, error) {
	closed, err := catalog.SchemaOf[describeShape]()
	if err != nil {
		return nil, err
	}
	return opened(closed.JSON()), nil
}

// describeShape is a result of describe_catalog as readers are told of it.
type describeShape struct {
	Status     string            `json:"status" jsonschema:"enum=ok,enum=stopped" jsonschema_description:"stopped: the call was refused; do what next says."`
	StopReason string            `json:"stop_reason,omitempty" jsonschema_description:"success, or why the call was refused."`
	Phase      string            `json:"phase,omitempty"`
	Summary    string            `json:"summary,omitempty"`
	Next       describeNextShape `json:"next,omitzero" jsonschema_description:"What to do now."`
	Problems   []problemShape    `json:"problems,omitempty" jsonschema_description:"Every fault of the call."`
	Demo       bool              `json:"demo,omitempty" jsonschema_description:"true: a tool is make-believe."`
	Tools      []toolShape       `json:"tools,omitempty" jsonschema_description:"By name."`
	Patterns   []patternShape    `json:"patterns,omitempty"`
	NextCursor string            `json:"next_cursor,omitempty" jsonschema_description:"There is more: call again with it as cursor."`
}

type describeNextShape struct {
	Action    string   `json:"action,omitempty" jsonschema:"enum=done,enum=fix_and_retry,enum=call"`
	Tool      string   `json:"tool,omitempty"`
	Arguments object   `json:"arguments,omitempty"`
	Changed   []object `json:"changed,omitempty" jsonschema_description:"Repairs that arguments hold."`
	Fill      []string `json:"fill,omitempty" jsonschema_description:"Places in arguments that you fill."`
	Say       string   `json:"say,omitempty"`
}

type toolShape struct {
	Name        string   `json:"name,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Effect      string   `json:"effect,omitempty" jsonschema:"enum=read,enum=write,enum=destructive"`
	Idempotent  bool     `json:"idempotent,omitempty" jsonschema_description:"The same call twice acts once."`
	InputSchema object   `json:"input_schema,omitempty" jsonschema_description:"Of the arguments."`
	Patterns    []string `json:"patterns,omitempty" jsonschema_description:"Who may use it."`
	Person      string   `json:"person,omitempty" jsonschema:"enum=never,enum=maybe,enum=always" jsonschema_description:"Whether a person is asked before a call."`
	State       string   `json:"state,omitempty" jsonschema:"enum=ready"`
}

type patternShape struct {
	Name     string             `json:"name,omitempty"`
	Kind     string             `json:"kind,omitempty"`
	Budget   map[string]float64 `json:"budget,omitempty" jsonschema_description:"Limits of one run."`
	Approver string             `json:"approver,omitempty" jsonschema_description:"Who is asked. inbox: a person; reject: nobody, the answer is no."`
}
