package local_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// purse is a policy over what payments spend: the tool own pays its n. What is over the cap of a run or of a day is blocked, or cut
// to what is left where that is said.
type purse struct {
	run, day float64 // 0: no cap
	cuts     bool
	asks     float64 // a person decides from this sum of the day on; 0: nobody
}

var _ gateway.Windowed = purse{}

func (p purse) Windows(string) []gateway.Window {
	if p.day == 0 {
		return nil
	}
	return []gateway.Window{{Name: "purse.today", Tools: []string{"own"}, Since: func(now time.Time) time.Time { return now.Add(-24 * time.Hour) }}}
}

func (p purse) Review(c gateway.Case) gateway.Verdict {
	if c.Final() {
		return gateway.Verdict{Decision: gateway.Approve, Reason: "final"}
	}
	n, _ := c.Args["n"].(float64)
	left := n
	if p.run > 0 {
		left = min(left, p.run-spent(c.Effects))
	}
	today := 0.0
	if p.day > 0 {
		seen, there := c.Windows["purse.today"]
		if !there || seen.Err != nil {
			return gateway.Verdict{Reason: "policy_error:cap", Rule: "cap"}
		}
		today = spent(seen.Effects)
		left = min(left, p.day-today)
	}
	switch {
	case n > left && p.cuts && left > 0:
		return gateway.Verdict{Decision: gateway.Revise, Reason: "cut", Rule: "cut", Args: object{"n": left}}
	case n > left:
		return gateway.Verdict{Reason: "cap", Rule: "cap", Values: map[string]any{"today": today}}
	case p.asks > 0 && today >= p.asks:
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "much", Rule: "much", Values: map[string]any{"today": today}}
	}
	return gateway.Verdict{Decision: gateway.Approve, Reason: "in_cap"}
}

func spent(list []gateway.Entry) (sum float64) {
	for _, e := range list {
		if n, _ := e.Args["n"].(float64); e.Counts() && e.Tool == "own" {
			sum += n
		}
	}
	return sum
}

// till is what payments really reached.
type till struct {
	mu   sync.Mutex
	sent map[string][]float64 // by idempotency key
	all  int
}

// takes is a payment that is received, and then answered as turn says.
func (k *till) takes(turn func(n int) func(context.Context, catalog.Call) (any, error)) func(context.Context, catalog.Call) (any, error) {
	return func(ctx context.Context, c catalog.Call) (any, error) {
		k.mu.Lock()
		if k.sent == nil {
			k.sent = map[string][]float64{}
		}
		n, _ := c.Args["n"].(float64)
		k.sent[c.Key] = append(k.sent[c.Key], n)
		k.all++
		at := k.all
		k.mu.Unlock()
		if turn == nil {
			return object{"id": "1"}, nil
		}
		return turn(at)(ctx, c)
	}
}

// sum is what was paid in all, and in how many acts; one key is one act, and has one sum.
func (k *till) sum(t *testing.T) (sum float64, acts int) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, list := range k.sent {
		most := list[0]
		for _, n := range list {
			if most = max(most, n); n != list[0] {
				t.Errorf("%s was sent with %v: other arguments are another act", key, list)
			}
		}
		sum += most
	}
	return sum, len(k.sent)
}

// spends is a run of a kind with several payments.
func spends(t testing.TB, kind gateway.Kind, policy gateway.Reviewer, do func(context.Context, catalog.Call) (any, error), change func(*catalog.Tool), sums ...float64) patterns.Job {
	t.Helper()
	job := (&service{}).ownJob(t, kind, func(own *catalog.Tool) {
		own.Effect, own.Do = catalog.Write, do
		if change != nil {
			change(own)
		}
	})
	var steps, tasks, actions, subtasks []any
	for i, n := range sums {
		id, args := fmt.Sprintf("p%d", i+1), object{"n": n}
		steps = append(steps, object{"id": id, "title": id, "tool": "own", "args": args})
		tasks = append(tasks, object{"id": id, "worker": "own", "args": args, "critical": false})
		actions = append(actions, object{"kind": "tool", "name": "own", "args": args})
		subtasks = append(subtasks, object{"id": id, "description": id, "dependencies": []any{}, "tool": "own", "args": args})
	}
	b := &job.Spec.Budget
	b.MaxPlanSteps, b.MaxTasks, b.MaxSteps, b.MaxDispatches, b.MaxToolCalls = 20, 20, 20, 50, 50
	switch kind {
	case gateway.TaskDecomposition:
		job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "steps": steps})
	case gateway.Orchestrator:
		job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "tasks": tasks})
	case gateway.Supervisor:
		job.Task.Caller = patterns.Proposals("actions", append(actions, final))
	case gateway.Planning:
		job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "subtasks": subtasks})
		job.Task.Plan.OnFailure, job.Task.Plan.Concurrent = patterns.SkipOnFailure, len(sums)
	default:
		job.Task.Args = object{"n": sums[0]}
		job.Task.Caller = patterns.Proposals("route", object{"kind": "route", "target": "own", "args": job.Task.Args})
	}
	job.Spec.Reviewer = policy
	job.Spec.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
	return job
}

// slips has the first calls end with their time after they were received: they may have acted, and are made again. They say so
// themselves: a time that runs would cut those that act, too, on a busy machine.
func slips(most int) func(int) func(context.Context, catalog.Call) (any, error) {
	return func(n int) func(context.Context, catalog.Call) (any, error) {
		if n <= most {
			return faults(catalog.TimedOut, true, errActed)
		}
		return acts
	}
}

// safely has the tool be called again under the same key.
func safely(own *catalog.Tool) { own.Idempotent = true }

// Of two payments of 40 that a run makes at once, or one after the other, one is within a cap of 50, and one is made: also where
// the first one is made again, as nobody knows whether it acted, and whether the cap is the run's or a day's.
func TestPortTasksShareACap(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		for cap, policy := range map[string]purse{"run": {run: 50}, "day": {day: 50}, "both": {run: 50, day: 50}, "cut to the rest": {day: 50, cuts: true}} {
			for _, kind := range []gateway.Kind{gateway.Orchestrator, gateway.Planning} {
				for _, parallel := range []int{1, 3} {
					for _, lost := range []int{0, 1, 2} {
						t.Run(fmt.Sprintf("%s/%s/%d at once/%d lost", cap, kind, parallel, lost), func(t *testing.T) {
							e, k := open(t), &till{}
							job := spends(t, kind, policy, k.takes(slips(lost)), safely, 40, 45)
							job.Spec.Budget.MaxParallel, job.Spec.Budget.MaxRetriesPerTask = parallel, 2
							if p := job.Task.Plan; p != nil {
								p.Concurrent, p.OnFailure, p.MaxRetries, p.RetryDelay = parallel, patterns.RetryOnFailure, 2, 0
							}
							ended, err := e.Start(t.Context(), job)
							if err != nil {
								t.Fatal(err)
							}
							r := e.until(t, ended.RunID, patterns.Over).Ended.Result
							sum, acts := k.sum(t)
							want, wantActs := 40.0, 1
							if policy.cuts {
								want, wantActs = 50, 2
							}
							if sum != want || acts != wantActs {
								t.Errorf("%s: %v was paid in %d acts, want %v in %d; sent %v", endOf(r), sum, acts, want, wantActs, k.sent)
							}
							e.intact(t, ended.RunID)
						})
					}
				}
			}
		}
	})
}

// Likewise where the first ones are cut, and are under way when the next is weighed.
func TestTasksThatHangShareACap(t *testing.T) {
	for _, kind := range []gateway.Kind{gateway.Orchestrator, gateway.Planning} {
		for _, parallel := range []int{1, 3} {
			for lost := range 3 {
				t.Run(fmt.Sprintf("%s/%d at once/%d lost", kind, parallel, lost), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						k := &till{}
						job := spends(t, kind, purse{run: 50, day: 50}, k.takes(func(n int) func(context.Context, catalog.Call) (any, error) {
							if n <= lost {
								return hangs
							}
							return acts
						}), safely, 40, 45)
						b := &job.Spec.Budget
						b.MaxParallel, b.MaxRetriesPerTask, b.TaskTimeout, b.SubtaskTimeout = parallel, 2, 2*time.Second, 2*time.Second
						if p := job.Task.Plan; p != nil {
							p.Concurrent, p.OnFailure, p.MaxRetries, p.RetryDelay = parallel, patterns.RetryOnFailure, 2, 0
						}
						r := livedOut(t, job, &local.Engine{})
						if sum, acts := k.sum(t); sum != 40 || acts != 1 {
							t.Errorf("%s: %v was paid in %d acts, want 40 in one; sent %v", endOf(r), sum, acts, k.sent)
						}
					})
				})
			}
		}
	}
}

// tightens is a purse whose cap falls once it has judged so often, as that of an hour or of a smaller window may.
type tightens struct {
	purse
	after int
	judge *int
	mu    *sync.Mutex
}

func (p tightens) Review(c gateway.Case) gateway.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *p.judge++; *p.judge > p.after {
		p.run = 10
	}
	return p.purse.Review(c)
}

// One more attempt at a payment that may have been made is the same act in every pattern: where the policy would now have it be
// another sum, or none, it is not made.
func TestPortRetriesKeepTheirSum(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		for name, policy := range map[string]purse{"cut, by the run": {run: 50, cuts: true}, "cut, by a day": {run: 50, day: 500, cuts: true}, "blocked": {run: 50, day: 500}} {
			for _, kind := range ownKinds {
				t.Run(name+"/"+string(kind), func(t *testing.T) {
					e, k, mu, judged := open(t), &till{}, sync.Mutex{}, 0
					lost := func(n int) func(context.Context, catalog.Call) (any, error) {
						if n == 1 {
							mu.Lock()
							judged = 1000
							mu.Unlock()
							return faults(catalog.NoAnswer, true, errActed)
						}
						return acts
					}
					job := spends(t, kind, tightens{policy, 1000, &judged, &mu}, k.takes(lost), func(own *catalog.Tool) {
						safely(own)
						own.Retry = catalog.Retry{Max: 2, Delay: time.Millisecond, MaxDelay: time.Millisecond}
					}, 40)
					if p := job.Task.Plan; p != nil {
						p.OnFailure, p.MaxRetries, p.RetryDelay = patterns.RetryOnFailure, 2, 0
					}
					job.Spec.Budget.MaxRetriesPerTask = 2
					ended, err := e.Start(t.Context(), job)
					if err != nil {
						t.Fatal(err)
					}
					if s, _ := e.Run(mine, ended.RunID); s.State != patterns.Over { // a person is to say what became of it
						if _, err := e.Cancel(t.Context(), mine, ended.RunID, patterns.Note{By: mine}); err != nil {
							t.Fatal(err)
						}
					}
					r := e.until(t, ended.RunID, patterns.Over).Ended.Result
					if sum, acts := k.sum(t); sum != 40 || acts != 1 || k.all != 1 && !r.OK() {
						t.Errorf("%s: %v was paid in %d acts by %d calls, want 40 once; sent %v", endOf(r), sum, acts, k.all, k.sent)
					}
					if len(r.Ledger) != 1 || !r.Ledger[0].Counts() {
						t.Errorf("%s: effects %+v; want one that counts", endOf(r), r.Ledger)
					}
				})
			}
		}
	})
}

// A payment that was made before under its business key is not sent again, and a cap counts it once.
func TestPortDuplicatesCountOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e, k := open(t), &till{}
		keyed := func(key string) func(*catalog.Tool) {
			return func(own *catalog.Tool) { own.Once = func(map[string]any) (string, error) { return key, nil } }
		}
		for i, tt := range []struct {
			key string
			ok  bool
		}{{"order-1", true}, {"order-1", true}, {"order-2", true}, {"order-3", false}} {
			ended, err := e.Start(t.Context(), spends(t, gateway.Call, purse{day: 100}, k.takes(nil), keyed(tt.key), 40))
			if err != nil || ended.Result.OK() != tt.ok {
				t.Errorf("payment %d of %s: %v, %s; want it let through %t", i, tt.key, err, endOf(ended.Result), tt.ok)
			}
		}
		if sum, acts := k.sum(t); sum != 80 || acts != 2 {
			t.Errorf("%v was paid in %d acts, want 80 in 2", sum, acts)
		}
	})
}
