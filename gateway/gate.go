package gateway

import (
	"patterngate/catalog"
	"patterngate/ijson"
)

// Family says by which words a gate refuses: a tool's, a worker's or a route's.
type Family string

// The families of stop reasons at a call.
const (
	ToolFamily   Family = "tool"
	WorkerFamily Family = "worker"
	RouteFamily  Family = "route"
)

// Reason is a stop reason about one named tool: tool_denied:pay. The name is cut at what a reason may hold.
func (f Family) Reason(what, tool string) string {
	return string(f) + "_" + what + ":" + ijson.Cut(tool, maxNamed)
}

// Stop is why a call was not admitted. The zero Stop has no meaning; functions return nil for "go on".
type Stop struct {
	Reason   string    // the stop reason
	Problems []Problem // what would have been right
	Need     []string  // tools that must come first
}

func (s *Stop) Error() string { return s.Reason }

// Config is what a gate judges by. Its zero value admits nothing.
type Config struct {
	Family    Family
	Catalog   *catalog.Catalog
	Execution []string // the execution allowlist
	Budget    Budget
	// Calls bound how often Admit may be asked, refused calls included.
	Calls []CallBudget
	// SplitLoops tells loop_detected:per_tool_limit from loop_detected:signature_repeat, as the supervisor does.
	SplitLoops bool
	// Reviewer judges every call by policy; nil means that the allowlists alone decide.
	Reviewer Reviewer
}

// CallBudget bounds the calls of a run and names the stop reason for one too many.
type CallBudget struct {
	Limit  Limit
	Reason string
}

// Gate admits the calls of one run. It holds the run's counters and its ledger as values, so a replay rebuilds
// them. It is used by one goroutine at a time.
type Gate struct {
	Config
	asked   int
	perTool map[string]int
	same    map[string]int
	ledger  []Entry
}

// NewGate returns a gate for one run.
func NewGate(c Config) *Gate {
	return &Gate{Config: c, perTool: map[string]int{}, same: map[string]int{}}
}

// Asked is how often Admit was asked.
func (g *Gate) Asked() int { return g.asked }

// Proposal is a call that wants to be made.
type Proposal struct {
	Tool    string
	Args    map[string]any // as proposed; hashed and, with Inject laid over, sent
	Inject  map[string]any // arguments that the pattern sets, whatever was proposed
	At      ijson.Pointer  // where Args stand in the intent, for problems
	Attempt int            // from 1
}

// Admit judges a call by budget, allowlist, catalog, loops, argument types and policy, in this order, and returns
// the proof that it may be made. A refused call counts against the budget too.
func (g *Gate) Admit(p Proposal) (Permit, *Stop) {
	permit, stop := g.check(p)
	if stop != nil {
		return Permit{}, stop
	}
	ruling := g.Review(Case{Tool: p.Tool, Args: p.Args})
	if ruling.Decision != Approve || !ijson.Equal(ruling.Args, p.Args) {
		return Permit{}, &Stop{Reason: "policy_block:" + ruling.Reason, Need: ruling.Need}
	}
	permit.given = true
	return permit, nil
}

// AdmitRuled is Admit for a call that was reviewed before: the ruling must approve exactly these arguments.
func (g *Gate) AdmitRuled(p Proposal, ruling Ruling) (Permit, *Stop) {
	permit, stop := g.check(p)
	if stop != nil {
		return Permit{}, stop
	}
	if ruling.Decision != Approve || ruling.tool != p.Tool || !ijson.Equal(ruling.Args, p.Args) {
		return Permit{}, &Stop{Reason: "supervisor_block:" + NoRuleMatched}
	}
	permit.given = true
	return permit, nil
}

// check judges all but policy; the permit it returns is not given yet.
func (g *Gate) check(p Proposal) (Permit, *Stop) {
	g.asked++
	for _, b := range g.Calls {
		if !b.Limit.Allows(g.asked) {
			return Permit{}, &Stop{Reason: b.Reason}
		}
	}
	if !contains(g.Execution, p.Tool) {
		return Permit{}, g.refuse("denied", p.Tool, oneOf(g.Execution))
	}
	tool, ok := g.Catalog.Tool(p.Tool)
	if !ok {
		return Permit{}, g.refuse("missing", p.Tool, oneOf(g.Catalog.Names()))
	}
	hash := ijson.ArgsHash(p.Args)
	if stop := g.loop(p.Tool, hash); stop != nil {
		return Permit{}, stop
	}
	args := p.Args
	if len(p.Inject) > 0 {
		args = overlay(p.Args, p.Inject)
	}
	if wrong := tool.Input.Check(args); len(wrong) > 0 {
		return Permit{}, &Stop{Reason: g.Family.Reason("bad_args", p.Tool), Problems: argProblems(g.Family, tool, p, wrong)}
	}
	return Permit{tool: tool, args: args, hash: hash, attempt: p.Attempt}, nil
}

func (g *Gate) refuse(what, tool, want string) *Stop {
	reason := g.Family.Reason(what, tool)
	return &Stop{Reason: reason, Problems: []Problem{{Reason: reason, Got: Got(tool), Want: ijson.Cut(want, maxWant)}}}
}

// loop counts the call against the limits on repetition. A refused one is not counted.
func (g *Gate) loop(tool, hash string) *Stop {
	limit, signature := g.Budget.calls(tool), tool+":"+hash
	perTool, repeat := "loop_detected", "loop_detected"
	if g.SplitLoops {
		perTool, repeat = "loop_detected:per_tool_limit", "loop_detected:signature_repeat"
	}
	if !limit.MaxCalls.Allows(g.perTool[tool] + 1) {
		return &Stop{Reason: perTool}
	}
	g.perTool[tool]++
	if !limit.MaxSameCall.Allows(g.same[signature] + 1) {
		return &Stop{Reason: repeat}
	}
	g.same[signature]++
	return nil
}

func overlay(args, over map[string]any) map[string]any {
	out := make(map[string]any, len(args)+len(over))
	for k, v := range args {
		out[k] = v
	}
	for k, v := range over {
		out[k] = v
	}
	return out
}

// argProblems words what a schema does not accept.
func argProblems(family Family, tool catalog.Tool, p Proposal, wrong []catalog.Mismatch) []Problem {
	reason := family.Reason("bad_args", tool.Name)
	var names []string
	types := map[string]string{}
	for _, property := range tool.Input.Properties() {
		names = append(names, property.Name)
		types[property.Name] = property.Type
	}
	list := make([]Problem, 0, len(wrong))
	for _, w := range wrong {
		got, there := w.Pointer.In(p.Args)
		if !there {
			got = Missing
		}
		problem := Problem{Pointer: p.At + w.Pointer, Reason: reason, Got: Got(got), Want: w.Want}
		tokens := w.Pointer.Tokens()
		switch {
		case len(tokens) != 1:
		case w.Kind == catalog.MismatchUnknown:
			problem.DidYouMean = Near(tokens[0], names)
		case w.Kind == catalog.MismatchType && there:
			problem.Fix = Retype(types[tokens[0]], problem.Pointer, got)
		}
		list = append(list, problem)
	}
	return CapProblems(list)
}
