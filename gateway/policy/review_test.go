package policy_test

import (
	"fmt"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// TestReview holds what one pass comes to.
func TestReview(t *testing.T) {
	p := made(t, orders(), orderReach(t))
	order := map[string]any{"path": "/srv/orders/A-1001.json"}
	read := done("read_order", order, map[string]any{"text": "..."})
	paid := func(cents float64) gateway.Entry {
		return done("refund_charge", map[string]any{"order_id": "A-1001", "amount_cents": cents, "reason": "late parcel"}, map[string]any{"status": "paid"})
	}
	charge := func(cents float64, before ...gateway.Entry) gateway.Case {
		return gateway.Case{Tool: "refund_charge", Args: map[string]any{"order_id": "A-1001", "amount_cents": cents, "reason": "late parcel"}, Effects: before}
	}
	tests := map[string]struct {
		c    gateway.Case
		want string
	}{
		"reading":  {gateway.Case{Tool: "read_order", Args: order}, `approve reading_is_free because {"tool.effect":"read"}`},
		"unread":   {charge(100), `block order_not_read by order_was_read because {"args.order_id":"A-1001","run.effects.exists(e, e.tool == \"read_order\" && e.status == \"done\" && e.args.path.endsWith(args.order_id + \".json\"))":false}`},
		"small":    {charge(100, read), "approve small_refund"},
		"big":      {charge(10001, read), `escalate big_refund because {"args.amount_cents":10001,"params.auto_limit_cents":10000}`},
		"over cap": {charge(1001, read, paid(9000), paid(20000)), `block run_cap because {"args.amount_cents":1001,"params.run_cap_cents":30000,"vars.spent":29000}`},
		"final":    {gateway.Case{Answer: "done"}, "approve may_finish"},
		"unknown":  {gateway.Case{Tool: "find_refund"}, "block no_rule_matched by "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := worded(p.For("refund_order").Review(tt.c)); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestManyEscalate holds that the shortest time and the strictest demand of all rules that escalate count, whichever stands first.
func TestManyEscalate(t *testing.T) {
	day := &policy.EscalateSource{Reason: "asked", Expires: 24 * time.Hour, Least: gateway.UserAssurance}
	plain := &policy.EscalateSource{}
	signed := &policy.EscalateSource{Expires: time.Minute, Least: gateway.SignedAssurance}
	tests := map[string]struct {
		second, third *policy.EscalateSource
		when          string // of the third
		want          string
	}{
		"stricter below":      {day, signed, "true", "asked by second, 1m0s, signed"},
		"stricter above":      {signed, day, "true", "second by second, 1m0s, signed"},
		"nothing said above":  {plain, signed, "true", "second by second, 1m0s, signed"},
		"nothing said below":  {signed, plain, "true", "second by second, 1m0s, signed"},
		"each the stricter":   {&policy.EscalateSource{Expires: time.Minute}, &policy.EscalateSource{Least: gateway.SignedAssurance}, "true", "second by second, 1m0s, signed"},
		"stricter, but false": {day, signed, "args.amount_cents > 100", "asked by second, 24h0m0s, user"},
		"nothing said":        {plain, plain, "true", "second by second, 0s, "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			match := []string{"refund_charge"}
			judge := only(t, policy.RuleSource{ID: "second", Match: match, Escalate: tt.second}, policy.RuleSource{ID: "third", Match: match, When: tt.when, Escalate: tt.third})
			v := judge.Review(charge(5.0))
			if got := v.Reason + " by " + v.Rule + ", " + v.Expires.String() + ", " + string(v.Least); v.Decision != gateway.Escalate || got != tt.want {
				t.Errorf("%s %s, want %s", v.Decision, got, tt.want)
			}
		})
	}
}

// TestShownIsBounded holds that nothing that costs much is computed only to be shown, and that few things are looked at.
func TestShownIsBounded(t *testing.T) {
	const costly = `lists.range(%d).all(x, x + args.amount_cents > 0)`
	shown := func(when string, vars ...policy.Named) string {
		s := orders()
		s.Vars = append(s.Vars, vars...)
		s.Rules = append([]policy.RuleSource{{ID: "new", Match: []string{"refund_charge"}, When: when, Block: &policy.BlockSource{}}}, s.Rules...)
		p, faults := policy.New(s, orderReach(t))
		if p == nil {
			t.Fatal(inMembers(faults))
		}
		v := p.For("refund_order").Review(charge(5.0))
		if v.Rule != "new" {
			t.Fatalf("%.60s: %s", when, worded(v))
		}
		return jsonOf(v.Values)
	}
	few, many := fmt.Sprintf(costly, 100), fmt.Sprintf(costly, 20_000)
	heavy := policy.Named{Name: "heavy", Text: many}
	tests := map[string]struct{ got, want string }{
		"cheap":             {shown(`args.amount_cents == 5 && ` + few), `{"args.amount_cents":5,"` + few + `":true}`},
		"costly":            {shown(`args.amount_cents == 5 && ` + many), `{"args.amount_cents":5}`},
		"var, computed":     {shown(`args.amount_cents == 5 && vars.heavy`, heavy), `{"args.amount_cents":5,"vars.heavy":true}`},
		"var, not yet":      {shown(`args.amount_cents == 5 || vars.heavy`, heavy), `{"args.amount_cents":5}`},
		"var of such a var": {shown(`args.amount_cents == 5 || vars.of`, heavy, policy.Named{Name: "of", Text: "!vars.heavy"}), `{"args.amount_cents":5}`},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: shown are %s, want %s", name, tt.got, tt.want)
		}
	}
	for behind, want := range map[int]bool{31: true, 32: false} {
		s, text := orders(), ""
		for i := range behind {
			name := fmt.Sprint("list", i)
			s.Params = append(s.Params, policy.Param{Name: name, Value: []any{1.0}})
			text += "size(params." + name + ") == 1 && "
		}
		s.Rules = append([]policy.RuleSource{{ID: "new", Match: []string{"refund_charge"}, When: text + "args.amount_cents == 5", Block: &policy.BlockSource{}}}, s.Rules...)
		v := made(t, s, orderReach(t)).For("refund_order").Review(charge(5.0))
		if _, got := v.Values["args.amount_cents"]; v.Rule != "new" || got != want {
			t.Errorf("behind %d lists: %s, want it shown: %v", behind, worded(v), want)
		}
	}
}
