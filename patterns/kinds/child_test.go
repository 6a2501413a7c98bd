package kinds

import (
	"reflect"
	"regexp"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// The id of a child run is made of what nobody outside knows, and the same each time.
func TestChildID(t *testing.T) {
	id := patterns.ChildID("run_0123456789abcdef", "task#1/pay#1")
	if !regexp.MustCompile(`^run_[0-9a-f]{16}$`).MatchString(id) || id != patterns.ChildID("run_0123456789abcdef", "task#1/pay#1") {
		t.Errorf("%s", id)
	}
	for _, other := range []string{patterns.ChildID("run_0123456789abcdee", "task#1/pay#1"), patterns.ChildID("run_0123456789abcdef", "task#1/pay#2")} {
		if other == id {
			t.Error("two calls have one child")
		}
	}
}

// Of each figure of a budget and a share the smaller one holds.
func TestShareWithin(t *testing.T) {
	whole := gateway.NoBudget()
	whole.MaxTime = time.Minute
	tight := whole
	tight.MaxTime, tight.MaxToolCalls, tight.MaxLLMCalls, tight.MaxTokens, tight.MaxCost = time.Second, 1, 2, 3, 0.5
	free := patterns.Share{Time: patterns.NoTime, Calls: gateway.Unlimited, Requests: gateway.Unlimited, Tokens: gateway.Unlimited, Cost: gateway.NoPrice}
	for name, tt := range map[string]struct {
		share  patterns.Share
		budget gateway.Budget
		want   gateway.Budget
	}{
		"nothing is bounded":  {free, whole, whole},
		"its own is smaller":  {patterns.Share{Time: time.Minute, Calls: 10, Requests: 20, Tokens: 30, Cost: 5}, tight, tight},
		"its own is the only": {free, tight, tight},
		"the share's is":      {patterns.Share{Time: time.Second, Calls: 1, Requests: 2, Tokens: 3, Cost: 0.5}, whole, tight},
		"nothing is left": {patterns.Share{}, tight, func() gateway.Budget {
			b := tight
			b.MaxTime, b.MaxToolCalls, b.MaxLLMCalls, b.MaxTokens, b.MaxCost = 0, 0, 0, 0, 0
			return b
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.share.Within(tt.budget); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if got := patterns.ReadShare(tt.share.Value()); !reflect.DeepEqual(got, tt.share) {
				t.Errorf("read back as %+v, want %+v", got, tt.share)
			}
		})
	}
}

// What is no share allows nothing of what it names.
func TestReadShare(t *testing.T) {
	for name, v := range map[string]any{
		"texts":    map[string]any{"max_seconds": "1", "max_tool_calls": "1", "max_llm_calls": nil, "max_tokens": true, "max_cost_usd": "x"},
		"negative": map[string]any{"max_seconds": -1.0, "max_tool_calls": -1.0, "max_llm_calls": -5.0, "max_tokens": -0.5, "max_cost_usd": -1.0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := patterns.ReadShare(v); got != (patterns.Share{}) {
				t.Errorf("%+v, want nothing allowed", got)
			}
		})
	}
	if got := patterns.ReadShare(nil); got.Time != 0 {
		t.Errorf("without one it has %v", got.Time)
	}
}

// A dry run says how the call of a pattern would be judged, and that what it would begin is not rehearsed.
func TestDryRunOfAPattern(t *testing.T) {
	schema, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"goal":{"type":"string"}},"required":["goal"]}`))
	if err != nil {
		t.Fatal(err)
	}
	view, err := catalog.New(catalog.Tool{Name: "desk", Of: "order_desk", Pattern: "order_desk", Goal: "goal", Server: catalog.PatternServer, Input: schema, Effect: catalog.Write})
	if err != nil {
		t.Fatal(err)
	}
	spec := patterns.Spec{Name: "hall", Kind: gateway.Routing, Catalog: view, Tools: []string{"desk"}, Policy: []string{"desk"}, Execution: []string{"desk"}, Budget: gateway.DefaultBudget(gateway.Routing)}
	for name, tt := range map[string]struct {
		goal, decision string
	}{"taken": {"pay", "approve"}, "blank": {" ", "block"}} {
		t.Run(name, func(t *testing.T) {
			route := map[string]any{"kind": "route", "target": "desk", "args": map[string]any{"goal": tt.goal}}
			run := &scripted{world: &world{}, seen: map[string]int{}}
			r, err := DryRun(run, spec, patterns.Task{Goal: "x", Caller: patterns.Proposals("route", route)})
			if err != nil || len(r.Judged) != 1 || r.Judged[0].Begins != "order_desk" || r.Judged[0].Decision != tt.decision {
				t.Fatalf("%+v, %v", r, err)
			}
			off := r.SwitchedOff(func(row patterns.RehearsedRow) bool { return row.Begins == "order_desk" })
			if off.Verdict != "block" || tt.decision == "approve" && off.Judged[0].Reason != patterns.ReasonKillSwitch {
				t.Errorf("with the pattern off: %+v", off)
			}
		})
	}
}
