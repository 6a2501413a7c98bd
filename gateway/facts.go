package gateway

import "time"

// Facts are what rules know of a run besides its calls (spec/config.md section 5.2: run, input, principal, client, now). They are
// the same on every replay. Its zero value is a run of which nothing is known.
type Facts struct {
	RunID, Pattern string
	Kind           Kind
	Input          map[string]any // the pattern's own input fields
	Principal      Principal
	Client         Client
	Now            time.Time // of the run's newest recorded outcome
	Steps          int       // calls begun
	Plan           []PlannedCall
	Spent          map[string]float64 // by the budget's name, of every limit in force; names that end in _seconds or _usd are fractions
	Remaining      map[string]float64 // without what has no limit
}

// Principal is whose run it is.
type Principal struct {
	ID   string // local:1000, token:ci
	Kind string // local, token
	Name string // 1000, ci
}

// Client is the program that asked, as it says itself: good for nothing but to be stricter.
type Client struct{ Name, Version string }

// PlannedCall is one step of a run's plan.
type PlannedCall struct {
	ID, Tool, Status string
	Args             map[string]any
}
