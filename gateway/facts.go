package gateway

import "time"

// Facts are what rules know about a run besides its calls (spec/config.md section 5.2: run, input, principal, client,
// now). They are the same on every replay. The zero value is a run about which nothing is known.
type Facts struct {
	RunID, Pattern string
	Kind           Kind
	Input          map[string]any // the pattern's own input fields
	Principal      Principal
	Client         Client
	Now            time.Time // time of the run's newest recorded outcome
	Steps          int       // calls begun
	Plan           []PlannedCall
	Spent          map[string]float64 // by the budget's name, for every limit in force; names that end in _seconds or _usd are fractions
	Remaining      map[string]float64 // without the budgets that have no limit
}

// Principal is the user or token that owns the run.
type Principal struct {
	ID   string // local:1000, token:ci
	Kind string // local, token
	Name string // 1000, ci
}

// Client is the program that made the request, as it names itself. This is not verified: use it only to make a rule
// stricter.
type Client struct{ Name, Version string }

// PlannedCall is one step of a run's plan.
type PlannedCall struct {
	ID, Tool, Status string
	Args             map[string]any
}
