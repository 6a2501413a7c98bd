package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/reference"
	"patterngate/server/arguments"
)

// script is a model that answers in order; an entry that starts with ! is a fault of that reason.
type script struct {
	replies []string
	fault   *patterns.ModelFault // given when the replies are over
}

func (s *script) Name() string { return "gpt-test" }

func (s *script) Ask(context.Context, patterns.Question) (patterns.Answer, error) {
	usage := patterns.Usage{Requests: 1, InputTokens: 10, OutputTokens: 5}
	if len(s.replies) == 0 && s.fault != nil {
		return patterns.Answer{Usage: usage}, s.fault
	}
	if len(s.replies) == 0 {
		return patterns.Answer{Usage: usage}, errors.New("the script is over")
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	if reply != "" && reply[0] == '!' {
		return patterns.Answer{Usage: usage}, &patterns.ModelFault{Reason: reply[1:]}
	}
	return patterns.Answer{Text: reply, Usage: usage}, nil
}

// demoSpec declares a pattern over the demo's tools, more of them if given.
func demoSpec(t testing.TB, kind gateway.Kind, more ...catalog.Tool) patterns.Spec {
	t.Helper()
	tools, err := demoTools()
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(slices.Concat(tools, more)...)
	if err != nil {
		t.Fatal(err)
	}
	s := patterns.Spec{Kind: kind, Catalog: c, Budget: gateway.DefaultBudget(kind)}
	reference.Declare(&s)
	switch kind {
	case gateway.TaskDecomposition:
		s.Name, s.Policy = "run_task_decomposition", demo.DecompositionTools
	case gateway.Orchestrator:
		s.Name, s.Policy, s.Aggregate = "run_orchestrator", demo.OrchestratorWorkers, reference.Operations
	case gateway.Routing:
		s.Name, s.Policy = "route_ticket", demo.Specialists
	case gateway.Supervisor:
		s.Name, s.Policy = "supervised_refund", demo.RefundTools
		s.Reviewer = refundPolicy()
		s.Approver = patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}
	case gateway.Call:
		s.Name, s.Policy, s.Tool = "refund_once", []string{"issue_refund"}, "issue_refund"
		if len(more) > 0 {
			s.Tool = more[0].Name
		}
	}
	for _, tool := range more {
		s.Policy = append(s.Policy[:len(s.Policy):len(s.Policy)], tool.Name)
	}
	s.Execution = s.Policy
	return s
}

// sent is a call as a client sends it.
type sent struct {
	kind      gateway.Kind
	arguments string // JSON
	replies   []string
	fault     *patterns.ModelFault
	model     string                // its name; empty: gpt-test
	change    func(*patterns.Spec)  // of the declaration
	tools     []catalog.Tool        // more of them
	after     func(*patterns.Ended) // changes the end by hand
}

// taken is the call as the handler takes it, with the task it asks for.
func (s sent) taken(t testing.TB) (arguments.Call, patterns.Task) {
	t.Helper()
	spec := demoSpec(t, s.kind, s.tools...)
	if s.change != nil {
		s.change(&spec)
	}
	v, err := ijson.Decode([]byte(s.arguments))
	if err != nil {
		t.Fatal(err)
	}
	args, _ := v.(map[string]any)
	c := arguments.Call{
		Tool: spec.Name, Spec: spec, Arguments: args, Intents: map[string]any{}, IntentWas: map[string]bool{},
		Model: s.model,
	}
	if c.Model == "" {
		c.Model = "gpt-test"
	}
	task := patterns.Task{Finalize: args["finalize"] != false}
	task.Goal, _ = args["goal"].(string)
	if s.kind == gateway.Routing {
		task.Goal, _ = args["ticket"].(string)
	}
	if s.kind == gateway.Orchestrator {
		task.Inputs = patterns.Inputs{"report_date": "2026-02-26", "region": "US"}
	}
	if s.kind == gateway.Call {
		c.Proposes = true
		return c, c.Task(false)
	}
	name := c.IntentName()
	intent, given := args[name]
	if !given {
		return c, task
	}
	c.Proposes = true
	if text, ok := intent.(string); ok {
		if intent, err = ijson.Decode([]byte(text)); err != nil {
			t.Fatal(err)
		}
		c.IntentWas[name] = true
	}
	c.Intents[name] = intent
	task.Caller = patterns.Proposals(name, intent)
	return c, task
}

// carriedOut makes the call and presents how it ended. Time and ids are made the same for all runs.
func (s sent) carriedOut(t testing.TB) (arguments.Call, patterns.Ended) {
	t.Helper()
	c, task := s.taken(t)
	engine := local.Engine{Waits: local.Waits{CallerWait: -1}} // proposals that run out end the run
	defer engine.Close()
	ended, err := engine.Start(context.Background(), patterns.Job{Spec: c.Spec, Task: task, Model: &script{s.replies, s.fault}})
	if err != nil {
		t.Fatal(err)
	}
	ended.RunID = "run_5d0c9a1e77b2f340"
	ended.Began = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	ended.Ended = ended.Began.Add(12 * time.Millisecond)
	ended.Waited = 0 // as the other times it is what the machine takes
	for name, spent := range ended.Result.Budget {
		if name == "max_seconds" || name == "task_timeout_seconds" {
			ended.Result.Budget[name] = patterns.Spent{Limit: spent.Limit, Used: 0.012}
		}
	}
	if c.Proposes && ended.Result.Usage.Requests == 0 {
		c.Model = "caller"
	}
	if s.after != nil {
		s.after(&ended)
	}
	return c, ended
}

const (
	modelPlan = `{"kind":"plan","steps":[
		{"id":"step_1","title":"Who","tool":"get_manager_profile","args":{"manager_id":42}},
		{"id":"step_2","title":"Sales","tool":"fetch_sales_data","args":{"month":"2026-04"}},
		{"id":"step_3","title":"Refunds","tool":"fetch_refund_data","args":{"month":"2026-04"}},
		{"id":"step_4","title":"KPIs","tool":"calculate_monthly_kpis","args":{"month":"2026-04"}},
		{"id":"step_5","title":"Risk","tool":"detect_risk_signals","args":{"month":"2026-04"}}]}`
	fiveSteps = `{"goal":"April report","finalize":false,"plan":` + modelPlan + `}`
)
