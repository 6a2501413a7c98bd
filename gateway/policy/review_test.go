package policy_test

import (
	"testing"

	"patterngate/gateway"
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
