package local_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// judging is a policy over single calls; it counts what was before.
var judging = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
	n, _ := c.Args["n"].(float64)
	assumed := 0
	for _, e := range c.Effects {
		if e.Assumed {
			assumed++
		}
	}
	v := gateway.Verdict{Values: map[string]any{"size(run.effects)": float64(len(c.Effects))}}
	switch {
	case n == 1:
		v.Reason, v.Rule, v.Need = "no_ones", "ones", []string{"look"}
	case n == 2:
		v.Decision, v.Reason = gateway.Escalate, "ask"
	case n == 3:
		v.Decision, v.Reason, v.Args = gateway.Revise, "less", map[string]any{"n": 0.0}
	case n == 4 && assumed > 0:
		v.Unknown, v.Reason = true, "depends"
	default:
		v.Decision, v.Reason = gateway.Approve, "fine"
	}
	return v
})

// A dry run tells of each call how it would be judged, calls nothing, records nothing, and begins no run.
func TestPortRehearse(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		for name, tt := range map[string]struct {
			numbers []float64
			change  func(*patterns.Spec)
			reason  string
			verdict string
			rows    string // step tool decision rule reason
		}{
			"fine":    {[]float64{0, 5}, nil, "success", "approve", "1 approve fine fine 0; 2 approve fine fine 1"},
			"all":     {[]float64{0, 3, 2, 1}, nil, "success", "block", "1 approve fine fine 0; 2 revise less less 1; 3 escalate ask ask 2; 4 block ones no_ones 3"},
			"unknown": {[]float64{0, 4}, nil, "success", "unknown", "1 approve fine fine 0; 2 unknown depends depends 1"},
			"known":   {[]float64{4}, nil, "success", "approve", "1 approve fine fine 0"},
			"a loop":  {[]float64{0, 0}, func(s *patterns.Spec) { s.Budget.MaxSameCall = 1 }, "success", "block", "1 approve fine fine 0; 2 block  loop_detected -"},
			"denied":  {[]float64{0}, func(s *patterns.Spec) { s.Execution = nil }, "success", "block", "1 block  tool_denied:count -"},
			"refused": {[]float64{0}, func(s *patterns.Spec) { s.Policy = []string{"look"} }, "invalid_plan:tool_not_allowed:count", "", ""},
			"no time": {[]float64{0}, func(s *patterns.Spec) { s.Budget.MaxTime = 0 }, "max_seconds", "", ""},
		} {
			t.Run(name, func(t *testing.T) {
				e := open(t)
				tool := counting(t, catalog.Write, func(context.Context) error {
					t.Error("a dry run called the tool")
					return nil
				})
				job := stepsOf(t, tool, len(tt.numbers))
				steps := make([]any, len(tt.numbers))
				for i, n := range tt.numbers {
					steps[i] = object{"id": fmt.Sprint("s", i), "title": "Count", "tool": "count", "args": object{"n": n}}
				}
				job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "steps": steps})
				job.Principal, job.Spec.Reviewer = mine, judging
				if tt.change != nil {
					tt.change(&job.Spec)
				}
				r, err := e.Rehearse(t.Context(), job)
				var rows []string
				for _, row := range r.Judged {
					n, ok := row.Values["size(run.effects)"]
					if !ok {
						n = "-"
					}
					rows = append(rows, fmt.Sprint(row.Step, " ", row.Decision, " ", row.Rule, " ", row.Reason, " ", n))
					if (row.Decision == "revise") != (row.RevisedArgs["n"] == 0.0) || (len(row.Need) > 0) != (row.Rule == "ones") {
						t.Errorf("row %+v", row)
					}
				}
				if got := strings.Join(rows, "; "); err != nil || r.Result.StopReason != tt.reason || r.Verdict != tt.verdict || got != tt.rows {
					t.Errorf("%v: %s, %q, rows %q; want %s, %q, %q", err, r.Result.StopReason, r.Verdict, got, tt.reason, tt.verdict, tt.rows)
				}
				if len(r.Result.Ledger) != 0 || len(e.RunIDs(mine)) != 0 {
					t.Errorf("effects %+v, runs %v; want none", r.Result.Ledger, e.RunIDs(mine))
				}
			})
		}
	})
}

// A dry run sees what earlier runs did, and spends nothing of it.
func TestPortRehearseSeesWindows(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e, tool := open(t), counting(t, catalog.Write, nil)
		job := windowed(t, tool, 2, dayCap{most: 3})
		for range 2 {
			if r, err := e.Rehearse(t.Context(), job); err != nil || r.Verdict != "approve" {
				t.Fatalf("%v, %+v; want approve, time and again", err, r)
			}
		}
		if ended, err := e.Start(t.Context(), job); err != nil || !ended.Result.OK() {
			t.Fatalf("%v, %s", err, ended.Result.StopReason)
		}
		r, err := e.Rehearse(t.Context(), job)
		if err != nil || r.Verdict != "block" || r.Judged[0].Decision != "approve" || r.Judged[1].Rule != "day_cap" {
			t.Errorf("%v, %+v; want the second call blocked", err, r)
		}
	})
}

// Every kind has a dry run but planning, which has its own; the model is asked for one intent.
func TestRehearseKinds(t *testing.T) {
	e := openers["memory"](t)
	for kind, want := range map[gateway.Kind]string{
		gateway.Supervisor: "approve 1", gateway.Routing: "approve 1", gateway.Orchestrator: "approve 3", gateway.TaskDecomposition: "approve 3", gateway.Planning: "fault",
	} {
		model := &script{replies: []string{map[gateway.Kind]string{
			gateway.Supervisor: `{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}`, gateway.Orchestrator: tasks, gateway.TaskDecomposition: plan,
			gateway.Routing: `{"kind":"route","target":"billing_specialist","args":{"ticket":"refund"}}`,
		}[kind]}}
		job := patterns.Job{Spec: spec(t, kind, 0), Task: patterns.Task{Goal: "refund", Inputs: inputs, Finalize: true}, Model: model, Caller: patterns.Caller{Principal: mine}}
		if kind == gateway.Planning {
			job.Task.Plan = &patterns.PlanCall{}
		}
		r, err := e.Rehearse(t.Context(), job)
		got := fmt.Sprint(r.Verdict, " ", len(r.Judged))
		if err != nil {
			got = "fault"
		}
		if got != want || len(model.asked) != map[bool]int{true: 0, false: 1}[kind == gateway.Planning] {
			t.Errorf("%s: %s (%v, %s) after %d questions, want %s", kind, got, err, r.Result.StopReason, len(model.asked), want)
		}
	}
}

// A dry run tells of kill switches that are on: of every call that the policy would let through, and in every kind.
func TestPortRehearseLooksAtSwitches(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		for name, tt := range switchCases {
			for _, kind := range ownKinds {
				if kind == gateway.Planning { // its own
					continue
				}
				t.Run(name+"/"+string(kind), func(t *testing.T) {
					e, s := open(t), &service{}
					if err := e.KillSwitch(true, tt.on, gateway.SignedAct{}); err != nil {
						t.Fatal(err)
					}
					r, err := e.Rehearse(t.Context(), s.ownJob(t, kind, nil))
					if err != nil || !r.Result.OK() || len(r.Judged) == 0 || r.Judged[0].Tool != "own" {
						t.Fatalf("%v, %+v", err, r)
					}
					row, want := r.Judged[0], patterns.RehearsedRow{Decision: "block", Reason: "kill_switch"}
					if !tt.stop {
						want = patterns.RehearsedRow{Decision: "approve", Reason: "allowlisted"}
					}
					if row.Decision != want.Decision || row.Reason != want.Reason || row.Rule != "" || r.Verdict != want.Decision || s.calls() > 0 {
						t.Errorf("%s, %+v after %d calls, want %s %s", r.Verdict, row, s.calls(), want.Decision, want.Reason)
					}
					if n := len(r.Judged); n > 1 && r.Judged[n-1].Tool == "final" && r.Judged[n-1].Decision != "approve" {
						t.Errorf("the closing answer calls nothing: %+v", r.Judged[n-1])
					}
				})
			}
		}
	})
}
