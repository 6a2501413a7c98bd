package bench

import (
	"context"
	"fmt"
	"time"

	"patterngate/bench/bareloop"
	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
	"patterngate/patterns/llm/openai"
	"patterngate/patterns/llm/prompts"
	"patterngate/patterns/local"
	"patterngate/patterns/reference"
)

// modelName is the model that both sides request.
const modelName = "test-model"

// Ours executes workloads with Patterngate's engine in this process.
type Ours struct {
	engine *local.Engine
	model  patterns.Model
	specs  map[gateway.Kind]patterns.Spec
}

// NewOurs returns a side that asks the model at baseURL. delay scales the delays of the demo workers.
func NewOurs(baseURL string, delay float64) (*Ours, error) {
	model, err := openai.New(openai.Config{BaseURL: baseURL, Model: modelName, Timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	return newOurs(model, delay)
}

// NewOffline returns a side that asks the offline rules.
func NewOffline(delay float64) (*Ours, error) { return newOurs(offline.New(), delay) }

func newOurs(model patterns.Model, delay float64) (*Ours, error) {
	tools, err := demo.Tools(demo.Config{DelayFactor: delay})
	if err != nil {
		return nil, err
	}
	c, err := catalog.New(tools...)
	if err != nil {
		return nil, err
	}
	o := &Ours{engine: &local.Engine{}, model: model, specs: map[gateway.Kind]patterns.Spec{}}
	for kind, names := range map[gateway.Kind][]string{
		gateway.TaskDecomposition: demo.DecompositionTools, gateway.Orchestrator: demo.OrchestratorWorkers,
		gateway.Routing: demo.Specialists, gateway.Supervisor: demo.RefundTools,
	} {
		o.specs[kind] = spec(kind, c, names)
	}
	return o, nil
}

func spec(kind gateway.Kind, c *catalog.Catalog, names []string) patterns.Spec {
	s := patterns.Spec{
		Name: string(kind), Kind: kind, Catalog: c, Policy: names, Execution: names,
		Budget: gateway.DefaultBudget(kind), Prompts: prompts.Of(kind), Aggregate: reference.Operations,
	}
	reference.Declare(&s)
	if kind == gateway.Supervisor {
		s.Reviewer = refunds.Defaults.Judge()
		s.Approver = patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}
	}
	return s
}

// Close ends the engine's goroutines.
func (o *Ours) Close() { o.engine.Close() }

// Run executes a workload. It returns an error if the run does not succeed.
func (o *Ours) Run(ctx context.Context, w Workload) (patterns.Result, error) {
	ended, err := o.engine.Start(ctx, patterns.Job{Spec: o.specs[w.Kind], Task: w.Task, Model: o.model})
	if err == nil && !ended.Result.OK() {
		err = fmt.Errorf("%s stopped: %s in %s", w.Name, ended.Result.StopReason, ended.Result.Phase)
	}
	return ended.Result, err
}

// Bare executes workloads with the bare loop in this process.
type Bare struct{ loop *bareloop.Loop }

// NewBare returns a side that asks the model at baseURL. delay scales the delays of the demo workers.
func NewBare(baseURL string, delay float64) (*Bare, error) {
	loop, err := bareloop.New(baseURL, modelName, delay)
	return &Bare{loop}, err
}

// Run executes a workload.
func (b *Bare) Run(ctx context.Context, w Workload) (bareloop.Result, error) {
	switch w.Kind {
	case gateway.TaskDecomposition:
		return b.loop.Decompose(ctx, w.Task.Goal)
	case gateway.Orchestrator:
		return b.loop.Orchestrate(ctx, w.Task.Goal, text(w.Task.Inputs["report_date"]), text(w.Task.Inputs["region"]))
	case gateway.Routing:
		return b.loop.Route(ctx, w.Task.Goal)
	}
	return b.loop.Supervise(ctx, w.Task.Goal)
}

// InProcess returns the sides in this process: the bare loop, the bare loop again as the control, and Patterngate. The
// control has its own client and connections. Its ratio shows how much of a ratio is chance.
func InProcess(m *Model) ([]Side, func(), error) {
	bare, err := NewBare(m.URL, 0)
	if err != nil {
		return nil, nil, err
	}
	control, err := NewBare(m.URL, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, err := NewOurs(m.URL, 0)
	if err != nil {
		return nil, nil, err
	}
	ctx := context.Background()
	run := func(b *Bare) func(Workload) error {
		return func(w Workload) error { _, err := b.Run(ctx, w); return err }
	}
	return []Side{
		{"bare", run(bare)}, {"control", run(control)},
		{"ours", func(w Workload) error { _, err := ours.Run(ctx, w); return err }},
	}, ours.Close, nil
}

// OverStdio returns the sides as servers over stdio: the bare server, a second bare server as the control, and
// Patterngate.
func OverStdio(p Programs, m *Model) ([]Side, func(), error) {
	return served(m, []start{{"bare", p.StartBare}, {"control", p.StartBare}, {"ours", p.StartOurs}})
}

// start is a side with the function that starts its server.
type start struct {
	name string
	with func(*Model) (*Session, error)
}

// served starts servers over stdio and returns them as sides. The returned function ends them.
func served(m *Model, starts []start) ([]Side, func(), error) {
	var sides []Side
	var sessions []*Session
	done := func() {
		for _, s := range sessions {
			_ = s.Close() // after the measurement, an error has no use
		}
	}
	for _, side := range starts {
		s, err := side.with(m)
		if err == nil {
			sessions = append(sessions, s)
			err = s.Initialize()
		}
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("%s: %w", side.name, err)
		}
		sides = append(sides, Side{side.name, func(w Workload) error { _, err := s.Run(w); return err }})
	}
	return sides, done, nil
}

// WithDelays returns Patterngate's side in this process, with the delays of the reference.
func WithDelays(m *Model) (Side, func(), error) {
	ours, err := NewOurs(m.URL, 1)
	if err != nil {
		return Side{}, nil, err
	}
	return Side{"ours", func(w Workload) error { _, err := ours.Run(context.Background(), w); return err }}, ours.Close, nil
}

// text returns a decoded value that is a string, and "" for other values.
func text(v any) string {
	s, _ := v.(string)
	return s
}
