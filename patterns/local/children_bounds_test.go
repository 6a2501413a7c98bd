package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// reads is a house whose report has two workers read by way of desks, side by side, within a budget.
func reads(t testing.TB, change func(*patterns.Spec)) *house {
	h := newHouse(t, func(own *catalog.Tool) { own.Effect = catalog.Read })
	h.over(gateway.Routing, "desk", toPay, "pay")
	h.over(gateway.Orchestrator, "report", `{"kind":"plan","tasks":[
		{"id":"a","worker":"left","args":{"goal":"a"},"critical":false},{"id":"b","worker":"right","args":{"goal":"b"},"critical":false}]}`, "left=desk", "right=desk")
	s := h.specs["report"]
	change(&s)
	h.specs["report"] = s
	return h
}

// shareOf is what a child run was left by its parent, of one limit; -1: it is not bounded.
func shareOf(t testing.TB, p port, id, limit string) float64 {
	t.Helper()
	parent, _ := startBody(t, p.intact(t, id))["parent"].(map[string]any)
	share, _ := parent["share"].(map[string]any)
	if n, bounded := share[limit].(float64); bounded {
		return n
	}
	return -1
}

// What a run has left its child runs share, and together they do not use more; it counts as the run's own.
func TestSharesOfChildRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*gateway.Budget)
		limit  string
		each   float64
		want   string
		used   float64
	}{
		"not bounded":      {func(b *gateway.Budget) {}, "max_tool_calls", -1, "success", 0},
		"calls":            {func(b *gateway.Budget) { b.MaxToolCalls = 8 }, "max_tool_calls", 3, "success", 6},
		"one call each":    {func(b *gateway.Budget) { b.MaxToolCalls = 5 }, "max_tool_calls", 1, "success", 4},
		"no call is left":  {func(b *gateway.Budget) { b.MaxToolCalls = 2 }, "max_tool_calls", 0, "success", 2},
		"requests":         {func(b *gateway.Budget) { b.MaxLLMCalls = 7 }, "max_llm_calls", 3, "success", 6},
		"too few requests": {func(b *gateway.Budget) { b.MaxLLMCalls = 3 }, "max_llm_calls", 1, "max_llm_calls", 3},
		"tokens":           {func(b *gateway.Budget) { b.MaxTokens = 115 }, "max_tokens", 50, "success", 90},
	} {
		t.Run(name, func(t *testing.T) {
			onBothHouses(t, func(t testing.TB) *house {
				return reads(t, func(s *patterns.Spec) { tt.change(&s.Budget) })
			}, func(t *testing.T, h *house, p port) {
				ended, err := h.start(p.Engine, "report")
				if err != nil || ended.Result.StopReason != tt.want {
					t.Fatalf("%s, %v", asJSON(t, ended.Result), err)
				}
				for _, id := range p.RunIDs(mine) {
					if s, _ := p.Run(mine, id); s.Pattern == "desk" {
						if each := shareOf(t, p, id, tt.limit); each != tt.each {
							t.Errorf("a desk has %v of %s, want %v", each, tt.limit, tt.each)
						}
					}
				}
				if used := ended.Result.Budget[tt.limit].Used; used != tt.used {
					t.Errorf("%v of %s were used, want %v: %s", used, tt.limit, tt.used, asJSON(t, ended.Result.Budget))
				}
				s, _ := p.Run(mine, ended.RunID)
				job, _ := h.Job(patterns.Begun{Pattern: "report", Caller: patterns.Caller{Principal: mine}, Arguments: s.Arguments})
				again, err := local.ReplayStored(p.intact(t, ended.RunID), job)
				if err != nil || asJSON(t, again.Result) != asJSON(t, ended.Result) {
					t.Errorf("it replays, %v, as %s\nwant %s", err, asJSON(t, again.Result), asJSON(t, ended.Result))
				}
			})
		})
	}
}

// What a child run's model cost is entered under that model's name, whichever model its parent has, also where its record does not name
// it; and who asked no model itself does not take the answers for its own.
func TestModelsOfChildRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		pattern, want string
		asked         float64
		list          map[string]int
	}{
		"routing":      {"desk over", "big, small", 4, map[string]int{"small": 2}},
		"side by side": {"report", "big, small", 6, map[string]int{"small": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			onBothHouses(t, func(t testing.TB) *house {
				h := reads(t, func(*patterns.Spec) {})
				h.over(gateway.Routing, "desk over", toDesk, "desk")
				h.names = map[string]string{"desk": "small", "desk over": "big", "report": "big"}
				return h
			}, func(t *testing.T, h *house, p port) {
				ended, err := h.start(p.Engine, tt.pattern)
				if err != nil || !ended.Result.OK() {
					t.Fatalf("%s, %v", asJSON(t, ended.Result), err)
				}
				got := map[string]int{}
				for _, m := range ended.Result.Models {
					got[m.Model] = m.Requests
				}
				if asJSON(t, got) != asJSON(t, tt.list) {
					t.Errorf("its child runs' models are %v, want %v", got, tt.list)
				}
				events := p.intact(t, ended.RunID)
				body, err := patterns.DecodeBody(events[len(events)-1])
				if err != nil {
					t.Fatal(err)
				}
				if usage := body.(*patterns.EndBody).Usage; usage.Model != tt.want || float64(usage.Requests) != tt.asked {
					t.Errorf("%d requests were answered by %s, want %v by %s", usage.Requests, usage.Model, tt.asked, tt.want)
				}
			})
		})
	}
}

// The time of a call ends its child run, which is cancelled; the call has taken too long, or the run has.
func TestTimeOfChildRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*patterns.Spec)
		want   string
		task   string
	}{
		"of the task": {func(s *patterns.Spec) { s.Budget.TaskTimeout, s.Budget.MaxRetriesPerTask = time.Second, 0 }, "success", "task_timeout"},
		"of the run":  {func(s *patterns.Spec) { s.Budget.MaxTime = time.Second }, "max_seconds", "max_seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := reads(t, tt.change)
				own, _ := h.tools.Tool("own")
				own.Do = func(ctx context.Context, _ catalog.Call) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
				view, err := h.tools.With(own)
				if err != nil {
					t.Fatal(err)
				}
				pay := h.specs["pay"]
				pay.Catalog = view
				h.specs["pay"] = pay
				p := port{&local.Engine{Source: h}, &begun{}}
				defer p.Close()
				ended, err := h.start(p.Engine, "report")
				if err != nil || ended.Result.StopReason != tt.want {
					t.Fatalf("%s, %v", asJSON(t, ended.Result), err)
				}
				row, _ := ended.Result.History[0].(patterns.TaskRow)
				trace, _ := ended.Result.Trace[0].(patterns.TaskTrace)
				if row.StopReason != tt.task || row.InDoubt || trace.ChildRunID == "" {
					t.Errorf("the task ended as %+v, %+v", row, trace)
				}
				if took := ended.Ended.Sub(ended.Began); took != time.Second {
					t.Errorf("it took %v", took)
				}
				synctest.Wait()
				for _, id := range p.RunIDs(mine) {
					s, ok := p.Run(mine, id)
					if !ok || s.State != patterns.Over {
						t.Errorf("%s of %s is %s", id, s.Pattern, s.State)
					}
					p.intact(t, id)
				}
			})
		})
	}
}
