package policy_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// only is a policy of these rules, behind one that approves every call.
func only(t testing.TB, rules ...policy.RuleSource) *policy.Judge {
	t.Helper()
	s := orders()
	s.Rules = append([]policy.RuleSource{{ID: "all", Approve: true}}, rules...)
	s.Windows = []policy.WindowSource{{Name: "today", Tools: []string{"refund_charge"}, Calendar: "day"}}
	r := orderReach(t)
	p, faults := policy.New(s, r)
	if p == nil {
		t.Fatal(inMembers(faults))
	}
	return p.For("refund_order")
}

func charge(cents any) gateway.Case {
	return gateway.Case{Tool: "refund_charge", Args: map[string]any{"order_id": "A-1001", "amount_cents": cents, "reason": "late parcel"}}
}

// TestPolicyErrors holds that what errs blocks by its rule, and what is not evaluated does not.
func TestPolicyErrors(t *testing.T) {
	read := gateway.Entry{Tool: "read_order", Status: gateway.Finished, Args: map[string]any{"path": "/srv/orders/A-1001.json"}}
	after := func(c gateway.Case, effects ...gateway.Entry) gateway.Case {
		c.Effects = effects
		return c
	}
	const erred = "block policy_error:new by new"
	tests := map[string]struct {
		when string
		c    gateway.Case
		want string
	}{
		"true":                    {`args.amount_cents > 1`, charge(5.0), "block new"},
		"false":                   {`args.amount_cents > 5`, charge(5.0), "approve all"},
		"absent argument":         {`args.reason == "late parcel"`, gateway.Case{Tool: "refund_charge", Args: map[string]any{"amount_cents": 5.0}}, erred},
		"no arguments":            {`args.amount_cents > 5`, gateway.Case{Tool: "refund_charge"}, erred},
		"absent, but guarded":     {`has(args.reason) && args.reason == "x"`, gateway.Case{Tool: "refund_charge"}, "approve all"},
		"text for int":            {`args.amount_cents > 5`, charge("6"), erred},
		"fraction for int":        {`args.amount_cents > 5`, charge(6.5), erred},
		"not a number":            {`args.amount_cents > 5`, charge(math.NaN()), erred},
		"infinite":                {`args.amount_cents > 5`, charge(math.Inf(1)), erred},
		"another Go type":         {`args.amount_cents > 5`, charge(struct{}{}), erred},
		"overflow":                {`args.amount_cents * 9223372036854775807 > 5`, charge(6.0), erred},
		"division":                {`args.amount_cents / (args.amount_cents - 6) > 5`, charge(6.0), erred},
		"a row that lacks it":     {`run.effects.exists(e, e.args.amount_cents > 5)`, after(charge(6.0), read), erred},
		"an error and a truth":    {`run.effects.exists(e, e.args.amount_cents > 5) || true`, after(charge(6.0), read), "block new"},
		"a row asked for":         {`run.effects.exists(e, e.tool == "refund_charge" && e.args.amount_cents > 5)`, after(charge(6.0), read), "approve all"},
		"not a number before":     {`sum(run.effects.map(e, e.args.amount_cents)) > 5`, after(charge(6.0), gateway.Entry{Tool: "refund_charge", Args: map[string]any{"amount_cents": math.NaN()}}), erred},
		"result of nothing":       {`run.effects.exists(e, e.result.status == "paid")`, after(charge(6.0), read), erred},
		"result of nothing, has":  {`run.effects.exists(e, has(e.result.status))`, after(charge(6.0), read), "approve all"},
		"a list for a result":     {`run.effects.exists(e, has(e.result.status))`, after(charge(6.0), gateway.Entry{Tool: "read_order", Observation: []any{1.0}}), erred},
		"a window nobody can see": {`size(windows.today.effects) > 5`, charge(6.0), erred},
		"input that is absent":    {`input.order_id == "A-1001"`, charge(6.0), erred},
		"budget that is absent":   {`run.remaining.max_tokens > 5`, charge(6.0), erred},
		"too costly":              {`lists.range(2000).exists(i, lists.range(2000).exists(j, i * j == args.amount_cents + 123456789))`, charge(6.0), erred},
		"one of no tool of ours":  {`run.effects.exists(e, e.args.amount_cents > 5)`, after(charge(6.0), gateway.Entry{Tool: "other", Args: map[string]any{"amount_cents": 6.0}}), "block new"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			judge := only(t, policy.RuleSource{ID: "new", When: tt.when, Match: []string{"refund_charge"}, Block: &policy.BlockSource{}})
			got, _, _ := strings.Cut(worded(judge.Review(tt.c)), " because ")
			if want := strings.TrimSuffix(tt.want, " by new"); got != tt.want && got != want+" by new" {
				t.Errorf("%s: got %s, want %s", tt.when, got, tt.want)
			}
		})
	}
}

// TestOutcomes holds which of several rules counts.
func TestOutcomes(t *testing.T) {
	block := func(id, when string) policy.RuleSource {
		return policy.RuleSource{ID: id, When: when, Block: &policy.BlockSource{}}
	}
	escalate := func(id, when string) policy.RuleSource {
		return policy.RuleSource{ID: id, When: when, Escalate: &policy.EscalateSource{Reason: "big", Expires: time.Hour, Least: gateway.SignedAssurance}}
	}
	revise := func(id, when, to string) policy.RuleSource {
		return policy.RuleSource{ID: id, When: when, Match: []string{"refund_charge"}, Revise: []policy.ReviseSource{{Argument: "amount_cents", Text: to}}}
	}
	const errs = "size(windows.today.effects) > 0"
	tests := map[string]struct {
		rules []policy.RuleSource
		want  string
	}{
		"nothing but an approval":     {nil, "approve all"},
		"a block before a block":      {[]policy.RuleSource{block("a", ""), block("b", "")}, "block a"},
		"a block behind all":          {[]policy.RuleSource{escalate("a", ""), revise("b", "", "1"), block("c", "")}, "block c"},
		"an error before a block":     {[]policy.RuleSource{block("a", errs), block("b", "")}, "block policy_error:a by a"},
		"an error behind a block":     {[]policy.RuleSource{block("a", ""), block("b", errs)}, "block a"},
		"an error of an approval":     {[]policy.RuleSource{escalate("a", ""), {ID: "b", When: errs, Approve: true}}, "block policy_error:b by b"},
		"a revise before a person":    {[]policy.RuleSource{escalate("a", ""), revise("b", "", "1"), revise("c", "", "2")}, `revise b {"amount_cents":1,"order_id":"A-1001","reason":"late parcel"}`},
		"a person before an approval": {[]policy.RuleSource{escalate("a", ""), escalate("b", "")}, "escalate big by a"},
		"a revise below the minimum":  {[]policy.RuleSource{revise("a", "", "0")}, "block policy_error:a by a"},
		"a revise that errs":          {[]policy.RuleSource{revise("a", "", "args.amount_cents / 0")}, "block policy_error:a by a"},
		"a revise that errs, blocked": {[]policy.RuleSource{revise("a", "", "args.amount_cents / 0"), block("b", "")}, "block b"},
		"a revise beyond integers":    {[]policy.RuleSource{revise("a", "", "args.amount_cents * 9007199254740993")}, "block policy_error:a by a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := only(t, tt.rules...).Review(charge(5.0))
			if got, _, _ := strings.Cut(worded(v), " because "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if v.Decision == gateway.Escalate && (v.Expires != time.Hour || v.Least != gateway.SignedAssurance) {
				t.Errorf("a person has %v and is to be %s", v.Expires, v.Least)
			}
		})
	}
	if v := (*policy.Judge)(nil).Review(charge(5.0)); v.Decision != gateway.Block {
		t.Errorf("no policy: %s", worded(v))
	}
	if v := only(t).Review(gateway.Case{Answer: "x"}); worded(v) != "block no_rule_matched by " {
		t.Errorf("final without a rule: %s", worded(v))
	}
	if v := only(t).Review(gateway.Case{Tool: "final", Args: map[string]any{"answer": "x"}}); worded(v) != "block no_rule_matched by " {
		t.Errorf("a tool called final: %s", worded(v))
	}
}

// TestUnknown holds what a dry run can tell of calls that were only assumed.
func TestUnknown(t *testing.T) {
	assumed := gateway.Entry{Tool: "read_order", Effect: "read", Status: gateway.Finished, Args: map[string]any{"path": "/srv/orders/A-1001.json"}, Assumed: true}
	block := func(when string) policy.RuleSource {
		return policy.RuleSource{ID: "new", When: when, Match: []string{"refund_charge"}, Block: &policy.BlockSource{}}
	}
	tests := map[string]struct {
		rules []policy.RuleSource
		want  string
	}{
		"arguments":           {[]policy.RuleSource{block(`run.effects.exists(e, e.args.path.endsWith("1.json"))`)}, "block new"},
		"status":              {[]policy.RuleSource{block(`run.effects.exists(e, e.status == "done")`)}, "block new"},
		"result":              {[]policy.RuleSource{block(`run.effects.exists(e, e.result.status == "open")`)}, "unknown new"},
		"result, has":         {[]policy.RuleSource{block(`run.effects.exists(e, has(e.result.status))`)}, "unknown new"},
		"result, optional":    {[]policy.RuleSource{block(`run.effects.exists(e, e.result.?status.orValue("") == "open")`)}, "unknown new"},
		"result, of no use":   {[]policy.RuleSource{block(`run.effects.exists(e, e.tool == "refund_charge" && e.result.status == "open")`)}, "approve all"},
		"result or the truth": {[]policy.RuleSource{block(`run.effects.exists(e, e.result.status == "open") || args.amount_cents > 1`)}, "block new"},
		"ok":                  {[]policy.RuleSource{block(`run.effects.all(e, e.ok)`)}, "unknown new"},
		"counts":              {[]policy.RuleSource{block(`size(run.effects.filter(e, e.counts)) > 3`)}, "unknown new"},
		"at":                  {[]policy.RuleSource{block(`run.effects.exists(e, e.at == now)`)}, "unknown new"},
		"how many":            {[]policy.RuleSource{block(`size(run.effects) > 3`)}, "approve all"},
		"blocked before":      {[]policy.RuleSource{block(""), {ID: "b", When: `run.effects.exists(e, e.ok)`, Approve: true}}, "block new"},
		"blocked behind":      {[]policy.RuleSource{{ID: "a", When: `run.effects.exists(e, e.ok)`, Approve: true}, block("")}, "unknown a"},
		"in a revise":         {[]policy.RuleSource{{ID: "a", Match: []string{"refund_charge"}, Revise: []policy.ReviseSource{{Argument: "amount_cents", Text: "size(run.effects.filter(e, e.ok)) + 1"}}}}, "unknown a"},
		"of rows as a whole":  {[]policy.RuleSource{block(`run.effects[0].result == run.effects[0].result`)}, "unknown new"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := charge(5.0)
			c.Effects = []gateway.Entry{assumed}
			judge := only(t, tt.rules...)
			v := judge.Review(c)
			if got, _, _ := strings.Cut(worded(v), " because "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if v.Unknown && v.Decision != gateway.Block {
				t.Errorf("what is not known is %s", v.Decision)
			}
			tool, _ := orderTools(t).Tool("refund_charge")
			if r := gateway.JudgeAlone(judge, tool, c, true); r.Unknown != v.Unknown || v.Unknown && r.Decision != gateway.Block {
				t.Errorf("the whole review: %s, unknown %v", r.Decision, r.Unknown)
			}
		})
	}
}

// TestWindows holds where windows begin, which a tool's rules read, and what they see.
func TestWindows(t *testing.T) {
	s := orders()
	s.Vars = append(s.Vars, policy.Named{Name: "of_day", Text: `sum(windows.day.effects.filter(e, e.counts).map(e, e.args.amount_cents))`})
	tools := []string{"refund_charge"}
	s.Windows = []policy.WindowSource{
		{Name: "day", Tools: tools, Calendar: "day", Timezone: "Europe/Berlin"}, {Name: "week", Tools: tools, Calendar: "week"},
		{Name: "month", Tools: tools, Calendar: "month"}, {Name: "hour", Tools: tools, Seconds: 3600, Principal: true}, {Name: "idle", Tools: tools, Seconds: 60},
	}
	s.Rules = append(s.Rules,
		policy.RuleSource{ID: "day_cap", Match: tools, When: "vars.of_day + args.amount_cents > 10000", Block: &policy.BlockSource{}},
		policy.RuleSource{ID: "often", Match: tools, When: "size(windows.hour.effects) + size(windows.week.effects) + size(windows.month.effects) > 5", Block: &policy.BlockSource{}})
	s.Rules = append(s.Rules, policy.RuleSource{ID: "idle", Match: []string{"final"}, When: "size(windows.idle.effects) == 0", Block: &policy.BlockSource{}})
	judge := made(t, s, orderReach(t)).For("refund_order")
	if got := judge.Windows(""); len(got) != 1 || got[0].Name != "refunds.idle" {
		t.Errorf("windows of the closing answer: %v", got)
	}
	if got := judge.Windows("read_order"); got != nil {
		t.Errorf("windows of reading: %v", got)
	}
	end := time.Date(2026, 3, 1, 22, 30, 0, 0, time.UTC) // a Sunday; in Berlin 23:30
	want := map[string]time.Time{
		"refunds.day":   time.Date(2026, 2, 28, 23, 0, 0, 0, time.UTC),
		"refunds.week":  time.Date(2026, 2, 23, 0, 0, 0, 0, time.UTC),
		"refunds.month": time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"refunds.hour":  time.Date(2026, 3, 1, 21, 30, 0, 0, time.UTC),
	}
	seen := map[string]gateway.Seen{}
	for _, w := range judge.Windows("refund_charge") {
		if since := w.Since(end); !since.Equal(want[w.Name]) || w.OfPrincipal != (w.Name == "refunds.hour") || fmt.Sprint(w.Tools) != "[refund_charge]" {
			t.Errorf("%s begins %v of %v, want %v", w.Name, since, w.Tools, want[w.Name])
		}
		seen[w.Name] = gateway.Seen{Since: w.Since(end)}
	}
	if len(seen) != len(want) {
		t.Errorf("windows %v", seen)
	}
	paid := gateway.Entry{Tool: "refund_charge", Status: gateway.InDoubt, RunID: "run_other", Args: map[string]any{"amount_cents": 9000.0}}
	c := charge(1000.0)
	c.Effects = []gateway.Entry{done("read_order", map[string]any{"path": "/srv/orders/A-1001.json"}, nil)}
	for name, tt := range map[string]struct {
		change func(map[string]gateway.Seen)
		want   string
	}{
		"within":   {func(m map[string]gateway.Seen) { m["refunds.day"] = gateway.Seen{Effects: []gateway.Entry{paid}} }, "approve small_refund"},
		"over":     {func(m map[string]gateway.Seen) { m["refunds.day"] = gateway.Seen{Effects: []gateway.Entry{paid, paid}} }, "block day_cap"},
		"absent":   {func(m map[string]gateway.Seen) { delete(m, "refunds.day") }, "block policy_error:day_cap by day_cap"},
		"an error": {func(m map[string]gateway.Seen) { m["refunds.hour"] = gateway.Seen{Err: fmt.Errorf("too many")} }, "block policy_error:often by often"},
		"too many": {func(m map[string]gateway.Seen) {
			m["refunds.hour"] = gateway.Seen{Effects: make([]gateway.Entry, gateway.MaxWindow+1)}
		}, "block policy_error:often by often"},
	} {
		c.Windows = map[string]gateway.Seen{}
		for n, w := range seen {
			c.Windows[n] = w
		}
		tt.change(c.Windows)
		if got, _, _ := strings.Cut(worded(judge.Review(c)), " because "); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestReviewsAtOnce judges by one policy from several goroutines.
func TestReviewsAtOnce(t *testing.T) {
	judge := made(t, orders(), orderReach(t)).For("refund_order")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for cents := range 20 {
				c := charge(float64(9_995 + cents + i))
				c.Effects = []gateway.Entry{done("read_order", map[string]any{"path": "/srv/orders/A-1001.json"}, nil)}
				want := "approve small_refund"
				if 9_995+cents+i > 10_000 {
					want = "escalate big_refund"
				}
				if got, _, _ := strings.Cut(worded(judge.Review(c)), " because "); got != want {
					t.Errorf("%d: %s, want %s", 9_995+cents+i, got, want)
				}
				judge.Asks("refund_charge")
				judge.Hash()
			}
		})
	}
	all.Wait()
}

// TestAsks holds what can be said before a call.
func TestAsks(t *testing.T) {
	escalate := func(when string, match ...string) policy.RuleSource {
		return policy.RuleSource{ID: "new", When: when, Match: match, Escalate: &policy.EscalateSource{}}
	}
	for when, want := range map[string]gateway.Asks{
		`tool.effect == "read"`: gateway.AsksNever, `tool.effect == "write"`: gateway.AsksAlways, `tool.effect == "write" && run.steps > 3`: gateway.AsksMaybe,
		`params.run_cap_cents > 40000`: gateway.AsksNever, `params.run_cap_cents < 40000`: gateway.AsksAlways, `args.amount_cents > 3 && tool.name == "read_order"`: gateway.AsksNever,
	} {
		match := []string(nil)
		if strings.Contains(when, "args") {
			match = []string{"refund_charge"}
		}
		judge := only(t, escalate(when, match...))
		if got := judge.Asks("refund_charge"); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	if got := only(t, escalate("")).Asks("refund_charge"); got != gateway.AsksAlways {
		t.Errorf("without a condition: %s", got)
	}
	if got := only(t).Asks("nothing"); got != gateway.AsksNever {
		t.Errorf("a tool that is not judged: %s", got)
	}
	judge := only(t, policy.RuleSource{ID: "new", Match: []string{"refund_charge"}, When: `vars.spent + args.amount_cents > 1 && args.reason != ""`, Block: &policy.BlockSource{}})
	if got := fmt.Sprint(judge.Reads("refund_charge", "new"), judge.Reads("read_order", "new"), judge.Reads("refund_charge", "all")); got != "[amount_cents reason] [] []" {
		t.Errorf("arguments that a rule reads: %s", got)
	}
}
