package gateway_test

import (
	"context"
	"fmt"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/document"
)

// What a model replies is text from outside. A parser accepts it whole or says all that is wrong with it.
func ExampleParseRoute() {
	rules := gateway.RouteRules{Allowed: []string{"billing_specialist", "sales_specialist"}}
	for _, reply := range []string{
		`{"kind":"route","target":" billing_specialist ","args":{"ticket":"Charged\ttwice"}}`,
		`{"kind":"route","target":"billing_specialst","args":{},"why":"money"}`,
	} {
		route, refusal := gateway.ParseRoute(document.ReadReply(reply), rules)
		if refusal != nil {
			fmt.Println(refusal.Reason)
			for _, p := range refusal.Problems {
				fmt.Printf("  %s %s; did you mean %q\n", p.Pointer, p.Reason, p.DidYouMean)
			}
			continue
		}
		fmt.Printf("%s gets %q\n", route.Target, route.Args["ticket"])
	}
	// Output:
	// billing_specialist gets "Charged twice"
	// invalid_route:extra_keys
	//   /why extra_keys; did you mean ""
	//   /target route_not_allowed:billing_specialst; did you mean "billing_specialist"
	//   /args/ticket missing_ticket; did you mean ""
}

// A call needs a permit, and only a gate gives one.
func ExampleGate_Admit() {
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		panic(err)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		panic(err)
	}
	gate := gateway.NewGate(gateway.Config{
		Catalog: c, Execution: []string{"get_manager_profile"}, Budget: gateway.DefaultBudget(gateway.TaskDecomposition),
	})
	permit, _ := gate.Admit(gateway.Proposal{Tool: "get_manager_profile", Args: map[string]any{"manager_id": 42.0}})
	done := permit.Perform(context.Background(), "an idempotency key")
	fmt.Println(done.State, done.Value.(map[string]any)["manager"].(map[string]any)["name"])

	_, stop := gate.Admit(gateway.Proposal{Tool: "get_manager_profile", Args: map[string]any{"manager_id": 42.0}})
	fmt.Println(stop.Reason)
	_, stop = gate.Admit(gateway.Proposal{Tool: "issue_refund"})
	fmt.Println(stop.Reason)
	// Output:
	// ok Anna
	// loop_detected
	// tool_denied:issue_refund
}

// A revision is reviewed again, so a reason that the policy adds does not pay a refund that needs a person.
func ExampleGate_Review() {
	gate := gateway.NewGate(gateway.Config{Reviewer: gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		amount, _ := c.Args["amount_usd"].(float64)
		switch {
		case c.Args["reason"] == nil:
			return gateway.Verdict{Decision: gateway.Revise, Reason: "reason_required", Args: map[string]any{"amount_usd": amount, "reason": "asked for"}}
		case amount > 1000:
			return gateway.Verdict{Decision: gateway.Escalate, Reason: "needs_a_person"}
		}
		return gateway.Verdict{Decision: gateway.Approve, Reason: "small"}
	})})
	ruling := gate.Review(gateway.Case{Tool: "issue_refund", Args: map[string]any{"amount_usd": 1200.0}})
	fmt.Println(ruling.Decision, ruling.Reason, ruling.Revisions)
	// Output: escalate needs_a_person [reason_required]
}
