package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/reference"
)

// cashier pays; its first call never comes back. What was paid can be looked up by the idempotency key.
type cashier struct {
	sent   chan string // of the call that is stuck
	stuck  bool
	arrive bool // the stuck call arrives all the same
	paid   []string
}

func (c *cashier) spec(t *testing.T, reconcile bool) patterns.Spec {
	t.Helper()
	input := func(text string) *catalog.Schema {
		s, err := catalog.CompileSchema([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	pay := catalog.Tool{Name: "pay", Effect: catalog.Write, Input: input(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		Output: input(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
		Do: func(ctx context.Context, call catalog.Call) (any, error) {
			if !c.stuck {
				c.stuck = true
				if c.arrive {
					c.paid = append(c.paid, call.Key)
				}
				c.sent <- call.Key
				<-ctx.Done()
				select {} // deaf
			}
			c.paid = append(c.paid, call.Key)
			return map[string]any{"id": "paid"}, nil
		}}
	if reconcile {
		pay.Reconcile = &catalog.Reconcile{Tool: "paid", Args: catalog.ArgsFrom(map[string]any{"key": catalog.EffectKey}), Happened: func(_ catalog.Doubt, v any) (bool, bool) {
			seen, _ := v.(map[string]any)
			return seen["id"] != nil, true
		}}
	}
	paid := catalog.Tool{Name: "paid", Effect: catalog.Read, Input: input(`{"type":"object","properties":{"key":{"type":"string"}}}`),
		Do: func(_ context.Context, call catalog.Call) (any, error) {
			if key, _ := call.Args["key"].(string); slices.Contains(c.paid, key) {
				return map[string]any{"id": "paid"}, nil
			}
			return map[string]any{}, nil
		}}
	tools, err := catalog.New(pay, paid)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"pay"}
	return patterns.Spec{Name: "pay_out", Kind: gateway.TaskDecomposition, Catalog: tools, Policy: names, Execution: names, Budget: gateway.DefaultBudget(gateway.TaskDecomposition)}
}

func (c *cashier) job(t *testing.T, reconcile bool) patterns.Job {
	var steps []any
	for i, id := range []string{"a", "b", "c"} {
		steps = append(steps, object{"id": id, "title": id, "tool": "pay", "args": object{"n": float64(i)}})
	}
	return patterns.Job{Spec: c.spec(t, reconcile), Model: &script{}, Caller: patterns.Caller{Principal: "local:1"}, Task: patterns.Task{
		Goal: "pay", Caller: patterns.Proposals("plan", object{"kind": "plan", "steps": steps})}}
}

// interrupt begins a run whose first payment gets stuck, and leaves it to the next engine.
func (c *cashier) interrupt(t *testing.T, path string, job patterns.Job) string {
	t.Helper()
	e := opened(t, path, jobs{job.Spec.Name: job})
	ctx, leave := context.WithCancelCause(t.Context())
	began := make(chan patterns.Ended, 1)
	go func() {
		ended, err := e.Start(ctx, job)
		if err != nil {
			t.Error(err)
		}
		began <- ended
	}()
	<-c.sent
	leave(patterns.ErrDetached)
	id := (<-began).RunID
	e.Close()
	return id
}

// A call of a process that ended is in doubt over engines and restarts, until somebody knows; the run then ends as one
// without a crash.
func TestDoubtInAFile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		arrive, reconcile bool
		settlement        *local.Settlement
		paid              int
	}{
		"it did not happen":          {settlement: &local.Settlement{}, paid: 3},
		"it happened":                {arrive: true, settlement: &local.Settlement{Happened: true, Result: json.RawMessage(`{"id":"paid"}`)}, paid: 3},
		"looked up, and it happened": {arrive: true, reconcile: true, paid: 3},
		"looked up, and it did not":  {reconcile: true, paid: 3},
	} {
		t.Run(name, func(t *testing.T) {
			whole := &cashier{stuck: true}
			want, _ := carryOut(t, whole.spec(t, tt.reconcile), whole.job(t, tt.reconcile).Task, &script{})
			c := &cashier{sent: make(chan string, 1), arrive: tt.arrive}
			path, job := newState(t), c.job(t, tt.reconcile)
			id := c.interrupt(t, path, job)
			e := opened(t, path, jobs{job.Spec.Name: job})
			e.Go()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			s, ok := e.Wait(ctx, "local:1", id, patterns.Mark{State: patterns.Running})
			if tt.settlement != nil {
				w := s.Ended.Waiting
				if !ok || s.State != patterns.Parked || w == nil || w.Kind != patterns.ForSettlement || w.Effect != "pay#1" {
					t.Fatalf("%t, the run is %s and waits for %+v; want a settlement of pay#1", ok, s.State, w)
				}
				if l := w.SoFar.Ledger; len(l) != 1 || l[0].Status != gateway.InDoubt {
					t.Errorf("meanwhile the effects are %+v, want the payment in doubt", l)
				}
				if err := e.Operator().Settle(id, "pay#2", *tt.settlement); !errors.Is(err, patterns.ErrNotTaken) {
					t.Errorf("a call that is not in doubt: %v, want ErrNotTaken", err)
				}
				if err := e.Operator().Settle(id, "pay#1", *tt.settlement); err != nil {
					t.Fatal(err)
				}
				if err := e.Operator().Settle(id, "pay#1", *tt.settlement); !errors.Is(err, patterns.ErrNotTaken) {
					t.Errorf("settled twice: %v, want ErrNotTaken", err)
				}
				s, ok = e.Wait(ctx, "local:1", id, s.Mark())
				for ok && s.State == patterns.Running {
					s, ok = e.Wait(ctx, "local:1", id, s.Mark())
				}
			}
			if !ok || s.State != patterns.Over || withoutIDs(comparable(t, s.Ended.Result)) != withoutIDs(comparable(t, want)) {
				t.Errorf("%t, %s: %s\nwant %s", ok, s.State, comparable(t, s.Ended.Result), comparable(t, want))
			}
			if len(c.paid) != tt.paid {
				t.Errorf("paid %q, want %d", c.paid, tt.paid)
			}
			e.Close()
			later := opened(t, path, jobs{job.Spec.Name: job})
			if again, ok := later.Run("local:1", id); !ok || asJSON(t, again.Ended.Result) != asJSON(t, s.Ended.Result) || again.Kept != nil {
				t.Errorf("read again (%t): %s\nwant %s", ok, asJSON(t, again.Ended.Result), asJSON(t, s.Ended.Result))
			}
		})
	}
}

// A task in doubt waits for a person only when the others have ended, over restarts; its crash costs it nothing.
func TestTaskInDoubtInAFile(t *testing.T) {
	c := &cashier{sent: make(chan string, 1)}
	job := c.job(t, false)
	job.Spec.Kind, job.Spec.Budget = gateway.Orchestrator, gateway.DefaultBudget(gateway.Orchestrator)
	job.Spec.Policy, job.Spec.Execution, job.Spec.Aggregate = job.Spec.Catalog.Names(), job.Spec.Catalog.Names(), reference.Operations
	job.Spec.Budget.MaxDispatches, job.Spec.Budget.MaxParallel, job.Spec.Budget.TaskTimeout = 3, 1, time.Hour
	job.Task = patterns.Task{Goal: "x", Inputs: inputs, Caller: patterns.Proposals("plan", object{"kind": "plan", "tasks": []any{
		object{"id": "a", "worker": "pay", "args": object{"n": 1.0}, "critical": true},
		object{"id": "b", "worker": "paid", "args": object{"key": "x"}, "critical": true},
		object{"id": "c", "worker": "pay", "args": object{"n": 3.0}, "critical": true},
	}})}
	path := newState(t)
	id := c.interrupt(t, path, job)
	for restart := range 2 {
		e := opened(t, path, jobs{job.Spec.Name: job})
		e.Go()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s, ok := e.Wait(ctx, "local:1", id, patterns.Mark{State: patterns.Running})
		w := s.Ended.Waiting
		if !ok || w == nil || w.Kind != patterns.ForSettlement || w.Effect != "task#1/pay#1" || len(w.SoFar.Ledger) != 3 || len(w.SoFar.Trace) != 2 || len(c.paid) != 1 {
			t.Fatalf("restart %d: %t, %s waits for %+v after %v; want a settlement when the other two have ended", restart, ok, s.State, w, c.paid)
		}
		if restart == 0 {
			e.Close()
			continue
		}
		if err := e.Operator().Settle(id, w.Effect, local.Settlement{}); err != nil {
			t.Fatal(err)
		}
		for ok && s.State != patterns.Over {
			s, ok = e.Wait(ctx, "local:1", id, s.Mark())
		}
		r := s.Ended.Result
		if !r.OK() || len(c.paid) != 2 || c.paid[1] == c.paid[0] || r.Budget["max_dispatches"].Used != 3 {
			t.Errorf("ended with %s, paid %q: %s", r.StopReason, c.paid, asJSON(t, r.Trace))
		}
		for _, row := range r.History {
			if task := row.(patterns.TaskRow); task.AttemptsUsed != 1 || !task.Done() {
				t.Errorf("%s: %+v, want it done in one attempt", task.TaskID, task)
			}
		}
	}
}

// A run that was settled while nobody carries it on is listed as one that goes on, not as one that waits for a person.
func TestSettledRunIsListedAsItStands(t *testing.T) {
	c := &cashier{sent: make(chan string, 1)}
	path, job := newState(t), c.job(t, false)
	id := c.interrupt(t, path, job)
	operator := opened(t, path, jobs{job.Spec.Name: job}).Operator()
	if _, err := operator.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := operator.Settle(id, "pay#1", local.Settlement{Happened: true}); err != nil {
		t.Fatal(err)
	}
	page, err := operator.List(patterns.Filter{})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Status != "running" || page.Rows[0].WaitingKind != "" || !page.Rows[0].Expires.IsZero() {
		t.Errorf("listed: %+v, %v; want a run that goes on", page.Rows, err)
	}
}
