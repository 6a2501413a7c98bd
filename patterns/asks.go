package patterns

import "patterngate/gateway"

// Asks says whether a person may be asked before the pattern calls a tool. Only a supervisor puts calls to a person: in
// every other kind of pattern a call for which its policy wants one is blocked.
func (s Spec) Asks(tool string) gateway.Asks {
	if s.Kind != gateway.Supervisor {
		return gateway.AsksNever
	}
	return gateway.AsksBefore(s.Reviewer, tool)
}
