package kinds

import (
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// approvedSpec is planning over pay and look, whose plans a person approves.
func approvedSpec(t *testing.T, require patterns.RequireApproval, approver patterns.ApproverKind) patterns.Spec {
	t.Helper()
	s := asksToPay(t, gateway.Planning)
	pay, _ := s.Catalog.Tool("pay")
	look := pay
	look.Name, look.Effect = "look", catalog.Read
	c, err := catalog.New(pay, look)
	if err != nil {
		t.Fatal(err)
	}
	s.Catalog, s.Policy, s.Execution = c, c.Names(), c.Names()
	s.Name, s.Plans, s.Envelope, s.Approver.Kind = "plan_execute", "plan", require, approver
	return s
}

func carriesOut(subtasks ...any) patterns.Task {
	plan := map[string]any{"kind": "plan", "subtasks": subtasks}
	return patterns.Task{
		Plan:   &patterns.PlanCall{Verb: patterns.ExecuteVerb, Concurrent: 1, OnFailure: patterns.AbortOnFailure, RetryDelay: time.Second},
		Caller: []document.Intent{document.FromCaller(plan, "/plan")},
	}
}

func subtask(id, tool string, args map[string]any, dependencies ...any) any {
	return map[string]any{"id": id, "description": "do " + id, "tool": tool, "args": args, "dependencies": dependencies}
}

// asksWhole are the keys and words of the questions about plans.
func (w *world) asksWhole() (keys, words []string) {
	for i, e := range w.effects {
		if e.Name == patterns.ApprovePlan {
			asked := e.Act.(patterns.ConsentAct).Approval
			keys, words = append(keys, w.keys[i]), append(words, patterns.SayPlan(*asked.Plan, asked.Catalog, true))
		}
	}
	return keys, words
}

// Which plans are put to a person, in which order and words, and what becomes of them without one.
func TestPlansArePutToAPerson(t *testing.T) {
	look, pay := subtask("a", "look", map[string]any{"n": 1.0}), subtask("b", "pay", map[string]any{"n": 2.0}, "a")
	yes := patterns.Decision{Approved: true, By: "local:1", Channel: "cli", Assurance: gateway.UserAssurance, Approval: "ap_00000000000000a1"}
	edited := yes
	edited.Args = map[string]any{"plan_id": "another"}
	tests := map[string]struct {
		require  patterns.RequireApproval
		approver patterns.ApproverKind
		task     patterns.Task
		says     patterns.Outcome
		reason   string
		words    string // "": nobody is asked
		calls    int
	}{
		"none":                 {patterns.RequireNone, patterns.RejectApprover, carriesOut(look, pay), patterns.Outcome{}, patterns.Success, "", 2},
		"write, and one reads": {patterns.RequireWrite, patterns.RejectApprover, carriesOut(look), patterns.Outcome{}, patterns.Success, "", 1},
		"write":                {patterns.RequireWrite, patterns.InboxApprover, carriesOut(pay, look), answered(yes.Value()), patterns.Success, "a plan of 2 steps (1 writes: pay (n 2))", 2},
		"plan":                 {patterns.RequirePlan, patterns.InboxApprover, carriesOut(look), answered(yes.Value()), patterns.Success, "a plan of 1 step (none writes)", 1},
		"nothing is said":      {"", patterns.InboxApprover, carriesOut(look), answered(yes.Value()), patterns.Success, "a plan of 1 step (none writes)", 1},
		"nobody may be asked":  {patterns.RequireWrite, patterns.RejectApprover, carriesOut(look, pay), answered(patterns.Decision{}.Value()), step.HumanRejected, "a plan of 2 steps (1 writes: pay (n 2))", 0},
		"silence":              {patterns.RequireWrite, patterns.InboxApprover, carriesOut(look, pay), patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired}, gateway.ApprovalExpired, "a plan of 2 steps (1 writes: pay (n 2))", 0},
		"forged":               {patterns.RequireWrite, patterns.InboxApprover, carriesOut(look, pay), patterns.Outcome{State: patterns.Failed, Reason: gateway.ApprovalInvalid}, gateway.ApprovalInvalid, "a plan of 2 steps (1 writes: pay (n 2))", 0},
		"cancelled":            {patterns.RequireWrite, patterns.InboxApprover, carriesOut(look, pay), patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonCanceled}, "cancelled", "a plan of 2 steps (1 writes: pay (n 2))", 0},
		"edited":               {patterns.RequireWrite, patterns.InboxApprover, carriesOut(look, pay), answered(edited.Value()), step.HumanRejected, "a plan of 2 steps (1 writes: pay (n 2))", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{takes: 48 * time.Hour, script: map[string]patterns.Outcome{}}
			if tt.says.State != "" {
				w.script["approve_plan#1"] = tt.says
			}
			r, _ := w.run(t, approvedSpec(t, tt.require, tt.approver), tt.task)
			_, words := w.asksWhole()
			if got := strings.Join(words, "|"); got != tt.words {
				t.Errorf("asked about %q, want %q", got, tt.words)
			}
			if calls := len(w.called("look")) + len(w.called("pay")); r.StopReason != tt.reason || calls != tt.calls {
				t.Fatalf("ended %s with %d calls, want %s with %d; %+v", r.StopReason, calls, tt.reason, tt.calls, r.Problems)
			}
			if tt.reason == patterns.Success {
				return
			}
			if r.Phase != patterns.PhaseExecute || r.Planned == nil || r.Planned.Resumable == nil || !*r.Planned.Resumable || r.Planned.View.Counts.Pending != 2 {
				t.Errorf("it stopped in phase %s with %+v", r.Phase, r.Planned)
			}
			if (r.Human != nil) != (tt.says.State == patterns.OK) || r.Human != nil && r.Human.Approved {
				t.Errorf("by %+v", r.Human)
			}
		})
	}
}

// A plan that nobody could read is put to nobody.
func TestPlanTooLongToApprove(t *testing.T) {
	w := &world{script: map[string]patterns.Outcome{}}
	var subtasks []any
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		subtasks = append(subtasks, subtask(id, "pay", map[string]any{"n": 1.0, "ticket": strings.Repeat("x", 60<<10)}))
	}
	r, _ := w.run(t, approvedSpec(t, patterns.RequireWrite, patterns.InboxApprover), carriesOut(subtasks...))
	if keys, _ := w.asksWhole(); len(keys) > 0 || r.StopReason != step.HumanRejected || r.Human == nil || r.Human.By != "configuration" || r.Phase != patterns.PhaseExecute || len(w.called("pay")) > 0 {
		t.Errorf("asked %v, ended %s in %s", keys, r.StopReason, r.Phase)
	}
	if len(r.Problems) != 1 || r.Problems[0].Reason != "too_large:plan" {
		t.Errorf("problems %+v", r.Problems)
	}
}

// What the policy puts to a person is not put to them again where they were shown it with the plan; each call spends its share.
func TestStepsSpendTheirShares(t *testing.T) {
	yes := patterns.Decision{Approved: true, By: "local:1", Channel: "cli", Assurance: gateway.UserAssurance, Approval: "ap_00000000000000a1"}
	w := &world{script: map[string]patterns.Outcome{"approve_plan#1": answered(yes.Value())}}
	task := carriesOut(subtask("a", "look", map[string]any{"n": 1.0}), subtask("b", "pay", map[string]any{"n": 15.0}, "a"), subtask("c", "pay", map[string]any{"n": 2.0}, "b"))
	r, _ := w.run(t, approvedSpec(t, patterns.RequireWrite, patterns.InboxApprover), task)
	if r.StopReason != patterns.Success {
		t.Fatalf("ended %s: %+v", r.StopReason, r.Trace)
	}
	var got []string
	for _, e := range w.effects {
		if call, isCall := e.Act.(patterns.CallAct); isCall {
			got = append(got, call.Permit.Share()+" of "+call.Permit.Approval()+" "+call.Permit.Verdict().Decision.String())
		}
		if e.Name == "approve" {
			t.Errorf("asked about a call: %+v", e.Act.(patterns.ConsentAct).Approval.Action)
		}
	}
	want := "a of ap_00000000000000a1 approve|b of ap_00000000000000a1 escalate|c of ap_00000000000000a1 approve"
	if strings.Join(got, "|") != want {
		t.Errorf("spent %v, want %s", got, want)
	}
	for _, row := range r.Trace {
		a := row.(patterns.AttemptRow)
		if (a.HumanApproval != nil) != (a.Tool == "pay") {
			t.Errorf("%s shows %+v", a.SubtaskID, a.HumanApproval)
		}
	}
}
