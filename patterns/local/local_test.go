package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/local"
	"patterngate/patterns/reference"
)

// script is a model that answers in order; an entry that starts with ! is a fault of that reason.
type script struct {
	replies []string
	asked   []patterns.Question
}

func (s *script) Name() string { return "script" }

func (s *script) Ask(_ context.Context, q patterns.Question) (patterns.Answer, error) {
	s.asked = append(s.asked, q)
	usage := patterns.Usage{Requests: 1, InputTokens: 10, OutputTokens: 5}
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

// refundPolicy is the demo's, compiled once.
var refundPolicy = sync.OnceValue(refunds.Defaults.Judge)

// spec declares a pattern over the demo's tools; delay scales the workers'.
func spec(t testing.TB, kind gateway.Kind, delay float64) patterns.Spec {
	t.Helper()
	tools, err := demo.Tools(demo.Config{DelayFactor: delay})
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	s := patterns.Spec{Name: string(kind), Kind: kind, Catalog: c, Budget: gateway.DefaultBudget(kind)}
	reference.Declare(&s)
	switch kind {
	case gateway.TaskDecomposition:
		s.Policy = demo.DecompositionTools
	case gateway.Orchestrator:
		s.Policy, s.Aggregate = demo.OrchestratorWorkers, reference.Operations
	case gateway.Routing:
		s.Policy = demo.Specialists
	case gateway.Supervisor:
		s.Policy = demo.RefundTools
		s.Reviewer = refundPolicy()
		s.Approver = patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}
	}
	s.Execution = s.Policy
	return s
}

var inputs = patterns.Inputs{"report_date": "2026-02-26", "region": "US"}

const (
	plan = `{"kind":"plan","steps":[
		{"id":"s1","title":"Who","tool":"get_manager_profile","args":{"manager_id":42}},
		{"id":"s2","title":"KPIs","tool":"calculate_monthly_kpis","args":{"month":"2026-04"}},
		{"id":"s3","title":"Risk","tool":"detect_risk_signals","args":{"month":"2026-04"}}]}`
	tasks = `{"kind":"plan","tasks":[
		{"id":"t1","worker":"sales_worker","args":{"report_date":"2026-02-26","region":"US"},"critical":true},
		{"id":"t2","worker":"payments_worker","args":{"report_date":"2026-02-26","region":"US"},"critical":true},
		{"id":"t3","worker":"inventory_worker","args":{"report_date":"2026-02-26","region":"US"},"critical":false}]}`
)

// runs are one run of each pattern that meets everything the pattern can do.
var runs = map[string]struct {
	kind    gateway.Kind
	task    patterns.Task
	replies []string
	want    string
}{
	"decompose":   {gateway.TaskDecomposition, patterns.Task{Goal: "April", Finalize: true}, []string{plan, "Net 26,825."}, "success"},
	"orchestrate": {gateway.Orchestrator, patterns.Task{Goal: "Morning", Inputs: inputs, Finalize: true}, []string{tasks, "Yellow."}, "success"},
	"route": {gateway.Routing, patterns.Task{Goal: "refund please", Finalize: true}, []string{
		`{"kind":"route","target":"sales_specialist","args":{"ticket":"refund please"}}`,
		`{"kind":"route","target":"billing_specialist","args":{"ticket":"refund please user_id=42"}}`, "49 USD.",
	}, "success"},
	"supervise": {gateway.Supervisor, patterns.Task{Goal: "1200"}, []string{
		`{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}`,
		`{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":1200}}`,
		`{"kind":"tool","name":"send_refund_email","args":{"user_id":42,"amount_usd":800,"message":"Done"}}`,
		`{"kind":"final","answer":"800 USD were refunded."}`,
	}, "success"},
}

// carryOut runs a job and returns its result and record.
func carryOut(t testing.TB, s patterns.Spec, task patterns.Task, model patterns.Model) (patterns.Result, *execution.Record) {
	t.Helper()
	var record *execution.Record
	e := &local.Engine{Reports: local.Reports{Recorded: func(_ string, r *execution.Record) { record = r }}}
	defer e.Close()
	ended, err := e.Start(context.Background(), patterns.Job{Spec: s, Task: task, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	return ended.Result, record
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A run replayed against its recorded outcomes alone comes to the identical result, effects in the same order.
func TestReplayGivesTheSameResult(t *testing.T) {
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			s := spec(t, run.kind, 0.01)
			s.Budget.TaskTimeout /= 100
			lived, record := carryOut(t, s, run.task, &script{replies: run.replies})
			if lived.StopReason != run.want {
				t.Fatalf("stop reason %s, want %s\n%s", lived.StopReason, run.want, asJSON(t, lived))
			}
			again, err := local.Replay(record, s, run.task, execution.First)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := asJSON(t, lived), asJSON(t, again); a != b {
				t.Errorf("lived %s\nreplayed %s", a, b)
			}
		})
	}
}
