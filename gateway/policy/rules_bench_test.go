package policy_test

import (
	"fmt"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// manyTools are tools with arguments of their own beside a common one.
func manyTools(b testing.TB, n int) (*catalog.Catalog, []string) {
	b.Helper()
	var tools []catalog.Tool
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("charge_%d", i))
		tools = append(tools, tool(b, names[i], catalog.Write, "order_id", `{"type": "string", "pattern": "^A-[0-9]{4}$"}`, "amount_cents", `{"type": "integer", "minimum": 1}`,
			fmt.Sprintf("own_%d", i), `{"type": "string"}`, "reason?", `{"type": "string", "enum": ["late", "broken", "other"]}`, "notify?", `{"type": "boolean"}`))
	}
	c, err := catalog.New(tools...)
	if err != nil {
		b.Fatal(err)
	}
	return c, names
}

// manyRules are rules of the kinds that a team writes, over tools in turn.
func manyRules(n int, tools []string) policy.Source {
	s := policy.Source{
		Name:   "many",
		Params: []policy.Param{{Name: "cap_cents", Value: 5_000_000.0}, {Name: "auto_cents", Value: 900_000.0}},
		Vars:   []policy.Named{{Name: "spent", Text: `sum(run.effects.filter(e, e.counts && e.effect == "write").map(e, e.args.amount_cents))`}},
	}
	for i := range n {
		name := tools[i%len(tools)]
		r := policy.RuleSource{ID: fmt.Sprintf("rule_%d", i), Match: []string{name}}
		switch (i / len(tools)) % 6 {
		case 0:
			r.When, r.Block = `vars.spent + args.amount_cents > params.cap_cents`, &policy.BlockSource{}
		case 1:
			r.When, r.Block = `args.amount_cents > 1000000`, &policy.BlockSource{}
		case 2:
			r.When, r.Escalate = `args.amount_cents > params.auto_cents && run.steps > 3`, &policy.EscalateSource{}
		case 3:
			r.When, r.Block = fmt.Sprintf(`args.own_%d == "forbidden" || args.order_id == "A-0000"`, i%len(tools)), &policy.BlockSource{}
		case 4:
			r.When, r.Block = `has(args.reason) && args.reason == "other" && principal.kind == "token"`, &policy.BlockSource{}
		default:
			r.Approve = true
		}
		s.Rules = append(s.Rules, r)
	}
	return s
}

// review measures one pass over a call with three others before it.
func review(b *testing.B, rules, tools int) {
	c, names := manyTools(b, tools)
	p := made(b, manyRules(rules, names), policy.Reach{Catalog: c, Patterns: []policy.Reached{{Name: "p", Kind: gateway.Supervisor, Tools: names}}})
	before := gateway.Case{Tool: "charge_0", Args: map[string]any{"order_id": "A-1001", "amount_cents": 4900.0, "own_0": "x", "reason": "late"}, Facts: gateway.Facts{Steps: 1}}
	for range 3 {
		before.Effects = append(before.Effects, gateway.Entry{Tool: "charge_0", Effect: catalog.Write, Status: gateway.Finished, Args: before.Args, Observation: map[string]any{"status": "paid"}})
	}
	judge := p.For("p")
	if v := judge.Review(before); v.Decision != gateway.Approve {
		b.Fatal(worded(v))
	}
	b.ReportAllocs()
	for b.Loop() {
		judge.Review(before)
	}
}

// BenchmarkReview20 reviews a call that all of 20 rules match; at most 15 µs.
func BenchmarkReview20(b *testing.B) { review(b, 20, 1) }

// BenchmarkReview200 reviews a call under 200 rules over 10 tools; at most 60 µs.
func BenchmarkReview200(b *testing.B) { review(b, 200, 10) }

// BenchmarkLoad100x200 compiles 100 rules over 200 tools, some of them for all tools; at most 75 ms.
func BenchmarkLoad100x200(b *testing.B) {
	c, names := manyTools(b, 200)
	s := manyRules(100, names)
	for i := range 10 {
		s.Rules[i].Match = nil
		s.Rules[i].When = fmt.Sprintf(`args.amount_cents > %d && vars.spent > 0`, 1_000_000+i)
		s.Rules[10+i].Match = names[i*10 : i*10+10]
		s.Rules[20+i].Match, s.Rules[20+i].When = nil, `tool.effect == "destructive"`
	}
	reach := policy.Reach{Catalog: c, Patterns: []policy.Reached{{Name: "p", Kind: gateway.Supervisor, Tools: names}}}
	for b.Loop() {
		if p, faults := policy.New(s, reach); p == nil {
			b.Fatal(inMembers(faults))
		}
	}
}
