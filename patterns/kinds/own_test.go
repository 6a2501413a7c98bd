package kinds

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// A single call has one row, its observation and the gate's refusals, with pointers into the caller's own arguments.
func TestCall(t *testing.T) {
	tests := map[string]struct {
		args   map[string]any
		change func(*patterns.Spec)
		reason string
		at     string
	}{
		"made":        {map[string]any{"n": 1.0}, nil, patterns.Success, ""},
		"no argument": {nil, nil, patterns.Success, ""},
		"bad":         {map[string]any{"n": "1"}, nil, "tool_bad_args:look", "/n"},
		"denied":      {nil, func(s *patterns.Spec) { s.Execution = nil }, "tool_denied:look", ""},
		"missing":     {nil, func(s *patterns.Spec) { s.Tool, s.Execution = "luck", []string{"luck"} }, "tool_missing:luck", ""},
		"blocked": {nil, func(s *patterns.Spec) {
			s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return gateway.Verdict{Reason: "not_today"} })
		}, "policy_block:not_today", ""},
		"a person says no": {nil, func(s *patterns.Spec) {
			s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict {
				return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
			})
		}, "human_rejected", ""},
		"no call is left": {nil, func(s *patterns.Spec) { s.Budget.MaxToolCalls = 0 }, "max_tool_calls", ""},
		"no time is left": {nil, func(s *patterns.Spec) { s.Budget.MaxTime = 0 }, "max_seconds", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec, _ := paying(t, &till{paid: map[string]string{}}, nil)
			spec.Kind, spec.Tool, spec.Budget = gateway.Call, "look", gateway.DefaultBudget(gateway.Call)
			if tt.change != nil {
				tt.change(&spec)
			}
			r, _ := (&world{}).run(t, spec, patterns.Task{Args: tt.args})
			if r.StopReason != tt.reason || r.OK() != (r.Observation != nil) || len(r.Trace) != 1 || r.OK() == (r.Phase == patterns.PhaseCall) {
				t.Errorf("%s in %q, observed %v: %s; want %s", r.StopReason, r.Phase, r.Observation, shape(t, r), tt.reason)
			}
			if tt.at != "" && (len(r.Problems) != 1 || string(r.Problems[0].Pointer) != tt.at) {
				t.Errorf("problems %+v, want one at %s", r.Problems, tt.at)
			}
		})
	}
}

// The aggregate of workers of a user's own says how they ended, and nothing of the demo's matters.
func TestJoined(t *testing.T) {
	done, failed := patterns.TaskRow{Worker: "a", Status: "done"}, patterns.TaskRow{Worker: "b", Status: "failed"}
	for want, rows := range map[string][]patterns.TaskRow{
		`{"fields":{},"missing":[],"health":"green"}`:      {done, {Worker: "a", Status: "failed"}},
		`{"fields":{},"missing":["b"],"health":"unknown"}`: {done, failed, failed},
	} {
		text, err := json.Marshal(patterns.Joined(nil, rows))
		if err != nil || string(text) != want {
			t.Errorf("%v, %s, want %s", err, text, want)
		}
		var again patterns.Aggregate
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(patterns.Joined(nil, rows), again); diff != "" {
			t.Errorf("read again, -want +got:\n%s", diff)
		}
	}
}

// A route without an argument ticket takes arguments of its own, is given no ticket, and is done whatever it observes, unless
// that says needs_reroute.
func TestOwnRoute(t *testing.T) {
	seen := map[string]any{"state": "sent"}
	own := func(name string, observation any) catalog.Tool {
		return catalog.Tool{Name: name, Server: "orders", Effect: catalog.Read, Input: schema(t, `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`),
			Do: func(context.Context, catalog.Call) (any, error) { return observation, nil }}
	}
	c, err := catalog.New(own("look", seen), own("away", map[string]any{"status": "needs_reroute"}))
	if err != nil {
		t.Fatal(err)
	}
	names := c.Names()
	spec := patterns.Spec{Name: "desk", Kind: gateway.Routing, Catalog: c, Policy: names, Execution: names, Budget: gateway.DefaultBudget(gateway.Routing), Reroute: rerouted(names)}
	for name, tt := range map[string]struct {
		route  map[string]any
		reason string
	}{
		"its own arguments": {map[string]any{"kind": "route", "target": "look", "args": map[string]any{"id": "A-1"}}, patterns.Success},
		"a ticket":          {map[string]any{"kind": "route", "target": "look", "args": map[string]any{"id": "A-1", "ticket": "x"}}, "route_bad_args:look"},
		"none":              {map[string]any{"kind": "route", "target": "look", "args": map[string]any{}}, "route_bad_args:look"},
		"away":              {map[string]any{"kind": "route", "target": "away", "args": map[string]any{"id": "A-1"}}, "max_route_attempts"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := spec
			spec.Budget.MaxRouteAttempts = 1
			r, _ := (&world{}).run(t, spec, patterns.Task{Goal: "where is A-1", Caller: patterns.Proposals("route", tt.route)})
			if r.StopReason != tt.reason || r.OK() != (r.SelectedRoute == "look") {
				t.Errorf("%s, route %q; want %s", r.StopReason, r.SelectedRoute, tt.reason)
			}
		})
	}
}
