package policy_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// TestRows holds what running a test says.
func TestRows(t *testing.T) {
	s := orders()
	s.Windows = []policy.WindowSource{{Name: "hour", Tools: []string{"refund_charge"}, Seconds: 3600}}
	s.Rules = append(s.Rules,
		policy.RuleSource{ID: "often", Match: []string{"refund_charge"}, When: `size(windows.hour.effects.filter(e, e.counts)) > 2`, Block: &policy.BlockSource{}},
		policy.RuleSource{ID: "odd", Match: []string{"refund_charge"}, When: `args.amount_cents == 13`, Revise: []policy.ReviseSource{{Argument: "amount_cents", Value: 14.0}}},
		policy.RuleSource{ID: "token", Match: []string{"refund_charge"}, When: `principal.kind == "token" || client.name == "bot" || now < timestamp("2000-01-01T00:00:00Z") || has(input.order_id) && input.order_id == "A-0000"`, Block: &policy.BlockSource{}})
	p := made(t, s, orderReach(t))
	args := func(cents float64) map[string]any {
		return map[string]any{"order_id": "A-1001", "amount_cents": cents, "reason": "late parcel"}
	}
	read := policy.RowEffect{Tool: "read_order", Args: map[string]any{"path": "/srv/orders/A-1001.json"}}
	paid := func(cents, ago float64, other bool) policy.RowEffect {
		return policy.RowEffect{Tool: "refund_charge", Args: args(cents), SecondsAgo: ago, OtherRun: other}
	}
	no := false
	row := func(want gateway.Decision, cents float64, before ...policy.RowEffect) policy.Row {
		return policy.Row{Name: "row", Call: policy.RowCall{Tool: "refund_charge", Args: args(cents)}, Want: want, Effects: before}
	}
	tests := map[string]struct {
		row    policy.Row
		change func(*policy.Row)
		want   string
	}{
		"as wanted":           {row(gateway.Approve, 100, read), nil, ""},
		"in the file's words": {row(gateway.Escalate, 12000, read, paid(49000, 0, false)), nil, "want escalate, got block run_cap (vars.spent 49000, params.run_cap_cents 50000)"},
		"a pattern's params":  {row(gateway.Approve, 100, read, paid(29950, 0, false)), func(r *policy.Row) { r.Pattern = "refund_order" }, "want approve, got block run_cap (vars.spent 29950, params.run_cap_cents 30000)"},
		"own params":          {row(gateway.Escalate, 100, read), func(r *policy.Row) { r.Params = map[string]any{"auto_limit_cents": 99.0} }, ""},
		"another reason":      {row(gateway.Escalate, 12000, read), func(r *policy.Row) { r.WantReason = "too_big" }, "want escalate too_big, got escalate big_refund (params.auto_limit_cents 10000)"},
		"the reason":          {row(gateway.Escalate, 12000, read), func(r *policy.Row) { r.WantReason, r.WantRule = "big_refund", "big_refund" }, ""},
		"another rule":        {row(gateway.Approve, 100, read), func(r *policy.Row) { r.WantRule = "big_refund" }, "want approve by big_refund, got approve small_refund"},
		"need":                {row(gateway.Block, 100), func(r *policy.Row) { r.WantNeed = []string{"read_order"} }, ""},
		"other need":          {row(gateway.Block, 100), func(r *policy.Row) { r.WantNeed = []string{} }, "want no need, got need read_order"},
		"not ok":              {row(gateway.Approve, 12000, read, policy.RowEffect{Tool: "refund_charge", Args: args(49000), OK: &no}), func(r *policy.Row) { r.Approved = true }, ""},
		"failed":              {row(gateway.Escalate, 12000, read, policy.RowEffect{Tool: "refund_charge", Args: args(49000), Status: gateway.Failed}), nil, ""},
		"in doubt":            {row(gateway.Block, 12000, read, policy.RowEffect{Tool: "refund_charge", Args: args(49000), Status: gateway.InDoubt}), nil, ""},
		"approved":            {row(gateway.Approve, 12000, read), func(r *policy.Row) { r.Approved, r.WantRule = true, "big_refund" }, ""},
		"revised":             {row(gateway.Revise, 13, read), func(r *policy.Row) { r.WantReason, r.WantArgs = "odd", map[string]any{"amount_cents": 14.0} }, ""},
		"revised otherwise":   {row(gateway.Revise, 13, read), func(r *policy.Row) { r.WantArgs = map[string]any{"amount_cents": 15.0} }, "want args.amount_cents 15, got 14"},
		"revised, approved":   {row(gateway.Revise, 13, read), func(r *policy.Row) { r.Approved, r.Params = true, map[string]any{"auto_limit_cents": 1.0} }, ""},
		"three within":        {row(gateway.Block, 100, read, paid(1, 3600, true), paid(1, 5, true), paid(1, 5, false)), func(r *policy.Row) { r.WantRule = "often" }, ""},
		"one before":          {row(gateway.Approve, 100, read, paid(1, 3601, true), paid(1, 5, true), paid(1, 5, false)), nil, ""},
		"other runs' alone":   {row(gateway.Approve, 100, read, paid(49990, 5, true)), nil, ""},
		"principal":           {row(gateway.Block, 100, read), func(r *policy.Row) { r.Principal = gateway.Principal{ID: "token:ci", Kind: "token", Name: "ci"} }, ""},
		"client":              {row(gateway.Block, 100, read), func(r *policy.Row) { r.Client.Name = "bot" }, ""},
		"now":                 {row(gateway.Block, 100, read), func(r *policy.Row) { r.Now = time.Unix(0, 0) }, ""},
		"input":               {row(gateway.Block, 100, read), func(r *policy.Row) { r.Input = map[string]any{"order_id": "A-0000"} }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.change != nil {
				tt.change(&tt.row)
			}
			s.Tests = []policy.Row{tt.row}
			if _, faults := policy.New(s, orderReach(t)); len(faults) > 0 {
				t.Fatal(inMembers(faults))
			}
			r := p.Test(tt.row)
			if r.Differ != tt.want || r.Passed != (tt.want == "") || r.Err != nil {
				t.Errorf("\n got %s, passed %v, %v\nwant %s", r.Differ, r.Passed, r.Err, tt.want)
			}
		})
	}
	for name, row := range map[string]policy.Row{
		"no tool":    {Call: policy.RowCall{Tool: "refund"}},
		"no pattern": {Call: policy.RowCall{Tool: "read_order"}, Pattern: "x"},
		"no param":   {Call: policy.RowCall{Tool: "read_order"}, Params: map[string]any{"x": 1.0}},
		"not judged": {Call: policy.RowCall{Tool: "find_refund"}},
	} {
		if r := p.Test(row); r.Err == nil || r.Passed {
			t.Errorf("%s: ran", name)
		}
	}
}

// TestHash holds what two policies must have in common to be one.
func TestHash(t *testing.T) {
	base := made(t, orders(), orderReach(t))
	own, pattern := base.For("").Hash(), base.For("refund_order").Hash()
	if own == pattern || !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(own) {
		t.Errorf("hashes %s and %s", own, pattern)
	}
	if policy.HashOf(orders(), nil) != own || policy.HashOf(orders(), map[string]any{"run_cap_cents": 30000.0}) != pattern {
		t.Error("without compiling the hash is another")
	}
	if got := policy.HashOf(orders(), map[string]any{"run_cap": 1.0}) + policy.HashOf(orders(), map[string]any{"run_cap_cents": "x"}); got != "" {
		t.Errorf("wrong params have the hash %s", got)
	}
	if base.For("another").Hash() != own {
		t.Error("a pattern that does not name the policy has other params than its own")
	}
	window := policy.WindowSource{Name: "a", Tools: []string{"refund_charge"}, Calendar: "day"}
	tests := map[string]struct {
		change func(*policy.Source)
		same   bool
	}{
		"name":        {func(s *policy.Source) { s.Name = "other" }, true},
		"description": {func(s *policy.Source) { s.Description = "x" }, true},
		"words":       {func(s *policy.Source) { s.Rules[1].Say = "x" }, true},
		"default":     {func(s *policy.Source) { s.Rules[3].Escalate.Reason = "big_refund" }, true},
		"tests": {func(s *policy.Source) {
			s.Tests = []policy.Row{{Name: "a", Call: policy.RowCall{Tool: "final", Args: map[string]any{"answer": "x"}}}}
		}, true},
		"reason":  {func(s *policy.Source) { s.Rules[1].Block.Reason = "x" }, false},
		"need":    {func(s *policy.Source) { s.Rules[1].Block.Need = nil }, false},
		"param":   {func(s *policy.Source) { s.Params[0].Value = 1.0 }, false},
		"var":     {func(s *policy.Source) { s.Vars[0].Text += " " }, false},
		"when":    {func(s *policy.Source) { s.Rules[2].When += " && true" }, false},
		"match":   {func(s *policy.Source) { s.Rules[2].Match = append(s.Rules[2].Match, "refund_charge") }, false},
		"order":   {func(s *policy.Source) { s.Rules[0], s.Rules[5] = s.Rules[5], s.Rules[0] }, false},
		"expiry":  {func(s *policy.Source) { s.Rules[3].Escalate.Expires = time.Hour }, false},
		"window":  {func(s *policy.Source) { s.Windows = []policy.WindowSource{window} }, false},
		"outcome": {func(s *policy.Source) { s.Rules[4].Approve, s.Rules[4].Block = false, &policy.BlockSource{} }, false},
	}
	for name, tt := range tests {
		s := orders()
		tt.change(&s)
		if got := made(t, s, orderReach(t)).For("").Hash(); (got == own) != tt.same {
			t.Errorf("%s: the hash is the same: %v", name, got == own)
		}
	}
	typed := func(name string, value any, fraction bool, laid map[string]any) string {
		s := orders()
		s.Params = append(s.Params, policy.Param{Name: name, Value: value, Fraction: fraction})
		hash := made(t, s, orderReach(t)).For("").Hash()
		if laid == nil && policy.HashOf(s, nil) != hash {
			t.Errorf("%s: without compiling the hash is another", name)
		}
		return policy.HashOf(s, laid)
	}
	seven := map[string]any{"a": 7.0}
	for name, hashes := range map[string][2]string{
		"int and double":     {typed("a", 7.0, false, nil), typed("a", 7.0, true, nil)},
		"lists":              {typed("a", []any{7.0}, false, nil), typed("a", []any{7.0}, true, nil)},
		"laid over":          {typed("a", 1.0, false, seven), typed("a", 1.5, false, seven)},
		"laid over an empty": {typed("a", []any{1.0}, false, map[string]any{"a": []any{7.0}}), typed("a", []any{}, false, map[string]any{"a": []any{7.0}})},
	} {
		if hashes[0] == hashes[1] {
			t.Errorf("%s: one hash", name)
		}
	}
	if typed("a_usd", 7.0, false, nil) != typed("a_usd", 7.0, true, nil) || typed("a", 7.5, false, nil) != typed("a", 7.5, true, nil) {
		t.Error("what is double in any case has two hashes")
	}
	if got := strings.Join(base.Reasons(), " "); got != "order_not_read run_cap" {
		t.Errorf("reasons %s", got)
	}
}
