package policy

import (
	"errors"

	"patterngate/gateway"
)

// Policy is a set of compiled rules, fixed and safe for concurrent use. It judges nothing by itself: [Policy.For] does.
type Policy struct{}

// New compiles a policy for what it reaches. It is nil where a fault is more than a warning. The tests of the source are not run:
// see [Policy.Test].
func New(source Source, reach Reach) (*Policy, []Fault) {
	return nil, []Fault{{Reason: "not built yet"}}
}

// For is the policy as it judges one pattern, with the pattern's params laid over its own; "" are the policy's own params.
func (p *Policy) For(pattern string) *Judge { return nil }

// Test runs one row; the verdict is that of the whole review. See [Result].
func (p *Policy) Test(row Row) Result { return Result{Err: errors.New("not built yet")} }

// Result is what became of a test.
type Result struct {
	Row    Row
	Got    gateway.Ruling
	Err    error  // the row could not be run
	Passed bool   // all that the row wants
	Differ string // the first difference, as a fault says it: "want escalate, got block run_cap (vars.spent 49000, params.run_cap_cents 50000)"; ""
}

// Judge is a policy with its params: the reviewer of one pattern's calls.
type Judge struct{}

var (
	_ gateway.Foreteller = (*Judge)(nil)
	_ gateway.Hashed     = (*Judge)(nil)
	_ gateway.Windowed   = (*Judge)(nil)
)

// Review implements [gateway.Reviewer]: one pass.
func (j *Judge) Review(c gateway.Case) gateway.Verdict { return gateway.Verdict{} }

// Asks implements [gateway.Foreteller].
func (j *Judge) Asks(tool string) gateway.Asks { return gateway.AsksMaybe }

// Hash implements [gateway.Hashed]: over rules, vars, windows and the params in force.
func (j *Judge) Hash() string { return "" }

// Windows implements [gateway.Windowed].
func (j *Judge) Windows(tool string) []gateway.Window { return nil }

// Reasons lists the reasons by which the policy may block a call or the closing answer, for the registry of stop reasons.
func (p *Policy) Reasons() []string { return nil }

// Value is the policy in force as a decoded value: rules, vars, windows and params. Its canonical form is what is hashed, and
// what a configuration's snapshot shows.
func (j *Judge) Value() map[string]any { return nil }
