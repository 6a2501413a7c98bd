package patterns

import "patterngate/gateway"

// Asks says whether a person may be asked before the pattern calls a tool: where it has a policy, that says so.
func (s Spec) Asks(tool string) gateway.Asks {
	return gateway.AsksBefore(s.Reviewer, tool)
}
