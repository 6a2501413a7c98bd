package document_test

import (
	"testing"

	"patterngate/catalog"
	"patterngate/gateway/document"
)

// A value in the wanted type is offered only if the tool takes it then.
func TestRetypedArgumentIsAccepted(t *testing.T) {
	input, err := catalog.CompileUpstream([]byte(`{"type":"object","properties":{"path":{"type":"string","pattern":"^/data/"},"note":{"type":"string"},` +
		`"nights":{"type":"integer","maximum":9},"month":{"type":"string","x-spelling":"YYYY-MM"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tool := catalog.Tool{Name: "read_file", Effect: catalog.Read, Input: input}
	for name, tt := range map[string]struct {
		args    map[string]any
		offered any
	}{
		"fails the pattern": {map[string]any{"path": 5.0}, nil},
		"over the maximum":  {map[string]any{"nights": "10"}, nil},
		"fits":              {map[string]any{"nights": "5"}, 5.0},
		"free text":         {map[string]any{"note": 5.0}, "5"},
		"not as spelled":    {map[string]any{"month": 4.0}, nil},
		"beside another":    {map[string]any{"note": 5.0, "path": "x"}, "5"},
	} {
		t.Run(name, func(t *testing.T) {
			var offered any
			for _, p := range document.ArgumentProblems("tool_bad_args:read_file", tool, tt.args, "/args", tool.Check(tt.args)) {
				if p.Fix != nil {
					offered = p.Fix.Value
				}
				if p.Want == "" {
					t.Errorf("%s: nothing is said to be wanted", p.Pointer)
				}
			}
			if offered != tt.offered {
				t.Errorf("offered %v, want %v", offered, tt.offered)
			}
		})
	}
}
