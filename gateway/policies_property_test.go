package gateway_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
)

// drawnRule is a rule over one number and what was spent before it.
type drawnRule struct {
	above    float64 // of n
	spent    float64 // of all that counts before; a rule asks for more
	decision gateway.Decision
	to       float64 // of a revise
	step     float64
	least    gateway.Assurance
}

// drawnPolicy is a reviewer as section 5.1 of the configuration tells it, in a few lines.
type drawnPolicy []drawnRule

func spentOf(effects []gateway.Entry) (sum float64) {
	for _, e := range effects {
		if n, ok := e.Args["n"].(float64); ok && e.Counts() {
			sum += n
		}
	}
	return sum
}

// Review implements [gateway.Reviewer].
func (p drawnPolicy) Review(c gateway.Case) gateway.Verdict {
	n, _ := c.Args["n"].(float64)
	spent := spentOf(c.Effects)
	v := gateway.Verdict{Reason: gateway.NoRuleMatched}
	for i, r := range p {
		if n <= r.above || spent < r.spent {
			continue
		}
		reason := fmt.Sprintf("rule_%d", i)
		switch r.decision {
		case gateway.Block:
			return gateway.Verdict{Reason: reason, Rule: reason}
		case gateway.Revise:
			if v.Decision != gateway.Revise {
				v = gateway.Verdict{Decision: gateway.Revise, Reason: reason, Args: map[string]any{"n": r.to + r.step*n}}
			}
		case gateway.Escalate:
			if v.Decision == gateway.Block || v.Decision == gateway.Approve {
				v = gateway.Verdict{Decision: gateway.Escalate, Reason: reason, Least: r.least}
			}
		case gateway.Approve:
			if v.Decision == gateway.Block {
				v = gateway.Verdict{Decision: gateway.Approve, Reason: reason}
			}
		}
	}
	return v
}

func drawnPolicyOf(t *rapid.T, name string) drawnPolicy {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) drawnRule {
		return drawnRule{
			above: rapid.SampledFrom([]float64{-1, -1, 2, 5, 20, 60}).Draw(t, "above"), spent: rapid.SampledFrom([]float64{0, 0, 1, 40, 90}).Draw(t, "spent"),
			decision: rapid.SampledFrom([]gateway.Decision{gateway.Approve, gateway.Approve, gateway.Escalate, gateway.Revise, gateway.Block}).Draw(t, "decision"),
			to:       rapid.SampledFrom([]float64{0, 5, 50, 101}).Draw(t, "to"), step: rapid.SampledFrom([]float64{0, 0, 0.5, 1}).Draw(t, "step"),
			least: rapid.SampledFrom([]gateway.Assurance{"", gateway.UserAssurance, gateway.SignedAssurance}).Draw(t, "least"),
		}
	}), 1, 5).Draw(t, name)
}

// gated is one run's gate with what a person said in it, and what must be true of it.
type gated struct {
	*rapid.T
	catalog  *catalog.Catalog
	gate     *gateway.Gate
	policies []drawnPolicy
	approved map[string]bool // arguments that a person approved, canonical
	under    []gateway.Permit
	rulings  []gateway.Ruling // made earlier, perhaps of another gate
	executed map[string]int
	order    int
	met      map[string]int
}

const drawnCalls = 6

// TestNothingIsExecutedBesidePolicies proposes, approves, edits, retries with rulings that are old, of another gate or tampered with,
// spends plans, and makes and takes back calls, in any order, under one or two policies and budgets. What is permitted in the end no
// policy blocks or changes as it stands; where one of them escalates it, a person approved exactly that; and no budget is passed.
func TestNothingIsExecutedBesidePolicies(t *testing.T) {
	met := map[string]int{}
	c := payCatalog(t)
	envelope := func(n any) planning.Envelope { return payEnvelope(t, map[string]any{"n": n}) }
	acts := func(rt *rapid.T) {
		pattern := drawnPolicyOf(rt, "pattern")
		policies, reviewer := []drawnPolicy{pattern}, gateway.Reviewer(pattern)
		if rapid.Bool().Draw(rt, "two") {
			own := drawnPolicyOf(rt, "tool")
			policies, reviewer = append(policies, own), gateway.Among{Pattern: pattern, Tools: map[string]gateway.Reviewer{"pay": own}}
		}
		budget := gateway.NoBudget()
		budget.MaxSameCall = 2
		config := gateway.Config{Catalog: c, Execution: c.Names(), Budget: budget, Reviewer: reviewer, Calls: []gateway.CallBudget{{Limit: drawnCalls, Reason: "max_tool_calls"}}}
		g := &gated{T: rt, catalog: c, gate: gateway.NewGate(config), policies: policies, approved: map[string]bool{}, executed: map[string]int{}, met: met}
		other := gateway.NewGate(config)
		for range rapid.IntRange(1, 14).Draw(rt, "acts") {
			p := gateway.Proposal{Tool: "pay", Args: g.args("n"), Attempt: 1}
			switch rapid.IntRange(0, 8).Draw(rt, "act") {
			case 0, 1, 2:
				permit, stop := g.gate.Admit(p)
				g.take(permit)
				if stop != nil && stop.Asks != nil {
					g.answered(p, *stop.Asks)
				}
			case 3:
				ruling := g.gate.Review(gateway.Case{Tool: "pay", Args: p.Args})
				g.rulings = append(g.rulings, ruling, other.Review(gateway.Case{Tool: "pay", Args: p.Args}))
			case 4: // a ruling from before
				if len(g.rulings) > 0 {
					ruling := g.tampered(rapid.SampledFrom(g.rulings).Draw(rt, "ruling"))
					p.Args = ruling.Args
					permit, _ := g.gate.AdmitRuled(p, ruling)
					g.take(permit)
				}
			case 5:
				g.finish()
			case 6:
				if len(g.under) > 0 {
					g.gate.Release(g.under[0])
					g.under = g.under[1:]
					g.met["taken back"]++
				}
			case 7: // as a step of a plan that a person approved whole
				shown := rapid.SampledFrom([]any{"$results.l./n", p.Args["n"], 5.0}).Draw(rt, "shown")
				plan := planning.ApprovedPlan{Approval: asked, Envelope: envelope(shown), Assurance: rapid.SampledFrom([]gateway.Assurance{"", gateway.UserAssurance, gateway.SignedAssurance}).Draw(rt, "sure")}
				permit, ok := planning.AdmitShared(g.gate, p, plan, "p")
				if ok {
					g.approved[key(p.Args)] = shown == "$results.l./n" || shown == p.Args["n"]
					g.met["shared"]++
				}
				g.take(permit)
			case 8: // the same call of an act that was let through
				if len(g.under) > 0 {
					was := g.under[0]
					permit, _ := g.gate.Rejudge(gateway.Proposal{Tool: "pay", Attempt: 2, Again: true}, was, gateway.UserAssurance)
					if permit.Valid() {
						g.met["judged again"]++
						g.judged(permit.Args())
					}
				}
			}
		}
	}
	rapid.Check(t, acts)
	for range 80 { // what chance has left out so far
		if len(missing(met)) == 0 {
			return
		}
		rapid.Check(t, acts)
	}
	for _, what := range missing(met) {
		t.Errorf("never %s: %v", what, met)
	}
}

// missing is what must happen in these runs and has not.
func missing(met map[string]int) (list []string) {
	for _, what := range []string{"executed", "approved by a person", "shared", "taken back", "judged again", "answered with an edit", "an old ruling"} {
		if met[what] == 0 {
			list = append(list, what)
		}
	}
	return list
}

func key(args map[string]any) string { return compact(args) }

func (g *gated) args(name string) map[string]any {
	return map[string]any{"n": rapid.SampledFrom([]float64{0, 1, 3, 5, 10, 50, 80}).Draw(g.T, name)}
}

// answered is what a person does with a question: nothing, approve, or edit. What they decide is judged once more.
func (g *gated) answered(p gateway.Proposal, asks gateway.Ruling) {
	args := asks.Args
	switch rapid.IntRange(0, 3).Draw(g.T, "answer") {
	case 0:
		return
	case 1:
		args = g.args("edit")
		g.met["answered with an edit"]++
	}
	g.approved[key(args)] = true
	ruling := g.gate.ReviewApproved(gateway.Case{Tool: "pay", Args: args}, asked)
	g.rulings = append(g.rulings, ruling)
	if rapid.Bool().Draw(g.T, "something else first") {
		g.finish()
	}
	p.Args = ruling.Args
	permit, _ := g.gate.Approved(p, ruling)
	g.take(permit)
}

// tampered is a ruling, perhaps with what can be seen of it changed.
func (g *gated) tampered(r gateway.Ruling) gateway.Ruling {
	switch rapid.IntRange(0, 3).Draw(g.T, "tamper") {
	case 0:
		r.Decision = gateway.Approve
	case 1:
		r.Args = g.args("other")
	case 2:
		r.Revisions, r.Reason, r.Unknown = nil, "approved", false
	}
	g.met["an old ruling"]++
	return r
}

// take takes a permit, and reserves its call.
func (g *gated) take(p gateway.Permit) {
	if !p.Valid() {
		return
	}
	g.judged(p.Args())
	g.executed[key(p.Args())]++
	g.met["executed"]++
	g.gate.Reserve(p)
	g.under = append(g.under, p)
}

// judged holds a call against every policy as it stands, before it is reserved.
func (g *gated) judged(args map[string]any) {
	before := g.gate.Ledger()
	for _, p := range g.under {
		before = append(before[:len(before):len(before)], gateway.Entry{Tool: "pay", Status: gateway.Reserved, Args: p.Args()})
	}
	for i, policy := range g.policies {
		v := policy.Review(gateway.Case{Tool: "pay", Args: args, Effects: before})
		switch {
		case v.Decision == gateway.Escalate && g.approved[key(args)]:
			g.met["approved by a person"]++
		case v.Decision != gateway.Approve:
			g.Fatalf("%s is let through, and policy %d says %s (spent %v, a person approved %v)", key(args), i, said(v), spentOf(before), g.approved)
		}
	}
	if tool, _ := g.catalog.Tool("pay"); len(tool.Check(args)) > 0 {
		g.Fatalf("%s does not fit the tool", key(args))
	}
	if g.gate.Asked() > drawnCalls {
		g.Fatalf("%d calls count", g.gate.Asked())
	}
}

// finish notes what became of the first call under way.
func (g *gated) finish() {
	if len(g.under) == 0 {
		return
	}
	status := rapid.SampledFrom([]gateway.EffectStatus{gateway.Finished, gateway.Failed, gateway.InDoubt}).Draw(g.T, "status")
	g.order++
	g.gate.Note(g.under[0], gateway.Entry{Key: fmt.Sprint(g.order), Order: g.order, Status: status, Observation: map[string]any{}})
	g.under = g.under[1:]
}

// What approved a call because of another that might happen approves it no more when that one is taken back.
func TestRulingsEndWithWhatTheySaw(t *testing.T) {
	c := payCatalog(t)
	rules := drawnPolicy{{above: 20, decision: gateway.Approve}, {above: -1, spent: 40, decision: gateway.Approve}}
	for name, back := range map[string]func(*gateway.Gate, gateway.Permit){
		"released":          func(g *gateway.Gate, p gateway.Permit) { g.Release(p) },
		"released by place": func(g *gateway.Gate, _ gateway.Permit) { g.ReleaseIn("a") },
	} {
		t.Run(name, func(t *testing.T) {
			g := gateway.NewGate(gateway.Config{Catalog: c, Execution: c.Names(), Budget: gateway.NoBudget(), Reviewer: rules})
			first, stop := g.Admit(gateway.Proposal{Tool: "pay", Args: map[string]any{"n": 50.0}})
			if stop != nil {
				t.Fatal(stop)
			}
			g.ReserveIn("a", first)
			if name == "released" {
				g.ReleaseIn("a")
				g.Reserve(first)
			}
			p := gateway.Proposal{Tool: "pay", Args: map[string]any{"n": 3.0}}
			ruling := g.Review(gateway.Case{Tool: p.Tool, Args: p.Args})
			if ruling.Decision != gateway.Approve {
				t.Fatal(ruling.Decision)
			}
			back(g, first)
			if permit, _ := g.AdmitRuled(p, ruling); permit.Valid() {
				t.Error("it is admitted, and the policy would block it")
			}
		})
	}
}

// payCatalog has a tool that reads and two that write; of one the amount has bounds.
func payCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	tool := func(name string, effect catalog.Effect, input string) catalog.Tool {
		schema, err := catalog.CompileSchema([]byte(input))
		if err != nil {
			t.Fatal(err)
		}
		return catalog.Tool{Name: name, Effect: effect, Input: schema, Do: func(context.Context, catalog.Call) (any, error) { return map[string]any{}, nil }}
	}
	c, err := catalog.New(
		tool("look", catalog.Read, `{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}`),
		tool("pay", catalog.Write, `{"type":"object","description":"Words.","properties":{"n":{"type":"number","minimum":0,"maximum":100,"description":"Words."},
			"to":{"type":"string"},"tags":{"type":"array","items":{"enum":["a","b"]}},"note":{"type":"object"}},"required":["n"],"additionalProperties":false}`),
		tool("burn", catalog.Destructive, `{"type":"object"}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// payEnvelope is a plan of two steps, of which p pays.
func payEnvelope(t testing.TB, args map[string]any) planning.Envelope {
	t.Helper()
	c := payCatalog(t)
	return planning.Envelope{
		Plan: "plan_0123456789abcdef", Revision: 1, Goal: "pay",
		Steps: []planning.EnvelopeStep{
			planning.NewEnvelopeStep(planning.Subtask{ID: "l", Tool: "look", Description: "Look."}, c),
			planning.NewEnvelopeStep(planning.Subtask{ID: "p", Tool: "pay", Args: args, Description: "Pay."}, c),
		},
	}
}
