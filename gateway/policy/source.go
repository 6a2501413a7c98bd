package policy

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
)

// Source is a policy as it is written (spec/config.md section 5), decoded and not judged yet: who read it has refused unknown
// keys, values of a wrong JSON type, and numbers and names out of their bounds.
//
// Faults name a place in it by [Fault.Member]: params.run_cap_cents, vars.spent, windows.today.timezone, rules[2].when,
// rules[2].block.reason, rules[2].revise.amount_cents, rules[2].match[0], tests[0].call.args. Of a place that is an unknown or
// repeated name, [expr.Fault.Key] says that the name is meant and not what stands there.
type Source struct {
	Name, Description string
	Params            []Param
	Vars              []Named // in the order of the file: one may read those above it
	Windows           []WindowSource
	Rules             []RuleSource
	Tests             []Row
}

// Param is one value that a pattern may lay another over.
type Param struct {
	Name string
	// Value is a decoded number, text or bool, or a list of these of one type.
	Value any
	// Fraction says that a number was written with a fraction or exponent, so that it is double and not int. Names that end in
	// _usd or _seconds are double in any case.
	Fraction bool
}

// WindowSource is a span of earlier runs: of Seconds, or of the calendar.
type WindowSource struct {
	Name     string
	Tools    []string
	Seconds  float64 // 60 to 2678400; 0: Calendar says it
	Calendar string  // day, week, month; a week begins on Monday
	Timezone string  // an IANA name; "": UTC
	// Principal narrows it to runs of the same principal: scope principal.
	Principal bool
}

// RuleSource is one rule. Exactly one of Block, Revise, Escalate and Approve is to be set; more or none is a fault.
type RuleSource struct {
	ID    string
	Match []string // catalog tools, patterns used as worker or route, or final; nil: every tool, not final
	When  string   // CEL; "": true
	Say   string   // for people

	Block    *BlockSource
	Revise   []ReviseSource // nil: it does not revise
	Escalate *EscalateSource
	Approve  bool
}

// BlockSource refuses a call.
type BlockSource struct {
	Reason    string // "": the rule's id
	Retryable bool
	Need      []string // tools to call first, or arguments to give
}

// ReviseSource sets one argument: by an expression, or to a number or bool.
type ReviseSource struct {
	Argument string
	Text     string // CEL; "": Value
	Value    any
}

// EscalateSource asks for a person.
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
	Pattern string // whose params and input are taken; "": the policy's own params
	Params  map[string]any
	Input   map[string]any
	// Principal, Client and Now are as in 5.2; zero: a local one, none, and a fixed time.
	Principal gateway.Principal
	Client    gateway.Client
	Now       time.Time
	Approved  bool // a person approved the arguments as revised

	Want       gateway.Decision // gateway.Revise: approved after changes
	WantReason string
	WantRule   string
	WantArgs   map[string]any // after revisions; only members that are named are compared
	WantNeed   []string       // nil: not compared
}

// RowCall is the call that a test judges; of the tool final Args is {answer}.
type RowCall struct {
	Tool string
	Args map[string]any
}

// RowEffect is a call before it.
type RowEffect struct {
	Tool   string
	Status gateway.EffectStatus // "": done
	// OK says whether the observation carries no error; nil: as the status and the result say.
	OK         *bool
	Args       map[string]any
	Result     map[string]any
	SecondsAgo float64
	OtherRun   bool // of an earlier run: seen by windows only
}

// Reach is what a policy judges: the tools that exist, and the patterns and tools that name the policy. Faults are found for
// every tool that a rule matches and every pattern of the policy.
type Reach struct {
	Catalog *catalog.Catalog
	// Unknown are tools that are declared and whose schemas are not known yet (held): their arguments are dyn.
	Unknown  []string
	Patterns []Reached
	// Alone are the tools whose own policy it is: it judges them in every pattern, by its own params.
	Alone []string
}

// Reached is one pattern that is judged by the policy.
type Reached struct {
	Name   string
	Kind   gateway.Kind
	Tools  []string        // its execution allowlist
	Params map[string]any  // laid over the policy's; judged here: an unknown name or another type is a fault with Member params.NAME and Pattern set
	Input  *catalog.Schema // of its own input fields; nil: none
}
