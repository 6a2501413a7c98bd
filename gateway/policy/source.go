package policy

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
)

// Source is a decoded policy before compilation (spec/config.md section 5). Its reader has already refused unknown
// keys, values of a wrong JSON type, and numbers and names outside their limits.
//
// Faults name a place in it by [expr.Fault.Member]: params.run_cap_cents, vars.spent, windows.today.timezone,
// rules[2].when, rules[2].block.reason, rules[2].revise.amount_cents, rules[2].match[0], tests[0].call.args. If the
// place is an unknown or repeated name, [expr.Fault.Key] says that the fault is in the name and not in its value.
type Source struct {
	Name, Description string
	Params            []Param
	Vars              []Named // in the order of the file; a var may read those above it
	Windows           []WindowSource
	Rules             []RuleSource
	Tests             []Row
}

// Param is one value that a pattern may replace with its own.
type Param struct {
	Name string
	// Value is a decoded number, text or bool, or a list of values of one of these types.
	Value any
	// Fraction says that the number has a fraction or exponent in the file, so that it is double and not int. Numbers
	// whose names end in _usd or _seconds are always double.
	Fraction bool
}

// WindowSource is a time span of earlier runs: a number of seconds, or a calendar span.
type WindowSource struct {
	Name     string
	Tools    []string
	Seconds  float64 // 60 to 2678400; 0: Calendar sets the span
	Calendar string  // day, week, month; a week begins on Monday
	Timezone string  // an IANA name; "": UTC
	// Principal limits the window to runs of the same principal (scope: principal).
	Principal bool
}

// RuleSource is one rule. Exactly one of Block, Revise, Escalate and Approve must be set; anything else is a fault.
type RuleSource struct {
	ID    string
	Match []string // catalog tools, patterns used as worker or route, or final; nil: every tool, not final
	When  string   // CEL; "": true
	Say   string   // for people

	Block    *BlockSource
	Revise   []ReviseSource // nil: the rule does not revise
	Escalate *EscalateSource
	Approve  bool
}

// BlockSource blocks a call.
type BlockSource struct {
	Reason    string // "": the rule's id
	Retryable bool
	Need      []string // tools to call first, or arguments to give
}

// ReviseSource sets one argument, by an expression or to a number or bool.
type ReviseSource struct {
	Argument string
	Text     string // CEL; "": Value
	Value    any
}

// EscalateSource asks a person.
type EscalateSource struct {
	Reason  string // "": the rule's id
	Expires time.Duration
	Least   gateway.Assurance
}

// Row is one test of a policy (spec/config.md section 5.3).
type Row struct {
	Name    string
	Call    RowCall
	Effects []RowEffect
	Pattern string // gives params and input; "": the policy's own params
	Params  map[string]any
	Input   map[string]any
	// Principal, Client and Now are as in section 5.2. Their zero values mean a local principal, no client, and a fixed
	// time.
	Principal gateway.Principal
	Client    gateway.Client
	Now       time.Time
	Approved  bool // a person approved the arguments after revisions

	Want       gateway.Decision // gateway.Revise: approved after changes
	WantReason string
	WantRule   string
	WantArgs   map[string]any // after revisions; only the named members are compared
	WantNeed   []string       // nil: not compared
}

// RowCall is the call that a test judges. For the tool final, Args is {answer}.
type RowCall struct {
	Tool string
	Args map[string]any
}

// RowEffect is a call before the judged one.
type RowEffect struct {
	Tool   string
	Status gateway.EffectStatus // "": done
	// OK says whether the observation carries no error; nil: the status and the result decide.
	OK         *bool
	Args       map[string]any
	Result     map[string]any
	SecondsAgo float64
	OtherRun   bool // of an earlier run: only windows see it
}

// Reach is what a policy judges: the tools that exist, and the patterns and tools that name the policy. Compilation
// finds faults for every tool that a rule matches and for every pattern of the policy.
type Reach struct {
	Catalog *catalog.Catalog
	// Unknown are tools that are declared but whose schemas are unknown (held). Their arguments are dyn.
	Unknown  []string
	Patterns []Reached
	// Alone are the tools that name this policy as their own. It judges them in every pattern, with its own params.
	Alone []string
}

// Reached is one pattern that the policy judges.
type Reached struct {
	Name   string
	Kind   gateway.Kind
	Tools  []string        // its execution allowlist
	Params map[string]any  // replace the policy's own; an unknown name or another type is a fault with Member params.NAME and Pattern set
	Input  *catalog.Schema // of its own input fields; nil: none
}
