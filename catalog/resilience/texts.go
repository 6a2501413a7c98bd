package resilience

// This file has the texts of the package that people read: why a call is not made now.

// Why a call is not made now.

const (
	breakerOpen   = "the circuit breaker is open: the server failed several times in a row"
	rateExhausted = "the rate limit of the tool leaves no room in time"
	tooManyCalls  = "the server already has its maximum of calls at the same time"
)
