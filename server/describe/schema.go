package describe

import (
	"encoding/json"
	"reflect"

	"patterngate/catalog"
	"patterngate/server/envelope"
)

type input struct {
	Pattern string   `json:"pattern,omitempty" jsonschema_description:"Only tools that this pattern uses."`
	Names   []string `json:"names,omitempty" jsonschema:"maxItems=50"`
	Query   string   `json:"query,omitempty" jsonschema:"maxLength=256" jsonschema_description:"Words to search for."`
	Cursor  string   `json:"cursor,omitempty"`
	Limit   int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=20"`
}

// inputSchema returns the published schema of the arguments. [Tool.take] checks the arguments of a call.
func inputSchema() (json.RawMessage, error) {
	shape, err := catalog.SchemaOf[input]()
	if err != nil {
		return nil, err
	}
	return json.RawMessage(shape.JSON()), nil
}

// Output returns the whole output schema of the tool. The one in tools/list names fewer members.
func (*Tool) Output() json.RawMessage {
	return envelope.SchemaOf(reflect.TypeFor[shape](), func(string) bool { return true })
}

// shape are the members of a result of describe_catalog.
type shape struct {
	Status     string           `json:"status"`
	StopReason string           `json:"stop_reason"`
	Phase      string           `json:"phase"`
	Summary    string           `json:"summary"`
	Next       map[string]any   `json:"next"`
	Problems   []map[string]any `json:"problems"`
	Simulated  bool             `json:"demo"`
	Tools      []map[string]any `json:"tools"`
	Patterns   []map[string]any `json:"patterns"`
	NextCursor string           `json:"next_cursor"`
}
