package gateway

import (
	"time"

	"patterngate/catalog"
)

// Limit bounds a count. The zero Limit allows nothing; [Unlimited] is said, never left out.
type Limit int

// Unlimited is no limit.
const Unlimited Limit = -1

// Allows reports whether the n-th one is within the limit.
func (l Limit) Allows(n int) bool { return l == Unlimited || n <= int(l) }

// Named reports whether there is a limit to show.
func (l Limit) Named() bool { return l != Unlimited }

// USD bounds what a run's models may cost. The zero USD allows nothing; [NoPrice] is said, never left out.
type USD float64

// NoPrice is no limit of what models cost.
const NoPrice USD = -1

// Named reports whether there is a limit to show.
func (l USD) Named() bool { return l != NoPrice }

// Budget bounds one run. Each pattern reads the limits of its kind; [NoBudget] is the place to start from, since
// the zero Budget allows nothing.
type Budget struct {
	// Every kind.
	MaxTime      time.Duration // running time; waits for people and callers do not count
	MaxToolCalls Limit
	MaxLLMCalls  Limit // model requests, retries included
	MaxTokens    Limit // input and output tokens; the call after the limit was reached does not begin
	MaxCost      USD   // of models, with those of child runs

	// Task decomposition.
	MinPlanSteps    int
	MaxPlanSteps    int
	MaxExecuteSteps Limit
	// Orchestrator.
	MaxTasks          int
	MaxParallel       int
	MaxRetriesPerTask int
	MaxDispatches     Limit
	TaskTimeout       time.Duration
	// Routing.
	MaxRouteAttempts int
	MaxDelegations   Limit
	// Supervisor.
	MaxSteps int
	// Planning: of one plan, and ceilings of what a call may ask for.
	MaxSubtasks, MinSubtasks int // MinSubtasks not of later rounds and replans
	MaxDepth                 int
	MaxReplans               Limit
	MaxIterations            int
	MaxConcurrent            int
	MaxRetries               int
	SubtaskTimeout           time.Duration // of one call of a catalog tool

	// Loops: how often a tool, and the same call, may be admitted in a run.
	MaxCallsPerTool Limit
	MaxSameCall     Limit
	// MaxSameRead is how often the same call of a tool that only reads may be admitted, where that is more than MaxSameCall: what
	// was read before a change may be read again after it. 0: as MaxSameCall.
	MaxSameRead Limit
	PerTool     map[string]CallLimit
}

// CallLimit bounds the calls of one tool.
type CallLimit struct{ MaxCalls, MaxSameCall Limit }

// AsOthers is the limit of a [CallLimit] of which nothing is said: that of every tool.
const AsOthers Limit = -2

// NoBudget bounds nothing that is counted.
func NoBudget() Budget {
	return Budget{
		MaxToolCalls: Unlimited, MaxLLMCalls: Unlimited, MaxTokens: Unlimited, MaxExecuteSteps: Unlimited,
		MaxDispatches: Unlimited, MaxDelegations: Unlimited, MaxCallsPerTool: Unlimited, MaxSameCall: Unlimited,
		MaxReplans: Unlimited, MaxCost: NoPrice,
	}
}

// DefaultBudget holds the figures of a kind (spec/config.md section 7, Budgets); an unknown kind is allowed nothing.
func DefaultBudget(kind Kind) Budget {
	b := NoBudget()
	switch kind {
	case TaskDecomposition:
		b.MinPlanSteps, b.MaxPlanSteps, b.MaxExecuteSteps, b.MaxToolCalls = 3, 6, 8, 8
		b.MaxSameCall, b.MaxTime = 1, time.Minute
	case Orchestrator:
		b.MaxTasks, b.MaxParallel, b.MaxRetriesPerTask, b.MaxDispatches = 4, 3, 1, 8
		b.TaskTimeout, b.MaxTime = 2*time.Second, 25*time.Second
	case Routing:
		b.MaxRouteAttempts, b.MaxDelegations, b.MaxTime = 3, 3, time.Minute
	case Supervisor:
		b.MaxSteps, b.MaxToolCalls, b.MaxTime = 8, 5, 30*time.Second
		b.MaxCallsPerTool, b.MaxSameCall = 2, 1
		b.PerTool = map[string]CallLimit{"get_refund_context": {MaxCalls: 3, MaxSameCall: 2}}
	case Planning:
		b.MaxSubtasks, b.MinSubtasks, b.MaxDepth, b.MaxReplans, b.MaxIterations = 100, 1, 10, 2, 10
		b.MaxConcurrent, b.MaxRetries, b.MaxToolCalls, b.MaxLLMCalls = 16, 5, 200, 50
		b.MaxSameCall, b.MaxTime, b.SubtaskTimeout = 1, 10*time.Minute, time.Minute
	case Call:
		b.MaxTime = time.Minute
	default:
		return Budget{}
	}
	return b
}

// OwnBudget holds the figures of a kind for patterns that a file declares (the same section, those marked own).
func OwnBudget(kind Kind) Budget {
	b := DefaultBudget(kind)
	switch kind {
	case TaskDecomposition:
		b.MinPlanSteps = 1
	case Orchestrator:
		b.TaskTimeout, b.MaxTime = 30*time.Second, 2*time.Minute
	case Supervisor:
		b.MaxCallsPerTool, b.MaxSameRead, b.PerTool = Unlimited, 2, nil
	}
	return b
}

// calls are the limits for one tool.
func (b Budget) calls(tool string, effect catalog.Effect) CallLimit {
	all := CallLimit{b.MaxCallsPerTool, b.MaxSameCall}
	if effect == catalog.Read && b.MaxSameCall.Named() {
		all.MaxSameCall = max(b.MaxSameCall, b.MaxSameRead)
	}
	one, named := b.PerTool[tool]
	if !named {
		return all
	}
	if one.MaxCalls == AsOthers {
		one.MaxCalls = all.MaxCalls
	}
	if one.MaxSameCall == AsOthers {
		one.MaxSameCall = all.MaxSameCall
	}
	return one
}

// limits are those of one tool, by what a call of it can change.
func (g *Gate) limits(tool string) CallLimit {
	t, _ := g.config.Catalog.Tool(tool) // of one that there is not nothing is known: it is held to the stricter
	return g.config.Budget.calls(tool, t.Effect)
}
