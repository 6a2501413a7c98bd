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
)

// modelName is the model that both sides ask for.
const modelName = "test-model"

// Ours carries out workloads by the product's engine in this process.
type Ours struct {
	engine *local.Engine
	model  patterns.Model
	specs  map[gateway.Kind]patterns.Spec
}

// NewOurs makes a side that asks the model at baseURL; delay scales the demo workers' delays.
func NewOurs(baseURL string, delay float64) (*Ours, error) {
	model, err := openai.New(openai.Config{BaseURL: baseURL, Model: modelName, Timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	return newOurs(model, delay)
}

// NewOffline makes a side that asks the offline rules.
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
		Budget: gateway.DefaultBudget(kind), Prompts: prompts.Of(kind), Aggregate: patterns.Operations,
	}
	if kind == gateway.Supervisor {
		s.Reviewer = refunds.Defaults.Judge()
		s.Approver = patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}
	}
	return s
}

// Close lets the engine's goroutines go.
func (o *Ours) Close() { o.engine.Close() }

// Run carries out a workload; a run that does not succeed is an error.
func (o *Ours) Run(ctx context.Context, w Workload) (patterns.Result, error) {
	ended, err := o.engine.Start(ctx, patterns.Job{Spec: o.specs[w.Kind], Task: w.Task, Model: o.model})
	if err == nil && !ended.Result.OK() {
		err = fmt.Errorf("%s stopped: %s in %s", w.Name, ended.Result.StopReason, ended.Result.Phase)
	}
	return ended.Result, err
}

// Bare carries out workloads by the bare loop in this process.
type Bare struct{ loop *bareloop.Loop }

// NewBare makes a side that asks the model at baseURL; delay scales the demo workers' delays.
func NewBare(baseURL string, delay float64) (*Bare, error) {
	loop, err := bareloop.New(baseURL, modelName, delay)
	return &Bare{loop}, err
}

// Run carries out a workload.
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

// InProcess are both sides in this process. The bare loop stands there twice: the second one, in its own client and
// connections, is the control that says how much of a ratio is chance.
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

// OverStdio are both sides as servers, and a second bare server as the control.
func OverStdio(p Programs, m *Model) ([]Side, func(), error) {
	return served(m, []start{{"bare", p.StartBare}, {"control", p.StartBare}, {"ours", p.StartOurs}})
}

// start starts a server at the model.
type start struct {
	name string
	with func(*Model) (*Session, error)
}

// served are servers over stdio as sides, and how they end.
func served(m *Model, starts []start) ([]Side, func(), error) {
	var sides []Side
	var sessions []*Session
	done := func() {
		for _, s := range sessions {
			_ = s.Close() // measured already
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

// WithDelays is our side in this process with the delays of the reference.
func WithDelays(m *Model) (Side, func(), error) {
	ours, err := NewOurs(m.URL, 1)
	if err != nil {
		return Side{}, nil, err
	}
	return Side{"ours", func(w Workload) error { _, err := ours.Run(context.Background(), w); return err }}, ours.Close, nil
}

// text is a decoded value that is one; "" else.
func text(v any) string {
	s, _ := v.(string)
	return s
}
