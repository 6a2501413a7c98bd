package describe

import (
	"encoding/json"
	"reflect"
	"strings"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

type input struct {
	Pattern string   `json:"pattern,omitempty" jsonschema_description:"$pattern"`
	Names   []string `json:"names,omitempty" jsonschema:"maxItems=50" jsonschema_description:"Only these tools."`
	Query   string   `json:"query,omitempty" jsonschema:"maxLength=256" jsonschema_description:"Words of names and descriptions; the tools that meet most of them are listed."`
	Cursor  string   `json:"cursor,omitempty" jsonschema_description:"The last answer's next_cursor, with the same pattern, names and query."`
	Limit   int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=20" jsonschema_description:"How many tools at most."`
}

// maxPatternsNamed is the number of patterns up to which the schema lists their names.
const maxPatternsNamed = 32

// inputSchema returns the published schema of the arguments. [Tool.take] checks the arguments of a call.
func inputSchema(offered []patterns.Spec) (json.RawMessage, error) {
	shape, err := catalog.SchemaOf[input]()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(offered))
	for i, p := range offered {
		names[i] = p.Name
	}
	pattern := arguments.Described("Only tools that this pattern may use.")
	if n := len(names); n > 0 && n <= maxPatternsNamed { // an empty enum is not a valid schema
		pattern = `"enum":` + arguments.JSONText(names) + `,` + pattern
	}
	return json.RawMessage(strings.Replace(string(shape.JSON()), `"description":"$pattern"`, pattern, 1)), nil
}

// outputSchema returns the schema of the result; see output.go.
func outputSchema() json.RawMessage {
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
