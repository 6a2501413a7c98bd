package arguments

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
)

// specOf is a pattern of a kind with one tool.
func specOf(t *testing.T, kind gateway.Kind) patterns.Spec {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := catalog.New(catalog.Tool{Name: "look", Description: "Looks something up.", Effect: catalog.Read, Input: input,
		Do: func(context.Context, catalog.Call) (any, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	s := patterns.Spec{
		Name: "p", Kind: kind, Catalog: tools, Policy: []string{"look"}, Execution: []string{"look"},
		Budget: gateway.DefaultBudget(kind),
	}
	switch kind {
	case gateway.Call:
		s.Tool = "look"
	case gateway.Planning:
		s.Plans, s.Name = "p", PlanTool("p", patterns.DecomposeVerb)
	}
	return s
}

// TestRowsAreInTheSchema holds for each kind that clients are told of just the arguments that a call may have.
func TestRowsAreInTheSchema(t *testing.T) {
	t.Parallel()
	for _, kind := range []gateway.Kind{
		gateway.TaskDecomposition, gateway.Orchestrator, gateway.Routing, gateway.Supervisor, gateway.Planning, gateway.Call,
	} {
		spec := specOf(t, kind)
		waits := Waits{Max: 1e9}
		text, err := Schema(spec, waits, true)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		takes := NewReader(spec, waits.Row(), KeyRow()).Takes
		for _, row := range takes {
			if schema.Properties[row.Name] == nil {
				t.Errorf("%s: the schema lacks %s", kind, row.Name)
			}
		}
		for name := range schema.Properties {
			known := slices.ContainsFunc(takes, func(row Row) bool { return row.Name == name })
			if !known && !(kind == gateway.Call && name == "id") { // the argument of the tool
				t.Errorf("%s: no call may have %s of the schema", kind, name)
			}
		}
	}
}

// TestIntentNamesAnArgument holds that the argument of the caller's intent is one that a call may have.
func TestIntentNamesAnArgument(t *testing.T) {
	t.Parallel()
	for kind, want := range map[gateway.Kind]string{
		gateway.TaskDecomposition: "plan", gateway.Orchestrator: "plan", gateway.Routing: "route", gateway.Supervisor: "actions",
		gateway.Planning: "plan", gateway.Call: "", "": "plan", // of a run whose pattern is not known
	} {
		r := NewReader(specOf(t, kind))
		if got := r.NewCall(nil).IntentName(); got != want {
			t.Errorf("%s: the intent is %q, want %q", kind, got, want)
		}
		has := slices.ContainsFunc(r.Takes, func(row Row) bool { return row.Name == want })
		if known := kind != "" && want != ""; has != known {
			t.Errorf("%s: a row for %q is %t", kind, want, has)
		}
	}
}

// TestContinuationIsLookedUp holds that a call which names a run is about that run, or about none.
func TestContinuationIsLookedUp(t *testing.T) {
	t.Parallel()
	r := NewReader(specOf(t, gateway.Supervisor))
	run := patterns.Snapshot{RunID: "run_1", Pattern: "p", State: patterns.Parked, Arguments: map[string]any{"goal": "g"}}
	find := func(id string) (patterns.Snapshot, bool) { return run, id == run.RunID }
	for raw, want := range map[string]string{
		`{"run_id":"run_1","actions":[]}`:            "",
		`{"run_id":"run_1"}`:                         "missing:actions",
		`{"run_id":"run_2","actions":[]}`:            "not_found:run_id",
		`{"run_id":"run_1","goal":"h","actions":[]}`: "mismatch:goal",
		`{"turn":1,"goal":"g"}`:                      "missing:run_id",
	} {
		c, problems := r.Take(json.RawMessage(raw), find)
		if got := first(problems); got != want || want == "" && (c.Run == nil || c.Run.RunID != run.RunID) {
			t.Errorf("%s: %q, want %q; run %v", raw, got, want, c.Run)
		}
	}
}

func first(problems []document.Problem) string {
	if len(problems) == 0 {
		return ""
	}
	return problems[0].Reason
}
