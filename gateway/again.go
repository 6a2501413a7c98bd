package gateway

// toolCalls is the budget that also counts further attempts at a call.
const toolCalls = "max_tool_calls"

// Again counts one more attempt at a call that was admitted. It returns false, and counts nothing, if the attempt is
// over the budget of tool calls. Other budgets, loop limits and the policy do not count the attempt, because it is the
// same call.
func (g *Gate) Again() bool {
	for _, b := range g.config.Calls {
		if b.Reason == toolCalls && !b.Limit.Allows(g.asked+g.again+1) {
			return false
		}
	}
	g.again++
	return true
}

// Count adds the calls of child runs to the run's own tool calls. A negative number adds nothing.
func (g *Gate) Count(calls int) { g.again += max(0, calls) }

// Tried returns how many tool calls count: [Gate.Asked], the further attempts, and the calls of child runs.
func (g *Gate) Tried() int { return g.asked + g.again }

// further returns the attempts that a budget counts besides the calls.
func (g *Gate) further(b CallBudget) int {
	if b.Reason != toolCalls {
		return 0
	}
	return g.again
}
