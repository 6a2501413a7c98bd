package local_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// meanwhile is a purse of a run to which something happens right after it was judged for the n-th time.
type meanwhile struct {
	purse
	n      int64
	judged *atomic.Int64
	does   func()
}

func (m meanwhile) Review(c gateway.Case) gateway.Verdict {
	v := m.purse.Review(c)
	if c.Tool == "own" && m.judged.Add(1) == m.n {
		m.does()
	}
	return v
}

// pays is another run, that pays a sum under the same cap.
func (k *till) pays(t testing.TB, e port, n float64) {
	t.Helper()
	job := spends(t, gateway.Call, purse{day: 100}, k.takes(nil), nil, n)
	if ended, err := e.Start(context.WithoutCancel(t.Context()), job); err != nil || !ended.Result.OK() {
		t.Errorf("the other run of %v: %v, %s", n, err, endOf(ended.Result))
	}
}

// judgedIn is how often a record says that windows were looked at.
func judgedIn(events []patterns.Event) (n int) {
	for _, e := range events {
		if e.Kind == patterns.JudgedEvent && strings.Contains(e.Key, "judge#") {
			n++
		}
	}
	return n
}

func isCapped(r patterns.Result) bool {
	return endOf(r) == "policy_block:cap" || r.StopReason == "supervisor_block:cap"
}

// A call whose money another run spends between its judgment and its intent is judged again in every pattern: it is blocked, or
// what is left of it is paid.
func TestPortSpentBetweenJudgmentAndIntent(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		for name, cuts := range map[string]bool{"blocked": false, "cut": true} {
			for _, moment := range []string{"judged", "recorded"} {
				for _, kind := range ownKinds {
					t.Run(name+"/"+moment+"/"+string(kind), func(t *testing.T) {
						e, k := open(t), &till{}
						policy := meanwhile{purse{day: 100, cuts: cuts}, 1, &atomic.Int64{}, func() { k.pays(t, e, 60) }}
						if moment == "recorded" {
							policy.n = 0
						}
						job := spends(t, kind, policy, k.takes(nil), nil, 50)
						var told atomic.Bool
						if job.Progress = nil; moment == "recorded" {
							if !e.File() {
								t.Skip("in memory nothing comes between the last look and the record")
							}
							job.Progress = func(p patterns.Progress) { // of the call, before its intent is written
								if strings.Contains(p.Line, ": ") && strings.Contains(p.Line, "own") && told.CompareAndSwap(false, true) {
									k.pays(t, e, 60)
								}
							}
						}
						ended, err := e.Start(t.Context(), job)
						if err != nil {
							t.Fatal(err)
						}
						r := e.until(t, ended.RunID, patterns.Over).Ended.Result
						sum, acts := k.sum(t)
						if cuts && (sum != 100 || acts != 2 || !r.OK()) || !cuts && (sum != 60 || acts != 1 || !isCapped(r)) {
							t.Errorf("%s: %v was paid in %d acts; sent %v", endOf(r), sum, acts, k.sent)
						}
						if n := judgedIn(e.intact(t, ended.RunID)); moment == "judged" && n < 2 || moment == "recorded" && !told.Load() {
							t.Errorf("it was judged %d times, want it judged anew", n)
						}
					})
				}
			}
		}
	})
}

// What a person approved is not paid where another run spent the money before its intent: it is blocked, or what is left is put to
// them again. Only what they saw spends the approval.
func TestSpentAfterAPersonApproved(t *testing.T) {
	t.Parallel()
	for name, cuts := range map[string]bool{"blocked": false, "cut": true} {
		for _, moment := range []string{"while they think", "after they said it"} {
			for _, kind := range ownKinds {
				t.Run(name+"/"+moment+"/"+string(kind), func(t *testing.T) {
					e, k := openers["file"](t), &till{}
					k.pays(t, e, 30)
					policy := meanwhile{purse{day: 100, asks: 30, cuts: cuts}, 0, &atomic.Int64{}, func() { k.pays(t, e, 40) }}
					if moment != "while they think" {
						policy.n = 2
					}
					id := e.beginning(t, spends(t, kind, policy, k.takes(nil), nil, 50))
					e.until(t, id, patterns.Parked)
					if policy.n == 0 {
						policy.does()
					}
					decideAll(t, e.Engine, id, gateway.ChooseApprove)
					spentBy := func() int { return e.Count(t, "SELECT count(*) FROM approvals WHERE consumed IS NOT NULL") }
					if cuts {
						w := parksFor(t, e.Engine, id, func(w *patterns.Waiting) bool { return w.Question.Args["n"] == 30.0 })
						if w == nil || spentBy() != 0 {
							t.Fatalf("waits for %+v, %d approvals are spent; want a person for what is left, and none", w, spentBy())
						}
						decideAll(t, e.Engine, id, gateway.ChooseApprove)
					}
					r := e.until(t, id, patterns.Over).Ended.Result
					sum, acts := k.sum(t)
					if cuts && (sum != 100 || acts != 3 || !r.OK() || spentBy() != 1) || !cuts && (sum != 70 || acts != 2 || !isCapped(r) || spentBy() != 0) {
						t.Errorf("%s: %v was paid in %d acts, %d approvals are spent; sent %v", endOf(r), sum, acts, spentBy(), k.sent)
					}
					e.intact(t, id)
				})
			}
		}
	}
}
