package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// TestNothingPassesBesideRules proposes calls under rules that were drawn, has a person approve or edit what is put to them, and
// holds what was approved in the end: one more pass would not block or change it, and where a rule escalates it, a person
// approved exactly that.
func TestNothingPassesBesideRules(t *testing.T) {
	tool, _ := orderTools(t).Tool("refund_charge")
	met := map[gateway.Decision]int{}
	rapid.Check(t, func(t *rapid.T) {
		judge := drawnPolicy(t)
		args := drawnArgs(t)
		var approved map[string]any // by the person
		var r gateway.Ruling
		for range 4 {
			c := gateway.Case{Tool: "refund_charge", Args: args, Facts: gateway.Facts{Steps: 2}}
			r = gateway.JudgeAlone(judge, tool, c, approved != nil)
			if r.Decision != gateway.Escalate {
				break
			}
			approved = r.Args
			if rapid.Bool().Draw(t, "edits") {
				approved = drawnArgs(t)
			}
			args = approved
		}
		met[r.Decision]++
		if r.Decision != gateway.Approve {
			return
		}
		v := judge.Review(gateway.Case{Tool: "refund_charge", Args: r.Args, Facts: gateway.Facts{Steps: 2}})
		byPerson := v.Decision == gateway.Escalate && approved != nil && jsonOf(approved) == jsonOf(r.Args)
		if v.Decision != gateway.Approve && !byPerson {
			t.Fatalf("%s was approved (a person had approved %s), and one more pass says %s", jsonOf(r.Args), jsonOf(approved), worded(v))
		}
	})
	if met[gateway.Approve] == 0 || met[gateway.Block] == 0 {
		t.Errorf("met %v", met)
	}
}

func drawnArgs(t *rapid.T) map[string]any {
	return map[string]any{
		"order_id": "A-1001", "amount_cents": float64(rapid.IntRange(1, 40).Draw(t, "cents")),
		"reason": rapid.SampledFrom([]string{"late parcel", "broken glass"}).Draw(t, "reason"),
	}
}

func drawnPolicy(t *rapid.T) *policy.Judge {
	s := orders()
	s.Rules = nil
	for i := range rapid.IntRange(2, 7).Draw(t, "rules") {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		when := rapid.SampledFrom([]string{
			"", fmt.Sprintf("args.amount_cents > %d", limit), fmt.Sprintf("args.amount_cents < %d", limit), `args.reason == "late parcel"`,
			fmt.Sprintf("args.amount_cents %% %d == 0", limit), fmt.Sprintf("10 / (args.amount_cents - %d) > 0", limit), "vars.spent + args.amount_cents > 30",
		}).Draw(t, "when")
		r := policy.RuleSource{ID: fmt.Sprintf("rule_%d", i), Match: []string{"refund_charge"}, When: when}
		switch rapid.SampledFrom([]string{"approve", "approve", "block", "escalate", "revise", "revise"}).Draw(t, "outcome") {
		case "approve":
			r.Approve = true
		case "block":
			r.Block = &policy.BlockSource{}
		case "escalate":
			r.Escalate = &policy.EscalateSource{}
		default:
			to := rapid.SampledFrom([]policy.ReviseSource{
				{Argument: "amount_cents", Value: float64(limit)}, {Argument: "amount_cents", Text: "args.amount_cents - 1"}, {Argument: "amount_cents", Text: "args.amount_cents / 2"},
				{Argument: "reason", Text: `args.reason == "late parcel" ? "broken glass" : "late parcel"`},
			}).Draw(t, "to")
			r.Revise = []policy.ReviseSource{to}
		}
		s.Rules = append(s.Rules, r)
	}
	reach := policy.Reach{Catalog: drawnCatalog, Patterns: []policy.Reached{{Name: "p", Kind: gateway.Supervisor, Tools: []string{"refund_charge"}}}}
	p, faults := policy.New(s, reach)
	if p == nil {
		t.Fatalf("%v", inMembers(faults))
	}
	return p.For("p")
}

var drawnCatalog = func() *catalog.Catalog {
	input, err := catalog.CompileSchema([]byte(`{"type": "object", "additionalProperties": false, "required": ["order_id", "amount_cents", "reason"], "properties": {
		"order_id": {"type": "string"}, "amount_cents": {"type": "integer", "minimum": 1}, "reason": {"type": "string"}}}`))
	if err != nil {
		panic(err)
	}
	c, err := catalog.New(catalog.Tool{Name: "refund_charge", Effect: catalog.Write, Input: input, Do: nothing})
	if err != nil {
		panic(err)
	}
	return c
}()

// TestEveryMisspelling misspells every argument of 50 schemas in every letter: each is a fault at its place that names the right
// one, or lists what there is.
func TestEveryMisspelling(t *testing.T) {
	words := []string{"order", "amount_cents", "reason", "customer", "account_id", "path", "recipient", "subject", "currency", "quantity", "due_date", "iban", "token", "limit"}
	types := []string{`{"type": "string"}`, `{"type": "integer"}`, `{"type": "number"}`, `{"type": "boolean"}`, `{"type": "array", "items": {"type": "string"}}`, `{"type": "object", "properties": {"a": {"type": "string"}}}`}
	misspelt := 0
	for i := range 50 {
		var arguments, names []string
		for j := range 2 + i%5 {
			name := words[(i*3+j*5)%len(words)]
			if j >= 3 {
				name += fmt.Sprint("_", j)
			}
			names = append(names, name)
			arguments = append(arguments, name, types[(i+j)%len(types)])
		}
		c, err := catalog.New(tool(t, "act", catalog.Write, arguments...))
		if err != nil {
			t.Fatal(err)
		}
		reach := policy.Reach{Catalog: c, Patterns: []policy.Reached{{Name: "p", Kind: gateway.Supervisor, Tools: []string{"act"}}}}
		var s policy.Source
		var wrong, right []string
		for _, name := range names {
			for at := range name {
				bad := name[:at] + "x" + name[at+1:]
				if name[at] == 'x' || strings.Contains(" "+strings.Join(names, " ")+" ", " "+bad+" ") {
					continue
				}
				s.Rules = append(s.Rules, policy.RuleSource{ID: fmt.Sprint("rule_", len(wrong)), When: "tool.idempotent && has(args." + bad + ")", Block: &policy.BlockSource{}})
				wrong, right = append(wrong, bad), append(right, name)
			}
		}
		p, faults := policy.New(s, reach)
		if p != nil || len(faults) != len(wrong) {
			t.Fatalf("%v: %d faults of %d misspellings: %v", names, len(faults), len(wrong), inMembers(faults))
		}
		for k, f := range faults {
			misspelt++
			meant := f.DidYouMean == right[k] || f.DidYouMean == "" && strings.Contains(f.Reason, right[k])
			if f.Member != fmt.Sprintf("rules[%d].when", k) || f.Offset != strings.Index(s.Rules[k].When, wrong[k]) || f.Column != f.Offset+1 || !meant {
				t.Errorf("args.%s: %s at %s %d", wrong[k], f, f.Member, f.Offset)
			}
		}
	}
	if misspelt < 500 {
		t.Errorf("only %d misspellings", misspelt)
	}
}

// FuzzPolicy compiles and judges by any conditions, changes and vars: it never panics, a policy comes without a fault that is
// more than a warning, what is judged twice is judged alike, and what is approved fits the tool.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{
		`vars.v > 3`, `args.amount_cents > params.cap`, `run.effects.exists(e, e.counts && e.args.amount_cents > 5)`, `args.reason.matches("(a+)+$")`,
		`size(windows.day.effects) > 3`, `has(input.order_id) && now - windows.day.since > duration("1h")`, `tool.name == "final"`, `1 / 0 == 1`, `vars.vars`, `"\n"`,
		`run.effects.map(e, e.result).exists(r, has(r.error))`, `run == run`, `dyn(args) == dyn(run)`, `[run, vars, windows].size() > 0`, `string(args.amount_cents)`,
	} {
		f.Add(seed, `args.amount_cents - 1`, `run.steps`)
	}
	reach := orderReach(f)
	tool, _ := reach.Catalog.Tool("refund_charge")
	f.Fuzz(func(t *testing.T, when, to, v string) {
		s := policy.Source{
			Name: "fuzzed", Params: []policy.Param{{Name: "cap", Value: 5.0}}, Vars: []policy.Named{{Name: "v", Text: v}},
			Windows: []policy.WindowSource{{Name: "day", Tools: []string{"refund_charge"}, Calendar: "day"}},
			Rules: []policy.RuleSource{
				{ID: "all", Approve: true}, {ID: "block", Match: []string{"refund_charge"}, When: when, Block: &policy.BlockSource{}},
				{ID: "revise", Match: []string{"refund_charge"}, When: `args.amount_cents > 100`, Revise: []policy.ReviseSource{{Argument: "amount_cents", Text: to}}},
				{ID: "everywhere", When: when, Escalate: &policy.EscalateSource{}},
			},
		}
		p, faults := policy.New(s, reach)
		for _, fault := range faults {
			if fault.Reason == "" || p != nil && !fault.Warning || fault.Line < 1 || fault.Column < 1 {
				t.Fatalf("%q: %+v", when, fault)
			}
		}
		if p == nil {
			if len(faults) == 0 {
				t.Fatalf("%q: neither a policy nor a fault", when)
			}
			return
		}
		c := charge(4900.0)
		c.Effects = []gateway.Entry{done("read_order", map[string]any{"path": "/srv/orders/A-1001.json"}, nil), {Tool: "refund_charge", Status: gateway.Reserved, Args: c.Args}, {Assumed: true}}
		judge := p.For("refund_order")
		r, again := gateway.JudgeAlone(judge, tool, c, false), gateway.JudgeAlone(judge, tool, c, false)
		if ruled(r) != ruled(again) {
			t.Fatalf("%q: %s, then %s", when, ruled(r), ruled(again))
		}
		if r.Decision == gateway.Approve && tool.Check(r.Args) != nil {
			t.Fatalf("%q: approved %s", when, jsonOf(r.Args))
		}
		judge.Review(gateway.Case{Tool: "refund_charge"})
		judge.Windows("refund_charge")
		judge.Asks("refund_charge")
	})
}
