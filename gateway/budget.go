package gateway

import (
	"math"
	"strconv"
	"time"

	"patterngate/catalog"
)

// Limit bounds a count. The zero Limit allows nothing. To have no limit, set [Unlimited].
type Limit int

// Unlimited means that there is no limit.
const Unlimited Limit = -1

// Allows reports whether a count of n is within the limit.
func (l Limit) Allows(n int) bool { return l == Unlimited || n <= int(l) }

// Named reports whether there is a limit to show.
func (l Limit) Named() bool { return l != Unlimited }

// USD bounds the cost of a run's models. The zero USD allows nothing. To have no limit, set [NoPrice].
type USD float64

// NoPrice means that the cost of models has no limit.
const NoPrice USD = -1

// Named reports whether there is a limit to show.
func (l USD) Named() bool { return l != NoPrice }

// Budget bounds one run. Each pattern reads the limits of its kind. The zero Budget allows nothing, so start from
// [NoBudget].
type Budget struct {
	// Every kind.
	MaxTime      time.Duration // running time; waiting for people and callers does not count
	MaxToolCalls Limit
	MaxLLMCalls  Limit // model requests, retries included
	MaxTokens    Limit // input and output tokens; no call begins after the limit is reached
	MaxCost      USD   // of models, including those of child runs

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
	// Planning: limits of one plan, and the highest values that a call may ask for.
	MaxSubtasks, MinSubtasks int // MinSubtasks does not apply to later iterations and replans
	MaxDepth                 int
	MaxReplans               Limit
	MaxIterations            int
	MaxConcurrent            int
	MaxRetries               int
	SubtaskTimeout           time.Duration // of one call of a catalog tool

	// Loops: how often a run may call one tool, or make the same call.
	MaxCallsPerTool Limit
	MaxSameCall     Limit
	// MaxSameRead is how often the same call of a read-only tool may be admitted. It applies if it is higher than
	// MaxSameCall: a run may read a value again after a change. 0: as MaxSameCall.
	MaxSameRead Limit
	PerTool     map[string]CallLimit
}

// CallLimit bounds the calls of one tool.
type CallLimit struct{ MaxCalls, MaxSameCall Limit }

// AsOthers is a limit of a [CallLimit] that is not set: the limit for every tool applies.
const AsOthers Limit = -2

// NoBudget returns a Budget in which counts of type [Limit] and the cost have no limit. All other fields are zero.
func NoBudget() Budget {
	return Budget{
		MaxToolCalls: Unlimited, MaxLLMCalls: Unlimited, MaxTokens: Unlimited, MaxExecuteSteps: Unlimited,
		MaxDispatches: Unlimited, MaxDelegations: Unlimited, MaxCallsPerTool: Unlimited, MaxSameCall: Unlimited,
		MaxReplans: Unlimited, MaxCost: NoPrice,
	}
}

// DefaultBudget returns the default budget of a kind (spec/config.md section 7, Budgets). An unknown kind has the zero
// Budget.
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

// OwnBudget returns the default budget of a kind for patterns that a file declares. Its figures are those marked own in
// the same section.
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

// calls returns the limits for one tool with this effect.
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

// limits returns the limits for one tool. They depend on its effect.
func (g *Gate) limits(tool string) CallLimit {
	t, _ := g.config.Catalog.Tool(tool) // an unknown tool has no effect, so the stricter limit applies
	return g.config.Budget.calls(tool, t.Effect)
}

// Cents rounds an amount to cents, with the rounding of decimal text (spec/patterns.md section 1).
func Cents(amount float64) float64 {
	if math.IsNaN(amount) || math.IsInf(amount, 0) {
		return amount
	}
	v, _ := strconv.ParseFloat(strconv.FormatFloat(amount, 'f', 2, 64), 64)
	return v
}
