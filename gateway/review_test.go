package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patterngate/gateway"
	"patterngate/ijson"
)

// script answers one pass after the other, and records what it was asked.
type script struct {
	verdicts []gateway.Verdict
	asked    []map[string]any
}

func (s *script) Review(c gateway.Case) gateway.Verdict {
	s.asked = append(s.asked, c.Args)
	v := s.verdicts[min(len(s.asked), len(s.verdicts))-1]
	return v
}

func revise(reason string, to map[string]any) gateway.Verdict {
	return gateway.Verdict{Decision: gateway.Revise, Reason: reason, Args: to}
}

func TestReviewComesToAFixedPoint(t *testing.T) {
	approve := gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
	escalate := gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
	blocked := gateway.Verdict{Reason: "no", Need: []string{"look"}}
	up := func(x float64) gateway.Verdict { return revise("up", n(x)) }
	none := gateway.Ruling{Reason: gateway.ReviseNotConvergent, Args: n(0)}
	with := func(r gateway.Ruling, x float64, revisions ...string) gateway.Ruling {
		r.Args, r.Revisions = n(x), revisions
		return r
	}
	yes := gateway.Ruling{Decision: gateway.Approve, Reason: "fine"}
	tests := map[string]struct {
		verdicts []gateway.Verdict
		want     gateway.Ruling
		passes   int
		decision gateway.Decision // as recorded
		reason   string
	}{
		"approve":              {[]gateway.Verdict{approve}, with(yes, 0), 1, gateway.Approve, "fine"},
		"block":                {[]gateway.Verdict{blocked}, gateway.Ruling{Reason: "no", Args: n(0), Need: []string{"look"}}, 1, gateway.Block, "no"},
		"the zero verdict":     {[]gateway.Verdict{{}}, gateway.Ruling{Reason: "no_rule_matched", Args: n(0)}, 1, gateway.Block, "no_rule_matched"},
		"an unknown decision":  {[]gateway.Verdict{{Decision: 77, Reason: "what"}}, gateway.Ruling{Reason: "what", Args: n(0)}, 1, gateway.Block, "what"},
		"escalate":             {[]gateway.Verdict{escalate}, gateway.Ruling{Decision: gateway.Escalate, Reason: "ask", Args: n(0)}, 1, gateway.Escalate, "ask"},
		"one revision":         {[]gateway.Verdict{up(1), approve}, with(yes, 1, "up"), 2, gateway.Revise, "up"},
		"the first reason":     {[]gateway.Verdict{revise("a", n(1)), revise("b", n(2)), approve}, with(yes, 2, "a", "b"), 3, gateway.Revise, "a"},
		"three revisions":      {[]gateway.Verdict{up(1), up(2), up(3), approve}, with(yes, 3, "up", "up", "up"), 4, gateway.Revise, "up"},
		"a fourth":             {[]gateway.Verdict{up(1), up(2), up(3), up(4)}, with(none, 3, "up", "up", "up"), 4, gateway.Block, "revise_not_convergent"},
		"to and fro":           {[]gateway.Verdict{up(1), up(0), up(1), up(0)}, with(none, 1, "up", "up", "up"), 4, gateway.Block, "revise_not_convergent"},
		"a change of nothing":  {[]gateway.Verdict{up(0)}, none, 1, gateway.Block, "revise_not_convergent"},
		"nothing, later":       {[]gateway.Verdict{up(1), up(1)}, with(none, 1, "up"), 2, gateway.Block, "revise_not_convergent"},
		"a change to nothing":  {[]gateway.Verdict{revise("up", nil)}, none, 1, gateway.Block, "revise_not_convergent"},
		"revise, escalate":     {[]gateway.Verdict{up(1), escalate}, with(gateway.Ruling{Decision: gateway.Escalate, Reason: "ask"}, 1, "up"), 2, gateway.Escalate, "ask"},
		"revise, block":        {[]gateway.Verdict{up(1), blocked}, with(gateway.Ruling{Reason: "no", Need: []string{"look"}}, 1, "up"), 2, gateway.Block, "no"},
		"revise, then no rule": {[]gateway.Verdict{up(1), {}}, with(gateway.Ruling{Reason: "no_rule_matched"}, 1, "up"), 2, gateway.Block, "no_rule_matched"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &script{verdicts: tt.verdicts}
			args := n(0)
			got := gateway.NewGate(gateway.Config{Reviewer: s}).Review(gateway.Case{Tool: "look", Args: args})
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(gateway.Ruling{}), cmpopts.IgnoreFields(gateway.Ruling{}, "Rule", "RevisedBy"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Review, -want +got:\n%s", diff)
			}
			if len(s.asked) != tt.passes {
				t.Errorf("Review took %d passes, want %d", len(s.asked), tt.passes)
			}
			if d, reason := got.Recorded(); d != tt.decision || reason != tt.reason {
				t.Errorf("Recorded() = %s %s, want %s %s", d, reason, tt.decision, tt.reason)
			}
			if args["n"] != 0.0 {
				t.Errorf("Review changed the proposal to %v", args)
			}
			for i, v := range tt.verdicts[:tt.passes-1] { // each pass sees the call as it stands
				if diff := cmp.Diff(v.Args, s.asked[i+1]); diff != "" {
					t.Errorf("pass %d was asked, -want +got:\n%s", i+2, diff)
				}
			}
		})
	}
}

func TestWhatAPersonApprovedIsReviewedAgain(t *testing.T) {
	ask := gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		switch x, _ := c.Args["n"].(float64); {
		case x < 0:
			return gateway.Verdict{Reason: "negative"}
		case x > 100:
			return revise("cap", n(100))
		case x > 10:
			return gateway.Verdict{Decision: gateway.Escalate, Reason: "high"}
		}
		return gateway.Verdict{Decision: gateway.Approve, Reason: "low"}
	})
	gate := gateway.NewGate(gateway.Config{Reviewer: ask})
	tests := map[string]struct {
		args     map[string]any
		decision gateway.Decision
		reason   string
		left     map[string]any
	}{
		"needs nobody":                  {n(5), gateway.Approve, "low", n(5)},
		"escalation is satisfied":       {n(50), gateway.Approve, "high", n(50)},
		"a block counts":                {n(-1), gateway.Block, "negative", n(-1)},
		"what was revised after is not": {n(500), gateway.Escalate, "high", n(100)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := gate.ReviewApproved(gateway.Case{Tool: "look", Args: tt.args}, "")
			if r.Decision != tt.decision || r.Reason != tt.reason {
				t.Errorf("ReviewApproved(%v) = %s %s, want %s %s", tt.args, r.Decision, r.Reason, tt.decision, tt.reason)
			}
			if diff := cmp.Diff(tt.left, r.Args); diff != "" {
				t.Errorf("ReviewApproved(%v) leaves, -want +got:\n%s", tt.args, diff)
			}
		})
	}
	all := gateway.NewGate(gateway.Config{Reviewer: always(gateway.Verdict{Decision: gateway.Escalate, Reason: "high"})})
	if r := all.ReviewApproved(gateway.Case{Answer: "Done."}, ""); r.Decision != gateway.Approve {
		t.Errorf("ReviewApproved of a final answer = %s", r.Decision)
	}
	if r := all.Review(gateway.Case{Answer: "Done."}); r.Decision != gateway.Escalate {
		t.Errorf("Review of a final answer = %s", r.Decision)
	}
}

func TestAdmitRuledTakesOnlyItsOwnRuling(t *testing.T) {
	config := limits(99, 99, 99)
	config.Catalog, config.Execution = tools(t, nil, "look", "more"), []string{"look", "more"}
	config.Reviewer = always(gateway.Verdict{Decision: gateway.Approve, Reason: "fine"})
	fresh := func() *gateway.Gate { return gateway.NewGate(config) }
	judged := gateway.Case{Tool: "look", Args: n(1)}
	proposed := gateway.Proposal{Tool: "look", Args: n(1)}
	tests := map[string]struct {
		ruling   func(g *gateway.Gate) gateway.Ruling
		proposal gateway.Proposal
		ok       bool
	}{
		"its own": {func(g *gateway.Gate) gateway.Ruling { return g.Review(judged) }, proposed, true},
		"equal arguments in another map": {func(g *gateway.Gate) gateway.Ruling { return g.Review(judged) },
			gateway.Proposal{Tool: "look", Args: map[string]any{"n": 1.0}}, true},
		"other arguments": {func(g *gateway.Gate) gateway.Ruling { return g.Review(judged) }, gateway.Proposal{Tool: "look", Args: n(2)}, false},
		"another tool":    {func(g *gateway.Gate) gateway.Ruling { return g.Review(judged) }, gateway.Proposal{Tool: "more", Args: n(1)}, false},
		"another gate's":  {func(*gateway.Gate) gateway.Ruling { return fresh().Review(judged) }, proposed, false},
		"the zero Ruling": {func(*gateway.Gate) gateway.Ruling { return gateway.Ruling{} }, proposed, false},
		"one made by hand": {func(*gateway.Gate) gateway.Ruling { return gateway.Ruling{Decision: gateway.Approve, Args: n(1)} },
			proposed, false},
		"arguments changed by hand": {func(g *gateway.Gate) gateway.Ruling {
			r := g.Review(judged)
			r.Args = n(2)
			return r
		}, gateway.Proposal{Tool: "look", Args: n(2)}, false},
		"the answer's": {func(g *gateway.Gate) gateway.Ruling { return g.Review(gateway.Case{Answer: "x", Args: n(1)}) }, proposed, false},
		"older than what was done": {func(g *gateway.Gate) gateway.Ruling {
			r := g.Review(judged)
			p, _ := g.AdmitRuled(proposed, r)
			g.Note(p, gateway.Entry{Status: gateway.Finished, Order: 1})
			return r
		}, proposed, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			gate := fresh()
			permit, stop := gate.AdmitRuled(tt.proposal, tt.ruling(gate))
			if permit.Valid() != tt.ok || (stop == nil) != tt.ok {
				t.Errorf("AdmitRuled gave a permit: %v, stop %v, want %v", permit.Valid(), stop, tt.ok)
			}
			if stop != nil && stop.Reason != "supervisor_block:no_rule_matched" {
				t.Errorf("AdmitRuled stops with %s", stop.Reason)
			}
		})
	}
}

func TestAdmitWithAReviewer(t *testing.T) {
	tests := map[string]struct {
		verdicts []gateway.Verdict
		want     string // empty: admitted
	}{
		"approve":              {[]gateway.Verdict{{Decision: gateway.Approve}}, ""},
		"block":                {[]gateway.Verdict{{Reason: "no"}}, "policy_block:no"},
		"nobody can be asked":  {[]gateway.Verdict{{Decision: gateway.Escalate, Reason: "ask"}}, "policy_block:ask"},
		"a change is applied":  {[]gateway.Verdict{revise("up", n(2)), {Decision: gateway.Approve, Reason: "fine"}}, ""},
		"a change is no yes":   {[]gateway.Verdict{revise("up", n(2)), {Reason: "no"}}, "policy_block:no"},
		"a change to ask of":   {[]gateway.Verdict{revise("up", n(2)), {Decision: gateway.Escalate, Reason: "ask"}}, "policy_block:ask"},
		"comes to no end":      {[]gateway.Verdict{revise("up", n(1))}, "policy_block:revise_not_convergent"},
		"no rule":              {[]gateway.Verdict{{}}, "policy_block:no_rule_matched"},
		"something else again": {[]gateway.Verdict{{Decision: 200}}, "policy_block:no_rule_matched"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config := limits(99, 99, 99)
			config.Catalog, config.Reviewer = tools(t, nil, "look"), &script{verdicts: tt.verdicts}
			permit, stop := gateway.NewGate(config).Admit(gateway.Proposal{Tool: "look", Args: n(1)})
			got := ""
			if stop != nil {
				got = stop.Reason
			}
			if got != tt.want || permit.Valid() != (tt.want == "") {
				t.Errorf("Admit = %q, permit %v, want %q", got, permit.Valid(), tt.want)
			}
			if changed := permit.Verdict().Decision == gateway.Revise; changed != (permit.Valid() && !ijson.Equal(permit.Args(), n(1))) {
				t.Errorf("it is sent as %v, judged %+v", permit.Args(), permit.Verdict())
			}
		})
	}
}

// What the policy made the same is the same call, however it was proposed; one more attempt at it is no repetition.
func TestWhatIsSentMayNotRepeat(t *testing.T) {
	config := limits(99, 99, 1)
	config.Catalog = tools(t, nil, "look")
	config.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		if c.Args["n"] != 5.0 {
			return gateway.Verdict{Decision: gateway.Revise, Reason: "five", Args: n(5)}
		}
		return gateway.Verdict{Decision: gateway.Approve}
	})
	for name, tt := range map[string]struct {
		second gateway.Proposal
		want   string
	}{
		"as it was sent":   {gateway.Proposal{Tool: "look", Args: n(5)}, "loop_detected"},
		"changed to that":  {gateway.Proposal{Tool: "look", Args: n(8)}, "loop_detected"},
		"as was proposed":  {gateway.Proposal{Tool: "look", Args: n(7)}, "loop_detected"},
		"one more attempt": {gateway.Proposal{Tool: "look", Args: n(7), Again: true}, ""},
	} {
		gate := gateway.NewGate(config)
		if _, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: n(7)}); stop != nil {
			t.Fatalf("%s: the first is refused: %s", name, stop.Reason)
		}
		permit, stop := gate.Admit(tt.second)
		got := ""
		if stop != nil {
			got = stop.Reason
		}
		if got != tt.want || permit.Valid() != (tt.want == "") {
			t.Errorf("%s: Admit = %q, permit %v, want %q", name, got, permit.Valid(), tt.want)
		}
	}
}

func TestReviewSeesTheLedger(t *testing.T) {
	var seen []int
	config := limits(99, 99, 99)
	config.Catalog = tools(t, nil, "look")
	config.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		seen = append(seen, len(c.Effects))
		return gateway.Verdict{Decision: gateway.Approve}
	})
	gate := gateway.NewGate(config)
	for order := 3; order > 0; order-- { // parallel branches may end in any order
		permit, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: n(float64(order))})
		if stop != nil {
			t.Fatal(stop)
		}
		gate.Note(permit, gateway.Entry{Order: order, Status: gateway.Finished})
	}
	if diff := cmp.Diff([]int{0, 1, 2}, seen); diff != "" {
		t.Errorf("the reviewer saw so many calls, -want +got:\n%s", diff)
	}
	var orders []int
	for _, e := range gate.Ledger() {
		orders = append(orders, e.Order)
		if e.Tool != "look" || e.Args["n"] != float64(e.Order) || len(e.Hash) != 12 {
			t.Errorf("the ledger's row %d is %+v", e.Order, e)
		}
	}
	if diff := cmp.Diff([]int{1, 2, 3}, orders); diff != "" {
		t.Errorf("the ledger's order, -want +got:\n%s", diff)
	}
}

func TestZeroDecisionBlocks(t *testing.T) {
	var v gateway.Verdict
	var r gateway.Ruling
	if v.Decision != gateway.Block || r.Decision != gateway.Block {
		t.Errorf("zero Verdict %s, zero Ruling %s, want block", v.Decision, r.Decision)
	}
	for d, want := range map[gateway.Decision]string{0: "block", gateway.Escalate: "escalate", gateway.Revise: "revise", gateway.Approve: "approve", 99: "block"} {
		if d.String() != want {
			t.Errorf("Decision(%d) is %s, want %s", d, d, want)
		}
	}
}
