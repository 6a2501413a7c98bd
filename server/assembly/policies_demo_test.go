package assembly

import (
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
)

// The embedded policy's hash is that of what judges in the end, and is known without compiling it, which every start would wait for.
func TestDemoPolicysHash(t *testing.T) {
	for _, params := range []map[string]any{nil, {}, {"auto_refund_limit_usd": 300.5, "refund_window_days": 7.0}, {"max_refund_per_run_usd": 1.0}} {
		made, err := refunds.Compile(refunds.Source(), params)
		if err != nil {
			t.Fatal(err)
		}
		j := demoJudge(params)
		if got, want := gateway.PolicyHash(j), made.For(refunds.Pattern).Hash(); got != want || got == "" {
			t.Errorf("params %v: hash %q, want %q", params, got, want)
		}
	}
	limit := 1000.0
	allocated := testing.AllocsPerRun(3, func() {
		limit++
		gateway.PolicyHash(demoJudge(map[string]any{"auto_refund_limit_usd": limit}))
	})
	if allocated > 2000 { // compiling allocates a hundred times as much
		t.Errorf("%v allocations for a hash", allocated)
	}
	var none lazyJudge
	if v := none.Review(gateway.Case{Tool: "get_refund_context"}); v.Decision != gateway.Block || none.Hash() != "" || none.Windows("x") != nil || none.Asks("x") != gateway.AsksMaybe {
		t.Errorf("the zero judge says %v", v)
	}
}

func BenchmarkDemoPolicysHash(b *testing.B) {
	limit := 1000.0
	b.ReportAllocs()
	for b.Loop() {
		limit++
		gateway.PolicyHash(demoJudge(map[string]any{"auto_refund_limit_usd": limit}))
	}
}
