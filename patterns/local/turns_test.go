package local_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"patterngate/gateway"
	"patterngate/patterns"
)

// However a caller's actions are dealt out over turns, the run comes to the same result as with all of them at once:
// same calls, budgets, loops, approvals and stop.
func TestTurnsDoNotMatter(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		s := spec(t, gateway.Supervisor, 0)
		e := open(t)
		pay := func(amount float64) any {
			return object{"kind": "tool", "name": "issue_refund", "args": object{"user_id": 42.0, "amount_usd": amount, "reason": "asked"}}
		}
		choices := []any{lookUp, lookUp, pay(20), pay(300), pay(1100), mail, final,
			object{"kind": "tool", "name": "get_refund_context", "args": object{"user_id": 7.0}}}
		rapid.Check(t, func(rt *rapid.T) {
			actions := rapid.SliceOfN(rapid.SampledFrom(choices), 1, 10).Draw(rt, "actions")
			actions = append(actions, final) // so that it ends either way
			job := patterns.Job{Spec: s, Task: actionsTask(actions...), Model: &script{}, Caller: patterns.Caller{Principal: "local:1"}}
			whole, err := e.Start(context.Background(), job)
			if err != nil || whole.Waiting != nil {
				rt.Fatalf("at once: %v, %+v", err, whole)
			}
			job.Task = actionsTask()
			ended, err := e.Start(context.Background(), job)
			for err == nil && ended.Waiting != nil {
				if w := ended.Waiting; w.Kind != patterns.ForCaller || len(actions) == 0 {
					rt.Fatalf("with %d actions left it waits for %+v", len(actions), w)
				}
				n := rapid.IntRange(1, len(actions)).Draw(rt, "turn")
				ended, err = e.Continue(context.Background(), patterns.Continuation{
					Principal: "local:1", RunID: ended.RunID, Turn: ended.Waiting.Turn, Given: object{"actions": actions[:n]},
				})
				actions = actions[n:]
			}
			if err != nil {
				rt.Fatal(err)
			}
			// How many were handed in differs where the run stopped before it asked for the rest.
			whole.Result.Proposed, ended.Result.Proposed = nil, nil
			if got, want := comparable(t, ended.Result), comparable(t, whole.Result); got != want {
				rt.Errorf("in turns %s\nat once %s", got, want)
			}
		})
	})
}
