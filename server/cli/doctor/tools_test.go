package doctor

import (
	"encoding/json"
	"testing"
)

// Doctor reports tools that clients drop or cut.
func TestExamineTools(t *testing.T) {
	for name, tt := range map[string]struct{ tool, check, state, text string }{
		"fine":       {`{"name":"look","description":"Looks.","inputSchema":{"type":"object"}}`, "tools", stateOK, "1 tool"},
		"a blank":    {`{"name":"a b","description":"x","inputSchema":{"type":"object"}}`, "names", stateFail, "clients accept 1 to 64"},
		"no text":    {`{"name":"look","inputSchema":{"type":"object"}}`, "descriptions", stateWarn, "has no description"},
		"no object":  {`{"name":"look","description":"x","inputSchema":{"type":"string"}}`, "schemas", stateFail, "a root that is not an object"},
		"a choice":   {`{"name":"look","description":"x","inputSchema":{"type":"object","properties":{"x":{"items":{"anyOf":[]}}}}}`, "schemas", stateFail, "anyOf at /properties/x/items/"},
		"a list":     {`{"name":"look","description":"x","inputSchema":{"type":"object","properties":{"x":{"type":["string"]}}}}`, "schemas", stateFail, "a list of types at /properties/x/"},
		"a boolean":  {`{"name":"look","description":"x","inputSchema":{"type":"object","properties":{"x":true}}}`, "schemas", stateFail, "a boolean schema at /properties/x"},
		"an output":  {`{"name":"look","description":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"object","$ref":"x"}}`, "schemas", stateFail, "its output schema has $ref at /"},
		"unreadable": {`[]`, "tools", stateFail, "cannot be read"},
	} {
		found := &findings{}
		examineTools("patterngate", []json.RawMessage{json.RawMessage(tt.tool)}, found)
		if !found.has(tt.check, tt.state, tt.text) {
			t.Errorf("%s: found %+v", name, found.rows)
		}
	}
}
