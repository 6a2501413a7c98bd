package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"patterngate/catalog"
)

// MaxDelayFactor is the largest [Config.DelayFactor].
const MaxDelayFactor = 100

// Config configures the simulated world.
type Config struct {
	DelayFactor float64 // multiplies the workers' delays; 0 means none, 1 those of the reference; at most MaxDelayFactor

	// Ledger is called with each effect before the tool answers, so that a program can count the effects. It can be
	// nil. Its error becomes the error of the call.
	Ledger func(ctx context.Context, e Entry) error
	// Plain makes the tools that write ignore idempotency keys: a call that is made twice acts twice.
	Plain bool
	// Look finds the entry of a key. If it is set, the tools that write have look-ups that settle an unknown outcome.
	// If it is nil, they have none.
	Look func(ctx context.Context, key string) (e Entry, found bool, err error)
	// World is the data that the tools read. Nil means [Reference].
	World *World
}

// The tools of each reference pattern, in the pattern's order.
var (
	DecompositionTools = []string{
		"get_manager_profile", "fetch_sales_data", "fetch_refund_data", "calculate_monthly_kpis", "detect_risk_signals",
	}
	OrchestratorWorkers = []string{"sales_worker", "payments_worker", "inventory_worker"}
	Specialists         = []string{"billing_specialist", "technical_specialist", "sales_specialist"}
	RefundTools         = []string{"get_refund_context", "issue_refund", "send_refund_email"}
	// ReadTools are the tools of all four patterns that change nothing. A plan of subtasks can use them by default.
	// ReadTools does not contain the look-ups that settle an unknown outcome.
	ReadTools = slices.Concat(DecompositionTools, OrchestratorWorkers, Specialists, []string{"get_refund_context"})
)

// Supplied are the arguments that a pattern sets in the tools that have them: the run's id and the ticket.
var Supplied = []string{"request_id", "ticket"}

// One task for each reference pattern. The orchestrator's run also takes ReportDate and Region.
const (
	DecompositionGoal = "Write the sales summary for April 2026 of manager_id=42, in USD. Take it step by step and give gross " +
		"sales, refunds, net sales, the refund rate and one note on risk."
	OrchestratorGoal = "Morning operations report for the US shop on 2026-02-26: sales, payment risk and inventory risk, and " +
		"one thing to do about them."
	RoutingTicket = "Anna (user_id=42) writes: you charged my pro_monthly subscription 10 days ago. Can I have a refund?"
	RefundGoal    = "Anna (user_id=42) asks for a refund of 1200 USD, the charge of her annual plan 10 days ago. Look at her " +
		"account first, refund what the policy allows, confirm it by email and close with a short answer."

	ReportDate = "2026-02-26"
	Region     = "US"
)

// Tools returns the 14 tools of the four reference patterns, and two look-ups if Look is set. All are
// simulated. It returns an error for a delay factor out of range.
func Tools(cfg Config) ([]catalog.Tool, error) {
	if f := cfg.DelayFactor; !(f >= 0 && f <= MaxDelayFactor) {
		return nil, fmt.Errorf("demo: delay factor %v: a number from 0 to %d is wanted", f, MaxDelayFactor)
	}
	parts := []func(*builder){
		(*builder).addReport, func(b *builder) { b.addOperations(delays(cfg.DelayFactor)) },
		(*builder).addSupport, (*builder).addRefunds, func(b *builder) { b.addLookUps(cfg) },
	}
	world := Reference()
	if cfg.World != nil {
		world = *cfg.World
	}
	built := make([]builder, len(parts))
	var all sync.WaitGroup
	for i, part := range parts { // in parallel: reflection on types is a large part of a server's start
		built[i].world = world
		all.Go(func() { part(&built[i]) })
	}
	all.Wait()
	var whole builder
	for _, b := range built {
		whole.tools, whole.faults = append(whole.tools, b.tools...), append(whole.faults, b.faults...)
	}
	if err := errors.Join(whole.faults...); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	for i, t := range whole.tools {
		whole.tools[i] = cfg.told(t)
	}
	return whole.tools, nil
}

type builder struct {
	world  World
	tools  []catalog.Tool
	faults []error
}

// add adds a tool whose function does not use its call.
func add[In, Out any](b *builder, t catalog.Tool, do func(In) Out) {
	addFunc(b, t, func(_ context.Context, in In, _ catalog.Call) (Out, error) { return do(in), nil })
}

func addFunc[In, Out any](b *builder, t catalog.Tool, do func(context.Context, In, catalog.Call) (Out, error)) {
	if t.Effect == "" {
		t.Effect = catalog.Read
	}
	t.Idempotent, t.Simulated, t.Origin, t.Supplied = true, true, "demo", Supplied
	t, err := catalog.Typed(t, do)
	if err != nil {
		b.faults = append(b.faults, err)
		return
	}
	b.tools = append(b.tools, t)
}

// delays is the factor for the delays of the reference.
type delays float64

// sleep waits for a delay of the reference, in seconds times the factor, or until ctx ends.
func (d delays) sleep(ctx context.Context, seconds float64) error {
	timer := time.NewTimer(time.Duration(math.Round(seconds * float64(d) * float64(time.Second))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
