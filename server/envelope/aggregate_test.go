package envelope

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/reference"
)

// TestAggregatesAreShown holds that an aggregate is written in the one shape or the other, and that who reads text alone sees what
// the expressions of a declared pattern made of its tasks.
func TestAggregatesAreShown(t *testing.T) {
	t.Parallel()
	joined := patterns.Aggregate{
		Fields: map[string]any{"sum": 3.0}, Missing: []string{"rest"}, Health: "red", Errors: []patterns.JoinError{{Member: "fields.rest", Reason: "there is no o"}},
	}
	empty := patterns.Aggregate{Fields: map[string]any{}, Health: "green"}
	for name, row := range map[string]struct {
		aggregate  patterns.Aggregate
		joins      bool
		want, line string
	}{
		"fields": {
			joined, true, `{"fields":{"sum":3},"missing":["rest"],"health":"red","errors":[{"member":"fields.rest","reason":"there is no o"}]}`,
			`AGGREGATE {"fields":{"sum":3},"missing":["rest"],"health":"red","errors":[{"member":"fields.rest","reason":"there is no o"}]}`,
		},
		"no field":         {empty, true, `{"fields":{},"missing":[],"health":"green"}`, `AGGREGATE {"fields":{},"missing":[],"health":"green"}`},
		"not by its file":  {empty, false, `{"fields":{},"missing":[],"health":"green"}`, ""},
		"the demo's shape": {patterns.Aggregate{Health: "green", Report: &reference.Report{Region: "US", Health: "green"}}, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := AppendJSON(nil, &row.aggregate)
			if err != nil || row.want != "" && string(got) != row.want {
				t.Errorf("got %s, %v", got, err)
			}
			if row.want == "" {
				var members map[string]any
				if err := json.Unmarshal(got, &members); err != nil || members["region"] != "US" || members["fields"] != nil {
					t.Errorf("the demo's: %s", got)
				}
			}
			e := Envelope{Status: StatusOK, orchestratorMembers: orchestratorMembers{Aggregate: &row.aggregate}, Joins: row.joins}
			text := string(e.text(nil, nil))
			if has := strings.Contains(text, "AGGREGATE"); has != (row.line != "") || has && !strings.Contains(text, "\n"+row.line) {
				t.Errorf("text %s, want %q", text, row.line)
			}
		})
	}
}

// TestAggregatesAreCut holds that fields do not keep a result from being cut.
func TestAggregatesAreCut(t *testing.T) {
	t.Parallel()
	long := patterns.Aggregate{Fields: map[string]any{"all": strings.Repeat("a", 50_000)}, Health: "green"}
	for range 80 {
		long.Errors = append(long.Errors, patterns.JoinError{Member: "health.1.when", Reason: strings.Repeat("b", 500)})
	}
	got, err := AppendJSON(nil, squeezedAggregate(&long, 200, 5))
	if err != nil || len(got) > 3000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
