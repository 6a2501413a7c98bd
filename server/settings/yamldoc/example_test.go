package yamldoc_test

import (
	"fmt"

	"patterngate/server/settings/yamldoc"
)

// A fault is one line.
func ExampleFault() {
	f := yamldoc.Fault{
		File: "pg.yaml", Line: 3, Column: 27, Path: "patterns.route_ticket.budget.max_delegatoins",
		Reason: "unknown key", DidYouMean: "max_delegations",
	}
	fmt.Println(f)
	// Output: pg.yaml:3:27: patterns.route_ticket.budget.max_delegatoins: unknown key; did you mean max_delegations?
}
