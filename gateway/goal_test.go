package gateway_test

import (
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
)

// The goal of a run that a call would begin is judged as that of a run which a caller asks for.
func TestGoalOfACall(t *testing.T) {
	schema, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"request":{"type":"string"},"n":{"type":"integer"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	view, err := catalog.New(catalog.Tool{Name: "desk", Of: "order_desk", Pattern: "order_desk", Goal: "request", Server: catalog.PatternServer, Input: schema, Effect: catalog.Read},
		catalog.Tool{Name: "single", Pattern: "find", Server: catalog.PatternServer, Input: schema, Effect: catalog.Read})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", gateway.MaxGoal)
	for name, tt := range map[string]struct {
		tool string
		args map[string]any
		want string
	}{
		"words":                {"desk", map[string]any{"request": "refund A-1001"}, ""},
		"as long as may be":    {"desk", map[string]any{"request": long}, ""},
		"too long":             {"desk", map[string]any{"request": long + "x"}, "worker_bad_args:desk"},
		"blank":                {"desk", map[string]any{"request": " \t\u00a0"}, "worker_bad_args:desk"},
		"none":                 {"desk", map[string]any{"n": 1.0}, "worker_bad_args:desk"},
		"no text":              {"desk", map[string]any{"request": 1.0}, "worker_bad_args:desk"},
		"an input of its own":  {"desk", map[string]any{"request": "x", "m": 1.0}, "worker_bad_args:desk"},
		"a call has no goal":   {"single", map[string]any{"n": 1.0}, ""},
		"its arguments are of": {"single", map[string]any{"n": "1"}, "worker_bad_args:single"},
	} {
		t.Run(name, func(t *testing.T) {
			gate := gateway.NewGate(gateway.Config{Family: gateway.WorkerFamily, Catalog: view, Execution: []string{"desk", "single"}, Budget: gateway.NoBudget()})
			permit, stop := gate.Admit(gateway.Proposal{Tool: tt.tool, Args: tt.args, Attempt: 1})
			switch {
			case tt.want == "" && (stop != nil || !permit.Valid()):
				t.Errorf("refused: %+v", stop)
			case tt.want != "" && (stop == nil || stop.Reason != tt.want || len(stop.Problems) != 1 || permit.Valid()):
				t.Errorf("%+v, want %s", stop, tt.want)
			}
		})
	}
}

// Calls that child runs made are the run's own: a budget of calls counts them.
func TestCallsOfChildRunsCount(t *testing.T) {
	view, err := catalog.New(catalog.Tool{Name: "find", Pattern: "find", Server: catalog.PatternServer, Effect: catalog.Read, Input: must(t, `{"type":"object"}`)})
	if err != nil {
		t.Fatal(err)
	}
	gate := gateway.NewGate(gateway.Config{
		Catalog: view, Execution: []string{"find"}, Budget: gateway.NoBudget(), Calls: []gateway.CallBudget{{Limit: 4, Reason: "max_tool_calls"}},
	})
	for i, below := range []int{2, -5} {
		if _, stop := gate.Admit(gateway.Proposal{Tool: "find", Attempt: 1}); stop != nil {
			t.Fatalf("call %d: %+v", i, stop)
		}
		gate.Count(below)
	}
	if gate.Tried() != 4 {
		t.Errorf("%d calls count, want two and two below", gate.Tried())
	}
	if _, stop := gate.Admit(gateway.Proposal{Tool: "find", Attempt: 1}); stop == nil || stop.Reason != "max_tool_calls" {
		t.Errorf("a fifth is let through: %+v", stop)
	}
}

func must(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	schema, err := catalog.CompileSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
