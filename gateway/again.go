package gateway

// toolCalls is the budget of which a further attempt at a call takes a share.
const toolCalls = "max_tool_calls"

// Again takes the share of one more attempt at a call that was admitted; false: the budget of tool calls has no room for it,
// and nothing was taken. Other budgets, loops and the policy do not count it: it is the same act.
func (g *Gate) Again() bool {
	for _, b := range g.config.Calls {
		if b.Reason == toolCalls && !b.Limit.Allows(g.asked+g.again+1) {
			return false
		}
	}
	g.again++
	return true
}

// Count has calls count that child runs made: they are the run's own.
func (g *Gate) Count(calls int) { g.again += max(0, calls) }

// Tried is how many tool calls count: [Gate.Asked], the further attempts, and what child runs called.
func (g *Gate) Tried() int { return g.asked + g.again }

// further are the attempts that a budget counts besides the calls.
func (g *Gate) further(b CallBudget) int {
	if b.Reason != toolCalls {
		return 0
	}
	return g.again
}
