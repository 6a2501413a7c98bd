package outcome

import (
	"context"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// In patterns without a phase of its own the call and the decision stand in the newest row.
func TestUnapprovedStep(t *testing.T) {
	no := &patterns.HumanApproval{By: "local:7", Channel: "cli", Comment: "not today"}
	for kind, trace := range map[gateway.Kind]any{
		gateway.TaskDecomposition: patterns.StepRow{Tool: "fetch_sales_data", HumanApproval: no, StopReason: "human_rejected"},
		gateway.Routing:           patterns.RouteRow{Target: "billing_specialist", HumanApproval: no, StopReason: "human_rejected"},
		gateway.Orchestrator:      nil,
	} {
		a := account{Call: arguments.Call{}, Result: patterns.Result{StopReason: "human_rejected", Phase: "execute"}}
		a.Spec.Kind = kind
		want := "A call needed a person's approval in phase execute, and the configuration rejects such calls without asking (human_rejected)."
		if trace != nil {
			a.Trace = []any{trace}
			want = "local:7 rejected it on the command line (human_rejected)."
		}
		if got, _ := a.why(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: why = %q, want it to end %q", kind, got, want)
		}
		if got, want := a.counsel(), `The comment: "not today".`; trace != nil && got != want {
			t.Errorf("%s: counsel = %q, want %q", kind, got, want)
		}
	}
}

// The summary names a route that the request names too and that the offline rules left out, because it can write.
func TestWritesNotConsidered(t *testing.T) {
	tools := []catalog.Tool{{Name: "lend_book", Effect: catalog.Write}, {Name: "look_up"}, {Name: "lend_demo", Effect: catalog.Write, Simulated: true}}
	input, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`))
	if err != nil {
		t.Fatal(err)
	}
	tools[1].Effect = catalog.Read
	for i := range tools {
		tools[i].Description, tools[i].Input = "Does it.", input
		tools[i].Do = func(context.Context, catalog.Call) (any, error) { return nil, nil }
	}
	all, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		request, model string
		mayWrite       bool
		want           string
	}{
		"named":         {"Lend book b-1", "rules", false, " The offline rules did not consider lend_book, because it can write. They choose a write only with llm: {provider: rules}."},
		"not named":     {"Where is it?", "rules", false, ""},
		"may be chosen": {"Lend book b-1", "rules", true, ""},
		"by a model":    {"Lend book b-1", "gpt", false, ""},
	} {
		a := account{Call: arguments.Call{Arguments: map[string]any{"request": tt.request}, Model: tt.model}, Result: patterns.Result{StopReason: patterns.Success, SelectedRoute: "look_up"}}
		a.Spec = patterns.Spec{Kind: gateway.Routing, Catalog: all, Policy: []string{"lend_book", "look_up", "lend_demo"}, RulesMayWrite: tt.mayWrite, Goal: "request"}
		if got := a.notConsidered(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if !strings.HasSuffix(a.outcome(), "."+tt.want) {
			t.Errorf("%s: the outcome is %q", name, a.outcome())
		}
	}
}

// After a refused final answer, the next step is the caller's own actions with that answer to write anew, and not an empty skeleton.
func TestNextOfARefusedAnswer(t *testing.T) {
	answer, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"lent":{"type":"boolean"}},"required":["lent"]}`))
	if err != nil {
		t.Fatal(err)
	}
	own := []any{map[string]any{"kind": "tool", "name": "look"}, map[string]any{"kind": "final", "answer": "it is lent"}}
	sent := map[string]any{"goal": "g", "actions": own}
	a := account{Call: arguments.Call{Tool: "sup", Arguments: sent, Intents: map[string]any{"actions": own}}, Result: patterns.Result{
		StopReason: "invalid_answer:non_json", ByCall: true, Problems: []document.Problem{{Pointer: "/actions/1/answer", Reason: "non_json", Want: "one JSON document"}}}}
	a.Spec = patterns.Spec{Kind: gateway.Supervisor, Answer: answer}
	n := a.next()
	const say = `Fix these arguments, then call again: /actions/1/answer: must be one JSON document. The answer is JSON of this form: {"lent":"boolean"}.`
	if got, _ := ijson.Pointer("/actions/1/answer").In(n.Arguments); n.Action != envelope.ActionCall || got != "" || n.Say != say || len(n.Fill) != 1 || n.Fill[0] != "/actions/1/answer" {
		t.Errorf("next is %+v", n)
	}
	if got, _ := ijson.Pointer("/actions/0/name").In(n.Arguments); got != "look" {
		t.Errorf("the first action became %v", got)
	}
	a.Problems[0].Pointer = "/answer" // of a model's reply
	if n := a.next(); len(n.Fill) != 1 || n.Fill[0] != "/actions" {
		t.Errorf("next of a model's answer is %+v", n)
	}
	a.Say = "The rules write no JSON."
	if n := a.next(); n.Say != a.Say {
		t.Errorf("it says %q, want what the rules say", n.Say)
	}
}
