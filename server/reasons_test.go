package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/llm/offline"
	"patterngate/patterns/llm/openai"
	"patterngate/patterns/llm/prompts"
	"patterngate/patterns/reference"
)

// row is one run over MCP and the stop reason it must end with; task reasons are read off the trace.
type row struct {
	want      string // stop reason of the run
	task      string // stop reason of a task of it
	phase     string
	kind      gateway.Kind
	replies   []llmtest.Reply
	arguments map[string]any       // of the call; nil: a goal
	change    func(*patterns.Spec) // of the declaration
	rules     bool                 // the offline rules propose
	model     func(*openai.Config) // of the model's client
	cancel    bool                 // the call is taken back
	then      object               // arguments of a second call, which continues the run of the first
	again     object               // arguments of a second call of its own
}

// TestEveryStopReasonOverMCP gets every stop reason of the registry, for every kind of pattern that has it, by a
// tools/call over a pipe; and nothing that is not in the registry.
func TestEveryStopReasonOverMCP(t *testing.T) {
	t.Parallel()
	var seen reasonsSeen
	t.Run("rows", func(t *testing.T) { // together: some wait for a time limit
		for _, r := range allRows() {
			t.Run(string(r.kind)+" "+r.want+" "+r.task, func(t *testing.T) {
				t.Parallel()
				r.judge(t, r.call(t), &seen)
			})
		}
	})
	t.Run("planning", func(t *testing.T) { planReasons(t, &seen) })
	for _, s := range stopreason.All() {
		if slices.Contains(ofRecords, s.Name) || slices.Contains(ofOwnTools, s.Name) {
			continue
		}
		for _, p := range s.Places {
			if p.Kind == pl && slices.Contains(planningIsNotHere, s.Name) {
				continue
			}
			if p.Kind == cl && s.Name == "tool_missing:T" { // no server starts with a call of what is not there
				continue
			}
			if !seen.has(p.Kind, s.Name) {
				t.Errorf("%s has the stop reason %s in the registry, and no run above ended so", p.Kind, s.Name)
			}
		}
	}
}

// judge compares a run's result with the row and marks what is seen.
func (r row) judge(t *testing.T, result map[string]any, seen *reasonsSeen) {
	t.Helper()
	reason, _ := result["stop_reason"].(string)
	phase, _ := result["phase"].(string)
	if !meets(reason, r.want) || phase != r.phase {
		t.Fatalf("stop reason %q in phase %q, want %q in %q: %v", reason, phase, r.want, r.phase, result["summary"])
	}
	seen.note(t, r.kind, reason, phase, false)
	tasks := taskReasons(result)
	for _, reason := range tasks {
		seen.note(t, r.kind, reason, phaseOfTasks, true)
	}
	if r.task != "" && !slices.Contains(tasks, r.task) {
		t.Errorf("no task ended with %q: %v", r.task, result["trace"])
	}
}

// ofRecords are reasons that no single call of a sound server in memory comes to: a process must have ended during a call, the
// record must be lost or damaged, or a person must have been asked in earnest. The tests of the engine and of durable runs
// get them.
var ofRecords = []string{
	"in_doubt:T", "journal_unavailable", "replay_mismatch", "record_broken", "approval_expired", "approval_consumed", "approval_invalid",
}

// meets compares a stop reason with a wanted one, which may leave its end open.
func meets(reason, want string) bool {
	if open, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(reason, open)
	}
	return reason == want
}

const phaseOfTasks = patterns.PhaseDispatch

// reasonsSeen are the rows of the registry that runs ended with. It is safe for concurrent use.
type reasonsSeen struct {
	mu   sync.Mutex
	rows map[string]bool // by kind and name
}

func (r *reasonsSeen) has(kind gateway.Kind, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rows[string(kind)+" "+name]
}

// note marks a registry row as seen; what is no row, or not at this place, is a fault.
func (r *reasonsSeen) note(t *testing.T, kind gateway.Kind, reason, phase string, task bool) {
	t.Helper()
	s, ok := stopreason.Lookup(reason)
	switch {
	case !ok:
		t.Errorf("%q is not in the registry", reason)
	case !s.Occurs(kind, phase):
		t.Errorf("%q in phase %q of %s is not what the registry says: %+v", reason, phase, kind, s.Places)
	case s.Task && !task:
		t.Errorf("%q ended a run; the registry says that it ends tasks", reason)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = map[string]bool{}
	}
	r.rows[string(kind)+" "+s.Name] = true
}

// taskReasons are the stop reasons of an orchestrator's tasks.
func taskReasons(result map[string]any) []string {
	var reasons []string
	trace, _ := result["trace"].([]any)
	for _, row := range trace {
		row, _ := row.(map[string]any)
		if _, isTask := row["task_id"]; !isTask {
			return nil
		}
		if reason, ok := row["stop_reason"].(string); ok && reason != "max_seconds" {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// call makes the run's tools/call over a pipe and returns the structured result.
func (r row) call(t *testing.T) map[string]any {
	t.Helper()
	spec := specOf(t, r.kind)
	if r.change != nil {
		r.change(&spec)
	}
	var model patterns.Model = offline.New()
	if !r.rules {
		fake := llmtest.NewServer(r.replies...)
		t.Cleanup(fake.Close)
		config := openai.Config{BaseURL: fake.URL, APIKey: "test", Model: "test", Timeout: 5 * time.Second}
		if r.model != nil {
			r.model(&config)
		}
		m, err := openai.New(config)
		if err != nil {
			t.Fatal(err)
		}
		model = m
	}
	arguments := r.arguments
	if arguments == nil {
		arguments = goalOf(r.kind)
	}
	wait := time.Hour
	if r.want == "caller_expired" {
		wait = -1
	}
	c := open(t, spec, model, wait)
	defer c.close()
	tool := toolOf(r.kind)
	answer := c.call(tool, arguments, r.cancel)
	if r.then != nil {
		more := maps.Clone(r.then)
		more["run_id"] = answer.object["run_id"]
		answer = c.call(tool, more, false)
	}
	if r.again != nil {
		answer = c.call(tool, r.again, false)
	}
	if answer.object == nil {
		t.Fatal("no structured result")
	}
	return answer.object
}

// goalOf are the required arguments of a kind's tool.
func goalOf(kind gateway.Kind) map[string]any {
	switch kind {
	case gateway.Orchestrator:
		return map[string]any{"goal": "Morning report", "report_date": demo.ReportDate, "region": demo.Region}
	case gateway.Routing:
		return map[string]any{"ticket": "A refund for user_id=42, please"}
	}
	return map[string]any{"goal": "Do it for user_id=42"}
}

// with is goalOf with more arguments.
func with(kind gateway.Kind, more map[string]any) map[string]any {
	args := goalOf(kind)
	maps.Copy(args, more)
	return args
}

// The demo's tools, and the policy for its refunds. Each is made once, since neither changes.
var (
	demoTools    = sync.OnceValues(func() ([]catalog.Tool, error) { return demo.Tools(demo.Config{DelayFactor: 0.01}) })
	refundPolicy = sync.OnceValue(refunds.Defaults.Judge)
)

// specOf declares a kind over the demo's tools and a few that misbehave: broken, panicking, lying and reporting.
func specOf(t *testing.T, kind gateway.Kind) patterns.Spec {
	t.Helper()
	if !slices.Contains(kinds, kind) && kind != gateway.Call { // of whatever pattern
		kind = gateway.Supervisor
	}
	tools, err := demoTools()
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(slices.Concat(tools, badTools(t))...)
	if err != nil {
		t.Fatal(err)
	}
	names := map[gateway.Kind][]string{
		gateway.TaskDecomposition: demo.DecompositionTools, gateway.Orchestrator: demo.OrchestratorWorkers,
		gateway.Routing: demo.Specialists, gateway.Supervisor: demo.RefundTools, gateway.Call: demo.RefundTools,
	}[kind]
	s := patterns.Spec{
		Name: toolOf(kind), Kind: kind, Catalog: c, Budget: gateway.DefaultBudget(kind), Prompts: prompts.Of(kind),
		Policy: append(slices.Clone(names), "broken", "lying", "reporting", "absent"),
	}
	reference.Declare(&s)
	s.Execution = s.Policy
	s.Budget.MaxTime = 10 * time.Second
	switch kind {
	case gateway.Orchestrator:
		s.Aggregate, s.Budget.TaskTimeout = reference.Operations, 5*time.Second
	case gateway.Call:
		s.Tool = "get_refund_context"
	case gateway.Supervisor:
		refunds := refundPolicy()
		s.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
			if slices.Contains([]string{"broken", "lying", "absent"}, c.Tool) {
				return gateway.Verdict{Decision: gateway.Approve, Reason: "tested"}
			}
			return refunds.Review(c)
		})
	}
	return s
}

func toolOf(kind gateway.Kind) string {
	if !slices.Contains(kinds, kind) {
		return string(kind)
	}
	return map[gateway.Kind]string{
		gateway.TaskDecomposition: "run_task_decomposition", gateway.Orchestrator: "run_orchestrator",
		gateway.Routing: "route_ticket", gateway.Supervisor: "supervised_refund",
	}[kind]
}

// badTools misbehave in every way a tool can.
func badTools(t *testing.T) []catalog.Tool {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"ticket":{"type":"string"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	output, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	tool := func(name string, do catalog.Func) catalog.Tool {
		return catalog.Tool{Name: name, Description: "Misbehaves.", Effect: catalog.Read, Simulated: true, Input: input, Output: output, Do: do}
	}
	return []catalog.Tool{
		tool("broken", func(context.Context, catalog.Call) (any, error) { return nil, errors.New("broken") }),
		tool("lying", func(context.Context, catalog.Call) (any, error) { return "no object", nil }),
		tool("reporting", func(context.Context, catalog.Call) (any, error) { return map[string]any{"error": "out of order"}, nil }),
	}
}

// say is a model's reply that holds v.
func say(v any) llmtest.Reply {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return llmtest.Content(string(b))
}

type object = map[string]any

// steps is a plan of the calls, each a tool with its arguments.
func steps(calls ...any) object {
	var list []any
	for i := 0; i < len(calls); i += 2 {
		id := string(rune('a' + i/2))
		list = append(list, object{"id": id, "title": "Step " + id, "tool": calls[i], "args": calls[i+1]})
	}
	return object{"kind": "plan", "steps": list}
}

// tasks is a plan of one task for each worker, none critical.
func tasks(workers ...string) object {
	var list []any
	for i, w := range workers {
		list = append(list, object{"id": string(rune('a' + i)), "worker": w, "args": workerArgs(w), "critical": false})
	}
	return object{"kind": "plan", "tasks": list}
}

func workerArgs(worker string) object {
	if !strings.HasSuffix(worker, "_worker") {
		return object{}
	}
	return object{"report_date": demo.ReportDate, "region": demo.Region}
}

func route(target string) object {
	return object{"kind": "route", "target": target, "args": object{"ticket": "A refund for user_id=42"}}
}

func act(name string, args object) object { return object{"kind": "tool", "name": name, "args": args} }

var (
	month  = object{"month": "2026-04"}
	sales  = []any{"fetch_sales_data", month, "fetch_refund_data", month, "calculate_monthly_kpis", month}
	lookUp = act("get_refund_context", object{"user_id": 42})
	refund = func(amount any) object {
		return act("issue_refund", object{"user_id": 42, "amount_usd": amount, "reason": "asked"})
	}
	closing = object{"kind": "final", "answer": "Done."}
)
