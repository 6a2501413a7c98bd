package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
)

// What a pattern sets is judged as it is sent, and no rule changes it.
func TestInjectedArgumentsAreJudged(t *testing.T) {
	var seen []map[string]any
	verdict := gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
	config := limits(9, 9, 9)
	config.Catalog, config.Execution = tools(t, nil, "look"), []string{"look"}
	config.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		seen = append(seen, c.Args)
		if c.Args["n"] == 7.0 {
			return revise("lower", map[string]any{"n": 1.0, "request_id": c.Args["request_id"]})
		}
		if c.Args["n"] == 8.0 {
			return revise("theirs", map[string]any{"n": 1.0, "request_id": "evil"})
		}
		return verdict
	})
	injected := map[string]any{"request_id": "run_1"}
	judged := func(args map[string]any) gateway.Ruling {
		seen = nil
		p := gateway.Proposal{Tool: "look", Args: args, Inject: injected}
		return gateway.NewGate(config).Review(p.Case())
	}
	evil := map[string]any{"n": 5.0, "request_id": "evil"}
	r := judged(evil)
	if diff := cmp.Diff([]map[string]any{{"n": 5.0, "request_id": "run_1"}}, seen); diff != "" || r.Decision != gateway.Approve {
		t.Errorf("%s; judged, -want +got:\n%s", r.Decision, diff)
	}
	if diff := cmp.Diff(evil, r.Args); diff != "" {
		t.Errorf("the ruling's arguments are not those that were proposed, -want +got:\n%s", diff)
	}
	r = judged(map[string]any{"n": 7.0})
	if diff := cmp.Diff(map[string]any{"n": 1.0}, r.Args); diff != "" || r.Decision != gateway.Approve || len(seen) != 2 {
		t.Errorf("after a change, %s in %d passes: -want +got:\n%s", r.Decision, len(seen), diff)
	}
	if r = judged(map[string]any{"n": 8.0}); r.Decision != gateway.Block || r.Reason != gateway.NoRuleMatched {
		t.Errorf("a change of what the pattern sets: %s %s", r.Decision, r.Reason)
	}
}

// A call that a person let through is made only while the policy wants no surer person than that.
func TestAWindowThatWantsASurerPerson(t *testing.T) {
	least := gateway.UserAssurance
	policy := windowed{func(c gateway.Case) gateway.Verdict {
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask", Least: least}
	}}
	config := limits(9, 9, 9)
	config.Catalog, config.Execution, config.Reviewer = tools(t, nil, "look"), []string{"look"}, policy
	gate := gateway.NewGate(config)
	now := func(w gateway.Weighing) any { return w.Judge(nil).Value(w.Args()) }
	r := gate.ReviewApproved(gateway.Case{Tool: "look", Args: n(1), Weigh: now}, "ap_0123456789abcdef")
	permit, stop := gate.Approved(gateway.Proposal{Tool: "look", Args: n(1), Weigh: now}, r)
	if stop != nil {
		t.Fatal(stop)
	}
	w, _ := permit.Weighing()
	for want, holds := range map[gateway.Assurance]bool{"": true, gateway.UserAssurance: true, gateway.SignedAssurance: false} {
		if least = want; w.Holds(nil) != holds {
			t.Errorf("where the policy now wants %q, the call may be made: %t", want, !holds)
		}
	}
}

// windowed is a policy whose verdicts depend on earlier runs.
type windowed struct {
	review func(gateway.Case) gateway.Verdict
}

func (w windowed) Review(c gateway.Case) gateway.Verdict { return w.review(c) }
func (windowed) Windows(string) []gateway.Window         { return []gateway.Window{{Name: "p.today"}} }

// An error stays one, however long the result is that carries it.
func TestALongErrorIsNoSuccess(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for name, tt := range map[string]struct {
		v  map[string]any
		ok bool
	}{
		"an error":          {map[string]any{"error": long}, false},
		"a status":          {map[string]any{"status": "error", "more": long}, false},
		"within the result": {map[string]any{"result": map[string]any{"error": "no such order", "more": long}}, false},
		"a result":          {map[string]any{"status": "ok", "more": long}, true},
	} {
		catalog := tools(t, func(context.Context, catalog.Call) (any, error) { return tt.v, nil }, "look")
		gate := gateway.NewGate(gateway.Config{Catalog: catalog, Execution: []string{"look"}, Budget: gateway.NoBudget()})
		permit, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: n(1)})
		if stop != nil {
			t.Fatal(stop)
		}
		done := permit.Perform(t.Context(), "k")
		e := gateway.Entry{Status: gateway.Finished, Observation: done.Value}
		if e.OK() != tt.ok || len(ijson.Canonical(done.Value)) > 64<<10 {
			t.Errorf("%s of %d bytes: ok is %t, in %d bytes", name, done.Bytes, e.OK(), len(ijson.Canonical(done.Value)))
		}
	}
}
