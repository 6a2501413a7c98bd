package kinds

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/reference"
	"patterngate/patterns/step"
)

// payKinds are the patterns with one call of pay, which the policy puts to a person.
var payKinds = map[gateway.Kind]struct {
	branch string // before the keys of what the call needs
	family gateway.Family
	call   string // the phase of the call
	human  string // of the person
	block  string // the phase and family of a block
	task   func(args map[string]any) patterns.Task
}{
	gateway.TaskDecomposition: {"", gateway.ToolFamily, patterns.PhaseExecute, patterns.PhaseExecute, "execute policy_block:", func(args map[string]any) patterns.Task {
		return patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", map[string]any{"kind": "plan", "steps": []any{subtaskNamed("a", "pay", args)}})}
	}},
	gateway.Orchestrator: {"task#1/", gateway.WorkerFamily, "task", "task", "task policy_block:", func(args map[string]any) patterns.Task {
		task := map[string]any{"id": "a", "worker": "pay", "args": args, "critical": false}
		return patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", map[string]any{"kind": "plan", "tasks": []any{task}})}
	}},
	gateway.Routing: {"", gateway.RouteFamily, patterns.PhaseDelegate, patterns.PhaseDelegate, "delegate policy_block:", func(args map[string]any) patterns.Task {
		return patterns.Task{Goal: "x", Caller: patterns.Proposals("route", map[string]any{"target": "pay", "args": args})}
	}},
	gateway.Supervisor: {"", gateway.ToolFamily, patterns.PhaseExecution, patterns.PhaseHuman, "supervisor supervisor_block:", func(args map[string]any) patterns.Task {
		return acting(call("pay", args), closing)
	}},
}

// asksToPay is what all of them share: the tool, and a policy that asks a person about 10 and more.
func asksToPay(t *testing.T, kind gateway.Kind) patterns.Spec {
	t.Helper()
	tool := catalog.Tool{
		Name: "pay", Effect: catalog.Write, Idempotent: true,
		Input: schema(t, `{"type":"object","properties":{"n":{"type":"number"},"ticket":{"type":"string"}},"additionalProperties":false}`),
		Do: func(_ context.Context, c catalog.Call) (any, error) {
			return map[string]any{"status": "done", "result": map[string]any{"n": c.Args["n"]}}, nil
		},
	}
	c, err := catalog.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	s := patterns.Spec{
		Name: "pays", Kind: kind, Catalog: c, Policy: c.Names(), Execution: c.Names(), Budget: gateway.DefaultBudget(kind), Aggregate: reference.Operations,
		Reviewer: gateway.ReviewerFunc(payPolicy), Approver: patterns.Approver{Kind: patterns.InboxApprover, Expires: 24 * time.Hour},
	}
	s.Budget.MinPlanSteps = 1
	return s
}

func payPolicy(c gateway.Case) gateway.Verdict {
	revise := func(n float64, reason string) gateway.Verdict {
		args := map[string]any{"n": n}
		if ticket, there := c.Args["ticket"]; there {
			args["ticket"] = ticket
		}
		return gateway.Verdict{Decision: gateway.Revise, Reason: reason, Args: args}
	}
	switch n, _ := c.Args["n"].(float64); {
	case n == 13:
		return gateway.Verdict{Reason: "unlucky", Need: []string{"luck"}}
	case n >= 30:
		return revise(5, "capped")
	case n >= 20:
		return revise(10, "halved")
	case n >= 10:
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "big"}
	}
	return gateway.Verdict{Decision: gateway.Approve, Reason: "small"}
}

// payArgs are the arguments of a call; routes name their ticket.
func payArgs(kind gateway.Kind, n any) map[string]any {
	if kind == gateway.Routing {
		return map[string]any{"n": n, "ticket": "x"}
	}
	return map[string]any{"n": n}
}

// What a person decides, in every pattern: what is called, how often they are asked, and how the run or task stops. They
// take two days each time, which do not count.
func TestPeopleDecide(t *testing.T) {
	decide := func(approved bool, n any) func(gateway.Kind, string) patterns.Outcome {
		return func(kind gateway.Kind, id string) patterns.Outcome {
			d := patterns.Decision{Approved: approved, Comment: "c", By: "local:1", Channel: "cli", Assurance: gateway.UserAssurance, Approval: id}
			if n != nil {
				d.Args = payArgs(kind, n)
			}
			return answered(d.Value())
		}
	}
	ends := func(reason string) func(gateway.Kind, string) patterns.Outcome {
		return func(gateway.Kind, string) patterns.Outcome {
			return patterns.Outcome{State: patterns.Failed, Reason: reason}
		}
	}
	type says = []func(gateway.Kind, string) patterns.Outcome
	const ok = ""
	tests := map[string]struct {
		proposed float64
		says     says
		paid     any    // nil: nothing is called
		by       string // the approval that is spent
		stops    string // of whom, and how: "human human_rejected"; "" is not at all
		judged   []string
	}{
		"nobody is asked":           {9, nil, 9.0, "", ok, nil},
		"approve":                   {10, says{decide(true, nil)}, 10.0, "ap_1", ok, []string{"escalate big"}},
		"what was revised":          {20, says{decide(true, nil)}, 10.0, "ap_1", ok, []string{"revise halved", "escalate big"}},
		"edit to what is small":     {10, says{decide(true, 3.0)}, 3.0, "ap_1", ok, []string{"escalate big"}},
		"edit to what is big":       {10, says{decide(true, 11.0)}, 11.0, "ap_1", ok, []string{"escalate big"}},
		"edit to what is blocked":   {10, says{decide(true, 13.0)}, nil, "", "block unlucky", []string{"escalate big", "block unlucky"}},
		"edit to what is halved":    {10, says{decide(true, 20.0), decide(true, nil)}, 10.0, "ap_2", ok, []string{"escalate big", "revise halved", "escalate big"}},
		"edit to what is capped":    {10, says{decide(true, 30.0), decide(true, nil)}, 5.0, "ap_2", ok, []string{"escalate big", "revise capped", "escalate big"}},
		"and rejected then":         {10, says{decide(true, 20.0), decide(false, nil)}, nil, "", "human human_rejected", []string{"escalate big", "revise halved", "escalate big"}},
		"and edited without end":    {10, says{decide(true, 20.0), decide(true, 21.0)}, nil, "", "block revise_not_convergent", []string{"escalate big", "revise halved", "escalate big", "revise halved", "block revise_not_convergent"}},
		"edit to what is no number": {10, says{decide(true, "x")}, nil, "", "call bad_args", []string{"escalate big", "refused bad_args"}},
		"reject":                    {10, says{decide(false, nil)}, nil, "", "human human_rejected", []string{"escalate big"}},
		"reject with an edit":       {10, says{decide(false, 3.0)}, nil, "", "human human_rejected", []string{"escalate big"}},
		"silence":                   {10, says{ends(patterns.ReasonExpired)}, nil, "", "human approval_expired", []string{"escalate big"}},
		"an answer that is forged":  {10, says{ends(gateway.ApprovalInvalid)}, nil, "", "human approval_invalid", []string{"escalate big"}},
		"an unreadable one": {10, says{func(gateway.Kind, string) patterns.Outcome {
			return patterns.Outcome{State: patterns.OK, Output: "yes"}
		}}, nil, "", "human human_rejected", []string{"escalate big"}},
		"a fault": {10, says{ends("error")}, nil, "", "human human_rejected", []string{"escalate big"}},
		"cancelled meanwhile": {10, says{func(gateway.Kind, string) patterns.Outcome {
			return patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonCanceled}
		}}, nil, "", "human cancelled", []string{"escalate big"}},
	}
	for kind, pattern := range payKinds {
		for name, tt := range tests {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				w := &world{takes: 48 * time.Hour, script: map[string]patterns.Outcome{}}
				for i, say := range tt.says {
					n := string(rune('1' + i))
					w.script[pattern.branch+"approve#"+n] = say(kind, "ap_"+n)
				}
				r, _ := w.run(t, asksToPay(t, kind), pattern.task(payArgs(kind, tt.proposed)))
				if got, want := w.asked(), len(tt.says); got != want {
					t.Errorf("asked %d times, want %d", got, want)
				}
				if got, by := w.paid(); got != tt.paid || by != tt.by {
					t.Errorf("paid %v by %q, want %v by %q", got, by, tt.paid, tt.by)
				}
				if got, want := stopOf(r), wanted(kind, tt.stops); got != want {
					t.Errorf("stopped %q, want %q", got, want)
				}
				if diff := cmp.Diff(wantedJudgments(kind, tt.judged), judgedOf(w, r)); diff != "" {
					t.Errorf("judged, -want +got:\n%s", diff)
				}
				if used := r.Budget["max_seconds"].Used; used > 10 {
					t.Errorf("%v seconds were used; people's time does not count", used)
				}
				human := humanOf(r)
				if decided := len(tt.says) > 0 && slices.Contains([]string{"ap_1", "ap_2"}, human.ApprovalID); decided != (human.By == "local:1") {
					t.Errorf("human approval %+v", human)
				}
			})
		}
	}
}

// What a person changed is told from what the policy changed before they were asked, in every pattern.
func TestPeopleChange(t *testing.T) {
	for kind, pattern := range payKinds {
		for name, tt := range map[string]struct {
			proposed    float64
			says        any // the n that the person leaves
			asked, left any
		}{
			"edited":                   {10, 3.0, 10.0, 3.0},
			"revised and left":         {20, 10.0, 10.0, 10.0},
			"revised, and then edited": {20, 3.0, 10.0, 3.0},
			"nothing given":            {20, nil, nil, nil},
		} {
			d := patterns.Decision{Approved: true, By: "local:1", Assurance: gateway.UserAssurance, Approval: "ap_1"}
			if tt.says != nil {
				d.Args = payArgs(kind, tt.says)
			}
			w := &world{script: map[string]patterns.Outcome{pattern.branch + "approve#1": answered(d.Value())}}
			r, _ := w.run(t, asksToPay(t, kind), pattern.task(payArgs(kind, tt.proposed)))
			if human := humanOf(r); human.Asked["n"] != tt.asked || human.Left["n"] != tt.left || human.ApprovalID != "ap_1" {
				t.Errorf("%s, %s: asked about %v, left %v", kind, name, human.Asked, human.Left)
			}
		}
	}
}

// asked is how often a person was asked.
func (w *world) asked() (n int) {
	for _, e := range w.effects {
		if e.Kind() == patterns.HumanEffect {
			n++
		}
	}
	return n
}

// paid is what the one call paid, and by which approval.
func (w *world) paid() (n any, approval string) {
	for _, e := range w.effects {
		if call, isCall := e.Act.(patterns.CallAct); isCall {
			return call.Permit.Args()["n"], call.Permit.Approval()
		}
	}
	return nil, ""
}

// stopOf is a stop as PHASE REASON; of an orchestrator's task, task REASON.
func stopOf(r patterns.Result) string {
	if len(r.Trace) > 0 {
		if row, ok := r.Trace[0].(patterns.TaskTrace); ok && row.StopReason != nil {
			return "task " + *row.StopReason
		}
	}
	if r.StopReason == patterns.Success {
		return ""
	}
	return r.Phase + " " + r.StopReason
}

// wanted is a stop in the words of a pattern.
func wanted(kind gateway.Kind, stop string) string {
	p := payKinds[kind]
	switch what, reason := cut(stop); what {
	case "human":
		return p.human + " " + reason
	case "block":
		return p.block + reason
	case "call":
		return p.call + " " + p.family.Reason(reason, "pay")
	}
	return ""
}

func cut(s string) (first, rest string) {
	for i := range s {
		if s[i] == ' ' {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// wantedJudgments are judgments in the words of a pattern.
func wantedJudgments(kind gateway.Kind, list []string) (want []string) {
	p := payKinds[kind]
	for _, line := range list {
		switch decision, reason := cut(line); {
		case decision == "block" && kind != gateway.Supervisor:
			line = "block policy_block:" + reason
		case decision == "refused":
			line = "refused " + p.family.Reason(reason, "pay")
		}
		want = append(want, line)
	}
	return want
}

func judgedOf(w *world, r patterns.Result) (list []string) {
	add := func(all []patterns.Judged) {
		for _, j := range all {
			list = append(list, j.Body["decision"].(string)+" "+j.Body["reason"].(string))
		}
	}
	for _, e := range w.effects {
		add(e.Judged)
	}
	add(r.Judged)
	return list
}

// humanOf is the person's decision as the call's row shows it, or the supervisor's result.
func humanOf(r patterns.Result) patterns.HumanApproval {
	var h *patterns.HumanApproval
	if len(r.Trace) > 0 {
		switch row := r.Trace[0].(type) {
		case patterns.StepRow:
			h = row.HumanApproval
		case patterns.TaskTrace:
			h = row.HumanApproval
		case patterns.RouteRow:
			h = row.HumanApproval
		}
	}
	if len(r.History) > 0 {
		if done, ok := r.History[0].(patterns.ActionDone); ok {
			h = done.Human
		}
	}
	if h == nil {
		h = r.Human
	}
	if h == nil {
		return patterns.HumanApproval{}
	}
	return *h
}

// The approver sees exactly the call that would be made, and the run says what it waits for.
func TestQuestionToAPerson(t *testing.T) {
	for kind, pattern := range payKinds {
		t.Run(string(kind), func(t *testing.T) {
			w := &world{parks: pattern.branch + "approve#1"}
			spec := asksToPay(t, kind)
			_, waiting := w.run(t, spec, pattern.task(payArgs(kind, 20.0)))
			if waiting == nil {
				t.Fatal("the run does not wait")
			}
			tool, _ := spec.Catalog.Tool("pay")
			want := gateway.Question{Tool: "pay", Schema: tool.Input.Hash(), Args: payArgs(kind, 10.0)}
			if diff := cmp.Diff(want, waiting.Question); diff != "" {
				t.Errorf("the question, -want +got:\n%s", diff)
			}
			if waiting.Kind != patterns.ForApproval || waiting.CallEffect != catalog.Write || waiting.Rule != "big" || waiting.Least != gateway.UserAssurance ||
				waiting.Phrase == "" || waiting.SoFar.StopReason != "" {
				t.Errorf("waiting for %+v", waiting)
			}
			if e := w.effect(t, pattern.branch+"approve#1"); e.Timeout != 24*time.Hour {
				t.Errorf("the person has %v, want 24h", e.Timeout)
			}
		})
	}
}

// Approvers that take nobody's time decide in every pattern, and the run does not wait.
func TestApproversWithoutPeople(t *testing.T) {
	tests := map[string]struct {
		approver patterns.Approver
		paid     any
		stops    string
		channel  string
	}{
		"the zero approver": {patterns.Approver{}, nil, "human human_rejected", "none"},
		"reject":            {patterns.Approver{Kind: patterns.RejectApprover}, nil, "human human_rejected", "none"},
		"simulated":         {patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}, 10.0, "", "simulated"},
	}
	for kind, pattern := range payKinds {
		for name, tt := range tests {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				spec := asksToPay(t, kind)
				spec.Approver = tt.approver
				w := &world{}
				r, waiting := w.run(t, spec, pattern.task(payArgs(kind, 10.0)))
				if paid, by := w.paid(); paid != tt.paid || by != "" || waiting != nil {
					t.Errorf("paid %v by %q, waiting %v; want %v by nobody's approval", paid, by, waiting, tt.paid)
				}
				if got, want := stopOf(r), wanted(kind, tt.stops); got != want {
					t.Errorf("stopped %q, want %q", got, want)
				}
				if got := humanOf(r); got.Channel != tt.channel {
					t.Errorf("human approval %+v, want channel %s", got, tt.channel)
				}
			})
		}
	}
}

// The engine refuses to begin a call whose approval does not count any more: nothing ran, and the reason is told.
func TestApprovalThatIsNotSpent(t *testing.T) {
	for kind, pattern := range payKinds {
		for _, reason := range []string{gateway.ApprovalExpired, gateway.ApprovalConsumed, gateway.ApprovalInvalid} {
			t.Run(string(kind)+"/"+reason, func(t *testing.T) {
				yes := patterns.Decision{Approved: true, By: "local:1", Channel: "cli", Assurance: gateway.UserAssurance, Approval: "ap_1"}
				w := &world{script: map[string]patterns.Outcome{
					pattern.branch + "approve#1": answered(yes.Value()), pattern.branch + "pay#1": {State: patterns.Canceled, Reason: reason},
				}}
				r, _ := w.run(t, asksToPay(t, kind), pattern.task(payArgs(kind, 10.0)))
				want := pattern.human + " " + reason
				if got := stopOf(r); got != want || len(r.Ledger) != 0 {
					t.Errorf("stopped %q with ledger %v, want %q and nothing done", got, r.Ledger, want)
				}
			})
		}
	}
}

// A retry of what a person agreed to is the same act: they are not asked again, and what they left is what is sent.
func TestRetryOfWhatAPersonAgreedTo(t *testing.T) {
	late := patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonTimeout}
	edit := patterns.Decision{Approved: true, Args: map[string]any{"n": 11.0}, By: "local:1", Channel: "cli", Assurance: gateway.UserAssurance, Approval: "ap_1"}
	w := &world{takes: 48 * time.Hour, script: map[string]patterns.Outcome{"task#1/approve#1": answered(edit.Value()), "task#1/pay#1": late}}
	r, _ := w.run(t, asksToPay(t, gateway.Orchestrator), payKinds[gateway.Orchestrator].task(map[string]any{"n": 10.0}))
	if got := w.called("pay"); w.asked() != 1 || !slices.Equal(got, []string{"task#1/pay#1", "task#1/pay#2"}) || stopOf(r) != "" {
		t.Fatalf("asked %d times, called %v, stopped %q; want once, twice, not at all", w.asked(), got, stopOf(r))
	}
	first, second := callOf(w.effect(t, "task#1/pay#1")), callOf(w.effect(t, "task#1/pay#2"))
	if second.Once != "once task#1/pay#1" || second.Permit.Approval() != "ap_1" || !cmp.Equal(first.Permit.Args(), second.Permit.Args()) || second.Permit.Args()["n"] != 11.0 {
		t.Errorf("the retry %q of %v by %q; want the first's key, n 11 and ap_1", second.Once, second.Permit.Args(), second.Permit.Approval())
	}
	if row := r.Trace[0].(patterns.TaskTrace); row.ArgsHash != first.Permit.Hash() || row.HumanApproval == nil || row.AttemptsUsed != 2 {
		t.Errorf("the task's row %+v", row)
	}
}

// A closing answer may be put to a person too: what they leave is the answer, and there is no call to spend the approval.
func TestPeopleDecideAboutTheAnswer(t *testing.T) {
	decide := func(approved bool, args map[string]any) patterns.Outcome {
		return answered(patterns.Decision{Approved: approved, Args: args, By: "local:1", Channel: "cli", Assurance: gateway.UserAssurance, Approval: "ap_1"}.Value())
	}
	tests := map[string]struct {
		says         patterns.Outcome
		answer, stop string
	}{
		"approve":           {decide(true, nil), "Done.", ""},
		"edit":              {decide(true, map[string]any{"answer": "Paid."}), "Paid.", ""},
		"edit to a number":  {decide(true, map[string]any{"answer": 1.0}), "", "human_approval approval_invalid"},
		"edit to something": {decide(true, map[string]any{"answer": "Paid.", "n": 1.0}), "", "human_approval approval_invalid"},
		"reject":            {decide(false, nil), "", "human_approval human_rejected"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := asksToPay(t, gateway.Supervisor)
			spec.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict {
				return gateway.Verdict{Decision: gateway.Escalate, Reason: "all"}
			})
			w := &world{script: map[string]patterns.Outcome{"approve#1": tt.says}}
			r, _ := w.run(t, spec, acting(closing))
			if got := stopOf(r); got != tt.stop || r.Answer != tt.answer || w.asked() != 1 {
				t.Errorf("stopped %q with answer %q, asked %d times; want %q, %q, once", got, r.Answer, w.asked(), tt.stop, tt.answer)
			}
			question := w.effect(t, "approve#1").Act.(patterns.ConsentAct).Approval.Question
			if diff := cmp.Diff(map[string]any{"answer": "Done."}, question.Args); diff != "" || question.Tool != "final" {
				t.Errorf("asked about %s, -want +got:\n%s", question.Tool, diff)
			}
		})
	}
}

// A task that waits for its turn behind one that a person decides about has its whole time left then.
func TestPeoplesTimeIsNobodysTime(t *testing.T) {
	spec := asksToPay(t, gateway.Orchestrator)
	spec.Budget.MaxParallel = 1
	yes := answered(patterns.Decision{Approved: true, By: "local:1", Channel: "cli", Assurance: gateway.UserAssurance, Approval: "ap_1"}.Value())
	w := &world{takes: 48 * time.Hour, script: map[string]patterns.Outcome{"task#1/approve#1": yes, "task#3/approve#1": yes}}
	var tasks []any
	for i, n := range []float64{10, 3, 11, 4} {
		tasks = append(tasks, map[string]any{"id": string(rune('a' + i)), "worker": "pay", "args": map[string]any{"n": n}, "critical": true})
	}
	r, _ := w.run(t, spec, patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", map[string]any{"kind": "plan", "tasks": tasks})})
	if r.StopReason != patterns.Success || len(w.called("pay")) != 4 || r.Budget["max_seconds"].Used > 10 {
		t.Errorf("ended with %s after %v, %v seconds used; want success, four calls, people's time not counted", r.StopReason, w.called("pay"), r.Budget["max_seconds"].Used)
	}
}

func TestRestedBy(t *testing.T) {
	at := func(s int) time.Time { return begun.Add(time.Duration(s) * time.Second) }
	spans := []step.Span{{Since: at(10), Until: at(20)}, {Since: at(0), Until: at(5)}, {Since: at(12), Until: at(25)}, {Since: at(13), Until: at(14)}, {Since: at(30), Until: at(29)}}
	for s, want := range map[int]time.Duration{0: 0, 4: 0, 5: 5, 19: 6, 20: 15, 25: 20, 99: 20} {
		if got := step.UnionUntil(spans, at(s)); got != want*time.Second {
			t.Errorf("restedBy(%d s) = %v, want %v", s, got, want*time.Second)
		}
	}
}
