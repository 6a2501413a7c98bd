package kinds

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// declared is a pattern as a file would declare it, over two tools under names of its own, whose observations are large, and a
// pattern that is only named.
func declared(t *testing.T, kind gateway.Kind) patterns.Spec {
	t.Helper()
	tool := func(name, of string) catalog.Tool {
		return catalog.Tool{Name: name, Of: of, Server: "orders", Effect: catalog.Read, Input: arguments(t, `{"id": {"type": "integer"}, "region": {"type": "string", "optional": true}, "request_id": {"type": "string", "optional": true}}`),
			Do: func(_ context.Context, c catalog.Call) (any, error) {
				return map[string]any{"id": c.Args["id"], "request_id": c.Args["request_id"], "state": "sent", "long": strings.Repeat("x", 9000)}, nil
			}}
	}
	child := catalog.Tool{Name: "money", Of: "refund_order", Pattern: "refund_order", Goal: "request", Server: catalog.PatternServer, Effect: catalog.Write,
		Input: arguments(t, `{"request": {"type": "string"}, "region": {"type": "string"}}`)}
	view, err := catalog.New(tool("one", "look"), tool("two", "look"), child)
	if err != nil {
		t.Fatal(err)
	}
	s := patterns.Spec{
		Name: "own", Kind: kind, Catalog: view, Tools: view.Names(), Policy: view.Names(), Execution: view.Names(), Budget: gateway.DefaultBudget(kind),
		Input: arguments(t, `{"region": {"type": "string"}, "limit": {"type": "integer"}}`), Prompts: patterns.Prompts{Decide: "decide", Answer: "answer", Work: "work"},
	}
	s.Budget.MinPlanSteps, s.Budget.MaxTime, s.Budget.TaskTimeout = 1, time.Minute, time.Minute
	s.Reroute = rerouted(view.Names())
	return s
}

// rerouted is the condition of routes for which a file sets none: the status needs_reroute.
func rerouted(routes []string) map[string]func(any) bool {
	by := map[string]func(any) bool{}
	for _, name := range routes {
		by[name] = func(observation any) bool { return step.Status(observation) == "needs_reroute" }
	}
	return by
}

func arguments(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	s, _, faults := catalog.CompileArguments(json.RawMessage(text))
	if s == nil {
		t.Fatalf("%s: %v", text, faults)
	}
	return s
}

var ownInputs = patterns.Inputs{"region": "EU", "limit": 3.0}

// replies answers a run's questions in order.
func replies(texts ...string) map[string]patterns.Outcome {
	script := map[string]patterns.Outcome{}
	for i := 0; i < len(texts); i += 2 {
		script[texts[i]] = patterns.Outcome{State: patterns.OK, Output: texts[i+1], Cost: patterns.Cost{Usage: patterns.Usage{Requests: 1}}}
	}
	return script
}

// questions are what a run asked.
func (w *world) questions() []patterns.Question {
	var all []patterns.Question
	for _, e := range w.effects {
		if a, isAsk := e.Act.(patterns.AskAct); isAsk {
			all = append(all, *a.Question)
		}
	}
	return all
}

// Inputs travel under one name in every question, with the owner's words after ours; rules see them too.
func TestInputsInEveryQuestion(t *testing.T) {
	plan := func(name, list string) string { return `{"kind":"plan","` + name + `":[` + list + `]}` }
	for kind, script := range map[gateway.Kind]map[string]patterns.Outcome{
		gateway.TaskDecomposition: replies("plan#1", plan("steps", `{"id":"a","title":"A","tool":"one","args":{"id":1}}`), "answer#1", "done"),
		gateway.Orchestrator:      replies("tasks#1", plan("tasks", `{"id":"a","worker":"one","args":{"id":1},"critical":true}`), "answer#1", "done"),
		gateway.Routing:           replies("route#1", `{"kind":"route","target":"one","args":{"id":1}}`, "answer#1", "done"),
		gateway.Supervisor:        replies("action#1", `{"kind":"tool","name":"one","args":{"id":1}}`, "action#2", `{"kind":"final","answer":"done"}`),
	} {
		t.Run(string(kind), func(t *testing.T) {
			spec, worded := declared(t, kind), 0
			spec.Instructions = func(in patterns.Inputs) (string, error) { worded++; return "Mind " + in["region"].(string), nil }
			seen := []map[string]any{}
			spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
				seen = append(seen, c.Facts.Input)
				return gateway.Verdict{Decision: gateway.Approve, Reason: "ok"}
			})
			w := &world{script: script}
			r, _ := w.run(t, spec, patterns.Task{Goal: "go", Inputs: ownInputs, Finalize: true})
			if r.StopReason != patterns.Success || r.Answer != "done" {
				t.Fatalf("%s in %s: %+v", r.StopReason, r.Phase, r.Problems)
			}
			asked := w.questions()
			if len(asked) != 2 || worded != 1 || len(seen) == 0 {
				t.Fatalf("%d questions, worded %d times, %d reviews", len(asked), worded, len(seen))
			}
			for _, q := range asked {
				if !reflect.DeepEqual(q.Payload["input"], map[string]any(ownInputs)) || q.Payload["region"] != nil || !strings.Contains(q.Prompt, "Mind EU") || !strings.Contains(q.Prompt, "member input") {
					t.Errorf("%s: payload %v, prompt %q", q.Ask, q.Payload, q.Prompt)
				}
			}
			for _, input := range seen {
				if !reflect.DeepEqual(input, map[string]any(ownInputs)) {
					t.Errorf("rules see the input %v", input)
				}
			}
		})
	}
}

// The built-in orchestrator's payload stays what it was, and a question that cannot be worded is not asked.
func TestInputsOfOthers(t *testing.T) {
	spec := declared(t, gateway.Orchestrator)
	spec.InputsOnTop = true
	w := &world{script: replies("tasks#1", `{}`)}
	w.run(t, spec, patterns.Task{Goal: "go", Inputs: ownInputs})
	if q := w.questions()[0]; q.Payload["region"] != "EU" || q.Payload["input"] != nil || q.Prompt != "decide" {
		t.Errorf("payload %v, prompt %q", q.Payload, q.Prompt)
	}
	spec.Instructions = func(patterns.Inputs) (string, error) { return "", errors.New("too long") }
	w = &world{}
	if r, _ := w.run(t, spec, patterns.Task{Goal: "go"}); r.StopReason != "llm_error:bad_request" || r.Phase != patterns.PhasePlan || len(w.questions()) > 0 {
		t.Errorf("%s in %s, asked %v", r.StopReason, r.Phase, w.questions())
	}
}

// The inputs of a plan are stored with it.
func TestInputsOfPlans(t *testing.T) {
	spec := declared(t, gateway.Planning)
	spec.Plans, spec.LLM = "own", true
	w := &world{script: replies("subtasks#1", `{"kind":"plan","subtasks":[{"id":"a","description":"A","tool":"one","args":{"id":1}}]}`)}
	r, _ := w.run(t, spec, patterns.Task{Goal: "go", Inputs: ownInputs, Plan: &patterns.PlanCall{Verb: patterns.DecomposeVerb, Strategy: planning.Flat, MaxDepth: 1, MaxSubtasks: 5}})
	create := w.effects[slices.IndexFunc(w.effects, func(e patterns.Effect) bool { return e.Name == string(patterns.CreateOp) })]
	v, err := ijson.Decode(create.Act.(patterns.PlanAct).Step.Content)
	if r.StopReason != patterns.Success || err != nil {
		t.Fatalf("%s: %v", r.StopReason, err)
	}
	if again, err := patterns.ReadPlan(v); err != nil || !reflect.DeepEqual(again.Input, ownInputs) {
		t.Errorf("read again: %v, %v", again.Input, err)
	}
}

// What a pattern declares that its answer is, every kind holds its final answer to.
func TestAnswersOfSchema(t *testing.T) {
	answer := arguments(t, `{"state": {"type": "string", "enum": ["open", "sent"]}}`)
	steps := `{"kind":"plan","steps":[{"id":"a","title":"A","tool":"one","args":{"id":1}}]}`
	for name, tt := range map[string]struct {
		reply, reason string
		value         any
	}{
		"fits":           {` {"state": "sent"} `, patterns.Success, map[string]any{"state": "sent"}},
		"prose":          {"It was sent.", "invalid_answer:non_json", nil},
		"another schema": {`{"state":"lost"}`, "invalid_answer:bad_schema", nil},
	} {
		spec := declared(t, gateway.TaskDecomposition)
		spec.Answer = answer
		w := &world{script: replies("plan#1", steps, "answer#1", tt.reply)}
		r, _ := w.run(t, spec, patterns.Task{Goal: "go", Finalize: true})
		if r.StopReason != tt.reason || !reflect.DeepEqual(r.AnswerValue, tt.value) || (tt.value == nil) != (len(r.Problems) > 0) || (tt.value != nil) != (r.Answer == `{"state":"sent"}`) {
			t.Errorf("%s: %s, answer %q, %v, problems %v", name, r.StopReason, r.Answer, r.AnswerValue, r.Problems)
		}
		if q := w.questions()[1]; q.Answer != answer {
			t.Errorf("the model is not told the schema: %+v", q)
		}
		if tt.value == nil && !slices.ContainsFunc(w.judgments(r), func(j string) bool { return strings.Contains(j, "finalize answer refused "+tt.reason) }) {
			t.Errorf("%s: the record says %v", name, w.judgments(r))
		}
	}
	spec := declared(t, gateway.Supervisor)
	spec.Answer = answer
	spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict { return gateway.Verdict{Decision: gateway.Approve, Reason: "ok"} })
	final := func(answer any) []document.Intent {
		return patterns.Proposals("actions", []any{map[string]any{"kind": "final", "answer": answer}})
	}
	r, _ := (&world{}).run(t, spec, patterns.Task{Goal: "go", Caller: final(map[string]any{"state": "open"})})
	if r.StopReason != patterns.Success || !reflect.DeepEqual(r.AnswerValue, map[string]any{"state": "open"}) {
		t.Errorf("a final action: %s, %v", r.StopReason, r.AnswerValue)
	}
	r, _ = (&world{}).run(t, spec, patterns.Task{Goal: "go", Caller: final("open")})
	if r.StopReason != "invalid_answer:non_json" || r.Phase != patterns.PhaseWorker || r.RawName != "raw_action" {
		t.Errorf("a final action in prose: %s in %s", r.StopReason, r.Phase)
	}
	spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
	})
	w := &world{script: map[string]patterns.Outcome{"approve#1": {State: patterns.OK, Output: map[string]any{"approved": true, "args": map[string]any{"answer": "as I say"}}}}}
	spec.Approver = patterns.Approver{Kind: patterns.SimulatedApprover}
	if r, _ = w.run(t, spec, patterns.Task{Goal: "go", Caller: final(map[string]any{"state": "open"})}); r.StopReason != "invalid_answer:non_json" || r.Phase != patterns.PhaseWorker || len(r.Trace) != 1 {
		t.Errorf("what a person made of it: %s in %s, %d rows", r.StopReason, r.Phase, len(r.Trace))
	}
}

// Critical workers are critical whatever the plan says, and a plan without them does not begin.
func TestCriticalWorkers(t *testing.T) {
	spec := declared(t, gateway.Orchestrator)
	spec.Critical = []string{"two"}
	task := func(worker, id string) any {
		return map[string]any{"id": id, "worker": worker, "args": map[string]any{"id": id}, "critical": false}
	}
	plan := func(tasks ...any) []document.Intent {
		return patterns.Proposals("plan", map[string]any{"kind": "plan", "tasks": tasks})
	}
	w := &world{}
	r, _ := w.run(t, spec, patterns.Task{Goal: "go", Caller: plan(task("one", "a"))})
	if r.StopReason != "critical_task_failed" || r.Phase != patterns.PhaseDispatch || len(w.called("look")) > 0 || len(r.Problems) != 1 || r.Problems[0].Pointer != "/plan/tasks" || !strings.Contains(r.Problems[0].Want, "two") {
		t.Errorf("left out: %s in %s, %+v, called %v", r.StopReason, r.Phase, r.Problems, w.called("look"))
	}
	r, _ = (&world{}).run(t, spec, patterns.Task{Goal: "go", Caller: plan(task("two", "a"))}) // its id is no integer
	if r.StopReason != "critical_task_failed" || len(r.FailedCritical) != 1 || r.FailedCritical[0].Worker != "two" || r.FailedCritical[0].StopReason != "worker_bad_args:two" {
		t.Errorf("failed: %s, %+v", r.StopReason, r.FailedCritical)
	}
}

// An aggregate sees all of what tasks returned, rows show the beginning; nobody sets a request id of a user's own worker; one tool
// under two names is one tool for loops.
func TestOwnWorkers(t *testing.T) {
	spec := declared(t, gateway.Orchestrator)
	spec.Aggregate = func(in patterns.Inputs, rows []patterns.TaskRow) patterns.Aggregate {
		first, _ := rows[0].Observation.(map[string]any)
		return patterns.Aggregate{Fields: map[string]any{"long": float64(len(first["long"].(string))), "sent": first["request_id"]}, Health: "green",
			Errors: []patterns.JoinError{{Member: "health.0.when", Reason: "a member is absent"}}}
	}
	tasks := map[string]any{"tasks": []any{
		map[string]any{"id": "a", "worker": "one", "args": map[string]any{"id": 1.0}}, map[string]any{"id": "b", "worker": "two", "args": map[string]any{"id": 1.0}},
	}}
	r, _ := (&world{}).run(t, spec, patterns.Task{Goal: "go", Inputs: ownInputs, Caller: patterns.Proposals("plan", tasks)})
	text, err := json.Marshal(r.Aggregate)
	if want := `{"fields":{"long":9000,"sent":null},"missing":[],"health":"green","errors":[{"member":"health.0.when","reason":"a member is absent"}]}`; err != nil || string(text) != want {
		t.Errorf("aggregate %s, %v, want %s", text, err, want)
	}
	row := r.History[0].(patterns.TaskRow)
	if cut, _ := row.Observation.(map[string]any); cut["truncated"] != true || row.Worker != "one" {
		t.Errorf("row %+v", row)
	}
	if filled := r.Plan.([]gateway.Task)[0].Args["region"]; filled != "EU" { // the input of that name
		t.Errorf("region %v", filled)
	}
	if r.Ledger[0].Tool != "look" || r.Ledger[1].Tool != "look" {
		t.Errorf("effects %+v", r.Ledger)
	}
	spec.Budget.MaxSameCall = 1
	r, _ = (&world{}).run(t, spec, patterns.Task{Goal: "go", Caller: patterns.Proposals("plan", tasks)})
	if end := r.History[1].(patterns.TaskRow); end.StopReason != "loop_detected:signature_repeat" {
		t.Errorf("the same call under another name: %+v", end)
	}
	spec.Budget.MaxRetriesPerTask = 1
	w := &world{script: map[string]patterns.Outcome{"task#1/look#1": {State: patterns.Unknown, Reason: patterns.ReasonTimeout}}}
	one := map[string]any{"tasks": tasks["tasks"].([]any)[:1]}
	if r, _ = w.run(t, spec, patterns.Task{Goal: "go", Caller: patterns.Proposals("plan", one)}); len(w.called("look")) != 2 || !r.History[0].(patterns.TaskRow).Done() {
		t.Errorf("one more attempt is no repetition: %v, %+v", w.called("look"), r.History)
	}
}

// A route that is a pattern is handed the request; declining is what the route's own expression says.
func TestOwnRoutes(t *testing.T) {
	spec := declared(t, gateway.Routing)
	var sent map[string]any
	spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		sent = c.Args
		return gateway.Verdict{Reason: "only_looked_at"}
	})
	w := &world{script: replies("route#1", `{"kind":"route","target":"money","args":{"region":"US"}}`)}
	w.run(t, spec, patterns.Task{Goal: "money back", Inputs: ownInputs})
	if want := (map[string]any{"request": "money back", "region": "US"}); !reflect.DeepEqual(sent, want) || !slices.Equal(w.questions()[0].Hidden, []string{"request"}) {
		t.Errorf("a model's route is given %v, want %v; hidden %v", sent, want, w.questions()[0].Hidden)
	}
	r, _ := (&world{}).run(t, spec, patterns.Task{Goal: "money back", Inputs: ownInputs, Caller: patterns.Proposals("route", map[string]any{"target": "money"})})
	if want := (map[string]any{"request": "money back", "region": "EU"}); !reflect.DeepEqual(sent, want) || len(r.Filled) != 3 {
		t.Errorf("a caller's route is given %v, want %v; filled %v", sent, want, r.Filled)
	}
	for name, tt := range map[string]struct {
		reroute func(any) bool
		strict  bool // the route has no condition
		want    string
	}{
		"it declines":     {func(o any) bool { return len(o.(map[string]any)["long"].(string)) == 9000 }, false, "max_route_attempts"},
		"it does not":     {func(any) bool { return false }, false, patterns.Success},
		"nothing is said": {nil, false, patterns.Success},
		"no condition":    {nil, true, "route_bad_observation"},
	} {
		spec := declared(t, gateway.Routing)
		spec.Budget.MaxRouteAttempts = 1
		if tt.reroute != nil {
			spec.Reroute = map[string]func(any) bool{"one": tt.reroute}
		}
		if tt.strict {
			spec.Reroute = nil
		}
		r, _ := (&world{}).run(t, spec, patterns.Task{Goal: "go", Caller: patterns.Proposals("route", map[string]any{"target": "one", "args": map[string]any{"id": 1.0}})})
		if r.StopReason != tt.want {
			t.Errorf("%s: %s, want %s", name, r.StopReason, tt.want)
		}
	}
}

// When a final text is written where the call does not say.
func TestFinalizes(t *testing.T) {
	for _, tt := range []struct {
		say                        patterns.Finalize
		proposes, configured, want bool
	}{
		{patterns.FinalizeAuto, false, false, true}, {patterns.FinalizeAuto, true, false, false}, {patterns.FinalizeAuto, true, true, true},
		{patterns.FinalizeYes, true, false, true}, {patterns.FinalizeNo, false, true, false},
	} {
		if got := (patterns.Spec{Finalize: tt.say}).Finalizes(tt.proposes, tt.configured); got != tt.want {
			t.Errorf("%q, proposes %t, configured %t: %t", tt.say, tt.proposes, tt.configured, got)
		}
	}
}

// A supervised model is told what its closing answer has to be, with every action that it is asked for.
func TestClosingAnswerIsAskedFor(t *testing.T) {
	spec := declared(t, gateway.Supervisor)
	spec.Answer = arguments(t, `{"state": {"type": "string"}}`)
	w := &world{script: replies("action#1", `{"kind":"final","answer":{"state":"sent"}}`)}
	r, _ := w.run(t, spec, patterns.Task{Goal: "go"})
	if q := w.questions()[0]; r.StopReason != patterns.Success || q.Answer != spec.Answer || !strings.Contains(q.Prompt, `"state"`) {
		t.Errorf("%s; asked with the answer %v and %q", r.StopReason, q.Answer, q.Prompt)
	}
}

// A parent reports by model what the models of its child runs were asked, whatever the parent's kind.
func TestModelsOfChildRuns(t *testing.T) {
	child := patterns.Outcome{State: patterns.OK, Output: map[string]any{"status": "ok"}, Child: "run_00000000000000aa",
		Cost: patterns.Cost{Calls: 2, Usage: patterns.Usage{Requests: 3, CostUSD: 0.5}, Models: []patterns.ModelUsage{{Model: "big", Usage: patterns.Usage{Requests: 3, CostUSD: 0.5}}}}}
	args := map[string]any{"request": "pay", "region": "EU"}
	for kind, tt := range map[gateway.Kind]struct {
		caller []document.Intent
		key    string
	}{
		gateway.Orchestrator: {patterns.Proposals("plan", map[string]any{"kind": "plan", "tasks": []any{map[string]any{"id": "a", "worker": "money", "args": args, "critical": true}}}), "task#1/refund_order#1"},
		gateway.Routing:      {patterns.Proposals("route", map[string]any{"kind": "route", "target": "money", "args": args}), "refund_order#1"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			w := &world{script: map[string]patterns.Outcome{tt.key: child}}
			r, _ := w.run(t, declared(t, kind), patterns.Task{Goal: "go", Caller: tt.caller})
			if r.StopReason != patterns.Success || r.Usage != child.Usage || !reflect.DeepEqual(r.Models, child.Models) {
				t.Errorf("%s %v: usage %+v, models %+v; calls %v", r.StopReason, r.Problems, r.Usage, r.Models, w.keys)
			}
		})
	}
}
