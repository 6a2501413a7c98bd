package kinds

import (
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/planexecute"
)

// A pause before an attempt that the run's deadline cuts ends the run by its time, and what may have happened is looked up.
func TestDeadlineBetweenAttempts(t *testing.T) {
	p := &till{paid: map[string]string{"once pay#1": "Anna"}}
	spec, task := paying(t, p, func(pay *catalog.Tool) {
		reconciled(time.Minute)(pay)
		pay.Idempotent, pay.Retry = true, catalog.Retry{Max: 1, Delay: time.Second}
	})
	w := &world{script: map[string]patterns.Outcome{"pay#1": {State: patterns.Unknown, Reason: patterns.ReasonBrokenReply}, "sleep#1": {State: patterns.Canceled, Reason: patterns.ReasonDeadline}}}
	r, _ := w.run(t, spec, task)
	if r.StopReason != "max_seconds" || len(w.called("paid")) != 1 || r.Ledger[1].Status != gateway.Finished || p.made != 0 {
		t.Errorf("ended with %s after %d look-ups, %s; want max_seconds after one, done", r.StopReason, len(w.called("paid")), r.Ledger[1].Status)
	}
}

// A further attempt that is refused, as where an approval does not hold any more, leaves the doubt about the one before: it is
// found out about, and made again by nobody.
func TestRefusedAttemptLeavesTheDoubt(t *testing.T) {
	for name, tt := range map[string]struct {
		paid    map[string]string
		change  func(*catalog.Tool)
		refused string
		reason  string
		looks   int
		status  gateway.EffectStatus
	}{
		"it happened":               {map[string]string{"once pay#1": "Anna"}, reconciled(time.Minute), gateway.ApprovalInvalid, patterns.Success, 1, gateway.Finished},
		"it happened, key is taken": {map[string]string{"once pay#1": "Anna"}, reconciled(time.Minute), patterns.ReasonOnceReused, patterns.Success, 1, gateway.Finished},
		"it did not":                {map[string]string{}, reconciled(0), gateway.ApprovalInvalid, "tool_error:pay", 1, gateway.Failed},
		"nobody knows":              {map[string]string{}, func(*catalog.Tool) {}, gateway.ApprovalInvalid, "in_doubt:pay", 0, gateway.InDoubt},
	} {
		t.Run(name, func(t *testing.T) {
			p := &till{paid: tt.paid}
			spec, task := paying(t, p, func(pay *catalog.Tool) {
				tt.change(pay)
				pay.Idempotent, pay.Retry = true, catalog.Retry{Max: 1, Delay: time.Second}
			})
			spec.Kind, spec.Tool, spec.Budget, task.Args = gateway.Call, "pay", gateway.DefaultBudget(gateway.Call), map[string]any{"to": "Anna"}
			w := &world{script: map[string]patterns.Outcome{"pay#1": {State: patterns.Unknown, Reason: patterns.ReasonBrokenReply}, "pay#2": {State: patterns.Canceled, Reason: tt.refused}}}
			r, _ := w.run(t, spec, task)
			if r.StopReason != tt.reason || len(w.called("paid")) != tt.looks || len(r.Ledger) != 1 || r.Ledger[0].Status != tt.status || p.made != 0 {
				t.Errorf("ended with %s after %d look-ups, %+v; want %s after %d, %s", r.StopReason, len(w.called("paid")), r.Ledger, tt.reason, tt.looks, tt.status)
			}
		})
	}
}

// The same of a task, and of a kill switch.
func TestEndBetweenAttemptsOfATask(t *testing.T) {
	for reason, want := range map[string]string{patterns.ReasonDeadline: "max_seconds", patterns.ReasonKillSwitch: patterns.ReasonKillSwitch, patterns.ReasonCanceled: "cancelled"} {
		t.Run(reason, func(t *testing.T) {
			spec := bookkeeping(t)
			spec.Catalog = changed(t, spec.Catalog, func(slow *catalog.Tool) { slow.Retry = catalog.Retry{Max: 1, Delay: time.Second} })
			w := &world{script: map[string]patterns.Outcome{"task#1/slow#1": {State: patterns.Unknown, Reason: patterns.ReasonBrokenReply}, "task#1/sleep#1": {State: patterns.Canceled, Reason: reason}}}
			r, _ := w.run(t, spec, workers("slow"))
			row := r.History[0].(patterns.TaskRow)
			if r.StopReason != want || row.StopReason != want || !row.InDoubt || row.AttemptsUsed != 1 {
				t.Errorf("ended with %s, its task %+v; want %s and a task in doubt after one attempt", r.StopReason, row, want)
			}
		})
	}
}

// The same of a subtask: what was done stays done, and who takes the run back does not wait for that to be found out.
func TestEndBetweenAttemptsOfASubtask(t *testing.T) {
	for reason, tt := range map[string]struct {
		stop  string
		looks int
		want  patterns.SubtaskStatus
	}{
		patterns.ReasonDeadline: {"max_seconds", 1, patterns.SubtaskCompleted}, patterns.ReasonKillSwitch: {patterns.ReasonKillSwitch, 1, patterns.SubtaskCompleted}, patterns.ReasonCanceled: {"cancelled", 0, patterns.SubtaskPending},
	} {
		t.Run(reason, func(t *testing.T) {
			p := &till{paid: map[string]string{"once b#1/pay#1": "Anna"}}
			spec, task := paying(t, p, func(pay *catalog.Tool) {
				reconciled(time.Minute)(pay)
				pay.Idempotent, pay.Retry = true, catalog.Retry{Max: 1, Delay: time.Second}
			})
			spec.Kind, spec.Budget, spec.Envelope = gateway.Planning, gateway.DefaultBudget(gateway.Planning), patterns.RequireNone
			task.Plan = &patterns.PlanCall{Verb: patterns.ExecuteVerb, Concurrent: 1, OnFailure: patterns.AbortOnFailure}
			task.Caller = patterns.Proposals("plan", map[string]any{"kind": "plan", "subtasks": []any{
				map[string]any{"id": "b", "description": "b", "dependencies": []any{}, "tool": "pay", "args": map[string]any{"to": "Anna"}}}})
			w := &world{script: map[string]patterns.Outcome{"b#1/pay#1": {State: patterns.Unknown, Reason: patterns.ReasonBrokenReply}, "retry#1/sleep#1": {State: patterns.Canceled, Reason: reason}}}
			r, _ := w.run(t, spec, task)
			if r.Planned == nil || r.Planned.View == nil {
				t.Fatalf("ended with %s, and no plan: %v", r.StopReason, w.keys)
			}
			if row := r.Planned.View.Plan.Subtasks[0]; r.StopReason != tt.stop || row.Status != tt.want || len(w.called("paid")) != tt.looks || p.made != 0 {
				t.Errorf("ended with %s after %d look-ups, the subtask %s; want %s after %d, %s", r.StopReason, len(w.called("paid")), row.Status, tt.stop, tt.looks, tt.want)
			}
		})
	}
}

// slow is a scripted run one of whose bodies makes its call beside all others, and has its outcome when they are at rest.
type slow struct {
	*scripted
	body string
}

func (s slow) Flow(next func() (string, func(patterns.Run), bool)) {
	goes, ended := make(chan bool), make(chan bool)
	var held *held
	for name, body, ok := next(); ok; name, body, ok = next() {
		branch := &scripted{s.world, s.key(name) + "/", map[string]int{}, s.at}
		if name == s.body && held == nil {
			held = holding(branch, goes)
			go func() { body(held); close(ended) }()
			<-held.calls
			continue
		}
		body(branch)
		s.at = s.clock
	}
	if held != nil {
		close(goes)
		<-ended
		s.at = s.clock
	}
}

// held is the branch of the slow body.
type held struct {
	*scripted
	calls, goes chan bool
}

func holding(branch *scripted, goes chan bool) *held { return &held{branch, make(chan bool), goes} }

func (h *held) Do(e patterns.Effect) patterns.Outcome {
	close(h.calls)
	<-h.goes
	return h.scripted.Do(e)
}

// The same where another subtask fails beside it.
func TestEndBetweenAttemptsBesideAFailure(t *testing.T) {
	p := &till{paid: map[string]string{"once b#1/pay#1": "Anna"}}
	spec, task := paying(t, p, func(pay *catalog.Tool) {
		reconciled(time.Minute)(pay)
		pay.Idempotent, pay.Retry = true, catalog.Retry{Max: 1, Delay: time.Second}
	})
	spec.Kind, spec.Budget, spec.Envelope = gateway.Planning, gateway.DefaultBudget(gateway.Planning), patterns.RequireNone
	task.Plan = &patterns.PlanCall{Verb: patterns.ExecuteVerb, Concurrent: 2, OnFailure: patterns.AbortOnFailure}
	sub := func(id, to string) any {
		return map[string]any{"id": id, "description": id, "dependencies": []any{}, "tool": "pay", "args": map[string]any{"to": to}}
	}
	task.Caller = patterns.Proposals("plan", map[string]any{"kind": "plan", "subtasks": []any{sub("z", "Ben"), sub("b", "Anna")}})
	w := &world{clock: begun, quotas: map[string]int{}, script: map[string]patterns.Outcome{
		"b#1/pay#1": {State: patterns.Unknown, Reason: patterns.ReasonBrokenReply}, "b#2/pay#1": {State: patterns.Canceled, Reason: patterns.ReasonDeadline},
		"z#1/pay#1": {State: patterns.Failed, Reason: patterns.ReasonToolError},
	}}
	r := planexecute.Plan(slow{&scripted{world: w, seen: map[string]int{}, at: begun}, "z"}, spec, task)
	if r.Planned == nil || r.Planned.View == nil {
		t.Fatalf("ended with %s, and no plan: %v", r.StopReason, w.keys)
	}
	rows := r.Planned.View.Plan.Subtasks
	if r.StopReason != "max_seconds" || rows[0].Status != patterns.SubtaskFailed || rows[1].Status != patterns.SubtaskCompleted || len(w.called("paid")) != 1 || p.made != 0 {
		t.Errorf("ended with %s after %d look-ups, the subtasks %s and %s; want max_seconds after one, failed and completed\n%v",
			r.StopReason, len(w.called("paid")), rows[0].Status, rows[1].Status, w.keys)
	}
}

// Whether there is time for another attempt is told by the task's own clock: the run's stands still meanwhile.
func TestNoTimeForAnotherAttempt(t *testing.T) {
	spec := bookkeeping(t)
	spec.Budget.MaxTime, spec.Budget.MaxDispatches, spec.Budget.MaxToolCalls = 30*time.Second, 9, 9
	spec.Catalog = changed(t, spec.Catalog, func(slow *catalog.Tool) { slow.Retry = catalog.Retry{Max: 3, Delay: 12 * time.Second} })
	gone := patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonUnavailable, Again: true}
	w := &world{script: map[string]patterns.Outcome{"task#1/slow#1": gone, "task#1/slow#2": gone}}
	r, _ := w.run(t, spec, workers("slow"))
	if row := r.History[0].(patterns.TaskRow); row.StopReason != "worker_unavailable:slow" || row.AttemptsUsed != 2 || r.StopReason != patterns.Success {
		t.Errorf("ended with %s, its task %+v; want worker_unavailable:slow after two attempts", r.StopReason, row)
	}
}

// changed are a catalog's tools with slow as change makes it.
func changed(t *testing.T, c *catalog.Catalog, change func(*catalog.Tool)) *catalog.Catalog {
	t.Helper()
	var tools []catalog.Tool
	for _, name := range c.Names() {
		tool, _ := c.Tool(name)
		if name == "slow" {
			change(&tool)
		}
		tools = append(tools, tool)
	}
	list, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
