package local_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// hourly is a policy over the hour before.
type hourly struct{ gateway.Windowed }

func (hourly) Windows(string) []gateway.Window {
	return []gateway.Window{{Name: "purse.today", Tools: []string{"own"}, Since: func(now time.Time) time.Time { return now.Add(-time.Hour) }}}
}

// Between a call's judgment and its intent the newest run leaves the window and is pruned, and another one, which pays, is given its
// events' ids.
func TestWindowWhoseEventsTakeOthersPlaces(t *testing.T) {
	t.Parallel()
	e, k := openers["file"](t), &till{}
	pay := func(n float64) {
		job := spends(t, gateway.Call, hourly{purse{day: 100}}, k.takes(nil), nil, n)
		if ended, err := e.Start(context.WithoutCancel(t.Context()), job); err != nil || !ended.Result.OK() {
			t.Errorf("another run's %v: %v, %s", n, err, endOf(ended.Result))
		}
	}
	pay(40)
	e.Ahead(59 * time.Minute)
	policy := hourly{meanwhile{purse{day: 100}, 1, &atomic.Int64{}, func() {
		e.Ahead(2 * time.Minute)
		if list, err := e.Operator().Prune(time.Now().Add(24*time.Hour), false); err != nil || len(list) != 1 {
			t.Errorf("%d runs were pruned (%v), want the first", len(list), err)
		}
		pay(60)
	}}}
	job := spends(t, gateway.Call, policy, k.takes(nil), nil, 50)
	job.Spec.Budget.MaxTime = 5 * time.Hour
	ended, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if r := e.until(t, ended.RunID, patterns.Over).Ended.Result; !isCapped(r) {
		t.Errorf("%s; want it capped: 60 were paid in this hour, and 50 are over 100", endOf(r))
	}
}

// A payment that a look-up said was not made is tried again, and nobody knows what became of that: other runs reckon with it, until
// somebody does.
func TestPortFindingsAreOfTheirAttempts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		for _, kind := range []gateway.Kind{gateway.Orchestrator, gateway.Planning} {
			t.Run(string(kind), func(t *testing.T) {
				e, k := open(t), &till{}
				var mu sync.Mutex
				calls, other := 0, ""
				turns := []func(context.Context, catalog.Call) (any, error){faults(catalog.NoAnswer, false, errGone), faults(catalog.NotSent, true, errGone)}
				job := spends(t, kind, purse{day: 100}, nil, func(own *catalog.Tool) {
					looksUp(0)(own)
					own.Idempotent, own.Retry = false, catalog.Retry{Max: 2, Delay: time.Millisecond}
					own.Do = k.takes(func(int) func(context.Context, catalog.Call) (any, error) {
						mu.Lock()
						defer mu.Unlock()
						if calls++; calls <= len(turns) {
							return turns[calls-1]
						}
						return faults(catalog.NoAnswer, false, errActed)
					})
				}, 60)
				own, _ := job.Spec.Catalog.Tool("own")
				found, _ := job.Spec.Catalog.Tool("found")
				found.Do = func(context.Context, catalog.Call) (any, error) {
					mu.Lock()
					defer mu.Unlock()
					if calls <= len(turns) {
						return object{"found": false}, nil
					}
					if other == "" {
						ended, err := e.Start(context.WithoutCancel(t.Context()), spends(t, gateway.Call, purse{day: 100}, k.takes(nil), nil, 60))
						if other = endOf(ended.Result); err != nil {
							t.Error(err)
						}
					}
					return object{"found": true}, nil
				}
				job.Spec.Catalog = must(catalog.New(own, found))
				ended, err := e.Start(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				if r := e.until(t, ended.RunID, patterns.Over).Ended.Result; !r.OK() || other != "policy_block:cap" {
					t.Errorf("%s after %d calls; another run meanwhile: %s, want it capped", endOf(r), calls, other)
				}
			})
		}
	})
}
