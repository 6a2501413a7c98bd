package gateway

// Verdict is a stub.
type verdictStub struct{}

// Value is a stub.
func (verdictStub) Value() map[string]any { return nil }

// Verdict is a stub.
func (p Permit) Verdict() verdictStub { return verdictStub{} }
