package gateway

import (
	"cmp"
	"maps"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Family says which stop reasons a gate uses: those of a tool, a worker, a route or an executor. The zero Family uses
// those of a tool.
type Family string

// The families of stop reasons at a call.
const (
	ToolFamily     Family = "tool"
	WorkerFamily   Family = "worker"
	RouteFamily    Family = "route"
	ExecutorFamily Family = "executor" // of the subtasks of a plan
)

// Reason returns a stop reason about one named tool, such as tool_denied:pay. It cuts the name to the length that a
// reason may hold.
func (f Family) Reason(what, tool string) string {
	f = cmp.Or(f, ToolFamily)
	return string(f) + "_" + what + ":" + ijson.Cut(tool, document.MaxNamed)
}

// Stop says why a call was not admitted. The zero Stop has no meaning: functions return nil if there is no reason to
// stop.
type Stop struct {
	Reason   string             // the stop reason
	Problems []document.Problem // what would have been valid
	Need     []string           // tools that must come first
	// Ruled is the policy's judgment if the policy refused the call. It is zero if allowlists, catalog or budgets
	// refused it. Block is the whole ruling if the policy blocked the call; else nil.
	Ruled Judgment
	Block *Ruling
	// Asks is the ruling if the policy asks for a person; else nil. [Gate.ReviewApproved] reviews what the person
	// approves, and [Gate.Approved] admits it.
	Asks *Ruling
}

func (s *Stop) Error() string { return s.Reason }

// Config configures a gate. Its zero value admits nothing.
type Config struct {
	Family    Family
	Catalog   *catalog.Catalog
	Execution []string // the execution allowlist
	Budget    Budget
	// Calls limit how many calls may be proposed, including refused ones.
	Calls []CallBudget
	// SplitLoops selects the reason loop_detected:signature_repeat for a repeated call. All kinds but task
	// decomposition set it; without it, the reason is loop_detected.
	SplitLoops bool
	// Reviewer judges every call by policy; nil means that the allowlists alone decide.
	Reviewer Reviewer
	// Facts returns what rules know about the run at this moment; nil: nothing is known. It must only read.
	Facts func() Facts
}

// CallBudget bounds the calls of a run and names the stop reason for one too many.
type CallBudget struct {
	Limit  Limit
	Reason string
}

// Gate admits the calls of one run. It holds the run's counters and its ledger as values, so a replay rebuilds them.
// Only one goroutine at a time may use it.
type Gate struct {
	config  Config
	asked   int
	again   int // further attempts at calls that were admitted
	perTool map[string]int
	same    map[signature]int
	earlier []Entry // of other runs; rules see them
	ledger  []Entry
	noted   int        // how often the ledger changed
	under   []underway // calls without an outcome yet
	policy  string     // the reviewer's hash
	facts   Facts      // of the last review
}

// signature identifies a call: two calls with the same signature are the same call.
type signature struct{ tool, hash string }

// NewGate returns a gate for one run.
func NewGate(c Config) *Gate {
	return &Gate{config: c, perTool: map[string]int{}, same: map[signature]int{}, policy: PolicyHash(c.Reviewer)}
}

// Asked returns how many calls count against the budget of calls. It counts all proposed calls, including refused ones,
// but not the calls that this budget refused.
func (g *Gate) Asked() int { return g.asked }

// Proposal is a call that a model or a caller proposes.
type Proposal struct {
	Tool    string
	Args    map[string]any // as proposed; hashed with the tool's defaults; sent with Inject and the configured arguments too
	Inject  map[string]any // arguments that the pattern sets, for any proposal
	At      ijson.Pointer  // place of Args in the intent, for problems
	ToolAt  ijson.Pointer  // place of the tool's name there
	Attempt int            // from 1
	// Again says that this is one more attempt at an admitted call. It is the same call and no repetition.
	Again bool
	// Of is the key of that call if it may have acted; "" for none. Rules see both attempts as one call.
	Of string
	// Weigh and Unordered are as in [Case].
	Weigh     Weigh
	Unordered bool
	// Slot is the place where this call is reserved; "" for none. Rules do not see that reservation. See
	// [Gate.ReserveIn].
	Slot string
}

// Case returns the proposal as rules review it.
func (p Proposal) Case() Case {
	return Case{Tool: p.Tool, Args: p.Args, Inject: p.Inject, Of: p.Of, Weigh: p.Weigh, Unordered: p.Unordered, Slot: p.Slot}
}

// Admit checks a call against budget, allowlist, catalog, loop limits, argument types and policy, in this order. It
// returns the permit, with the arguments as the policy left them. A refused call counts against the budget too.
func (g *Gate) Admit(p Proposal) (Permit, *Stop) {
	p = g.filled(p)
	call, stop := g.check(p)
	if stop != nil {
		return Permit{}, stop
	}
	if g.config.Reviewer == nil {
		call.verdict = Judgment{Decision: Approve, Reason: Allowlisted}
		return Permit{call}, nil
	}
	ruling := g.Review(p.Case())
	var asked map[string]any
	if ruling.Decision == Approve && len(ruling.Revisions) > 0 { // the call is sent with the arguments as the policy changed them
		asked, p.Args = owned(p.Args), ruling.Args
		if call, stop = g.changed(p, call.hash); stop != nil {
			return Permit{}, stop
		}
	}
	call.verdict = ruling.Judgment()
	call.verdict.Proposed = asked
	if !ruling.covers(g, p) {
		stop := &Stop{Reason: "policy_block:" + call.verdict.Reason, Need: ruling.Need, Ruled: call.verdict}
		switch ruling.Decision {
		case Escalate:
			stop.Asks = &ruling
		case Block:
			stop.Block = &ruling
		}
		return Permit{}, stop
	}
	call.weighing = ruling.weighing
	return Permit{call}, nil
}

// Rejudge reviews an admitted call again that was not made, because its review did not hold any more. The call is not
// counted again. If a person approved it, their approval still counts, and sure is its assurance. The approval does not
// count if the policy now changes the call or needs a higher assurance.
func (g *Gate) Rejudge(p Proposal, was Permit, sure Assurance) (Permit, *Stop) {
	if !was.Valid() {
		return Permit{}, &Stop{Reason: "policy_block:" + NoRuleMatched, Ruled: Judgment{Reason: NoRuleMatched}}
	}
	p.Args = was.Proposed()
	review := g.Review
	if was.judged.person {
		review = func(c Case) Ruling { return g.ReviewApproved(c, was.judged.approval) }
	}
	ruling := review(p.Case())
	if ruling.Decision == Approve {
		p.Args = ruling.Args
		if was.judged.person && (len(ruling.Revisions) > 0 || !sure.AtLeast(ruling.Least)) { // the person did not approve this
			ruling.Decision = Escalate
		}
	}
	permit, stop := g.Approved(p, ruling)
	if stop == nil && was.judged.share != "" {
		permit.judged.share = was.judged.share
	}
	return permit, stop
}

// Approved admits a call that a person decided about, with the arguments that the person left. The call was checked and
// counted before, so Approved checks only what may have changed. The ruling must come from this gate's
// [Gate.ReviewApproved] and approve exactly these arguments.
func (g *Gate) Approved(p Proposal, ruling Ruling) (Permit, *Stop) {
	p = g.filled(p)
	call, stop := g.typed(p)
	if stop != nil {
		return Permit{}, stop
	}
	call.verdict, call.approval, call.person, call.weighing = ruling.Judgment(), ruling.approval, ruling.person, ruling.weighing
	if ruling.Decision == Approve && ruling.covers(g, p) {
		return Permit{call}, nil
	}
	stop = &Stop{Reason: "policy_block:" + cmp.Or(ruling.Reason, NoRuleMatched), Need: ruling.Need, Ruled: call.verdict, Block: &ruling}
	if ruling.Decision == Escalate {
		stop.Asks, stop.Block = &ruling, nil
	}
	return Permit{}, stop
}

// Share returns the permit as one that spends the share of one step in an approved plan. The argument approval is the
// id of the plan's approval. If it is empty or p is the zero Permit, Share returns p. When the share is spent, other
// code checks that the call is this step and that the share is unspent.
func (g *Gate) Share(p Permit, approval, step string) Permit {
	if p.judged == nil || approval == "" {
		return p
	}
	call := *p.judged
	call.approval, call.share = approval, step
	return Permit{&call}
}

// AdmitRuled is Admit for a call that was reviewed before. The ruling must come from this gate and approve exactly
// these arguments. The ledger must not have changed since the review.
func (g *Gate) AdmitRuled(p Proposal, ruling Ruling) (Permit, *Stop) {
	p = g.filled(p)
	call, stop := g.check(p)
	if stop != nil {
		return Permit{}, stop
	}
	if !ruling.covers(g, p) {
		return Permit{}, &Stop{Reason: "supervisor_block:" + NoRuleMatched, Ruled: Judgment{Reason: NoRuleMatched}}
	}
	call.verdict, call.approval, call.person, call.weighing = ruling.Judgment(), ruling.approval, ruling.person, ruling.weighing
	return Permit{call}, nil
}

// Question returns what a person is asked about a call: the call as it would be sent. The engine adds run, step and
// expiry. If the catalog does not have the tool, the call is asked about as proposed.
func (g *Gate) Question(p Proposal) Question {
	q := Question{Tool: p.Tool, Policy: g.policy}
	if tool, ok := g.config.Catalog.Tool(p.Tool); ok {
		q.Tool, q.Schema, q.Args = tool.Own(), tool.Asked().Hash(), owned(tool.Whole(p.free(tool)))
	} else {
		q.Args = owned(p.Args)
		maps.Copy(q.Args, p.Inject)
	}
	return q
}

// Proposed returns arguments that a person saw and may have changed, without those that the configuration sets. If the
// person changed one of these, it stays in, and no ruling lets the call through.
func (g *Gate) Proposed(tool string, args map[string]any) map[string]any {
	t, _ := g.config.Catalog.Tool(tool) // for an unknown tool, nothing is set
	rest, _ := t.Proposed(args)
	return rest
}

// filled returns the proposal with the defaults of its tool. These arguments are judged, hashed and sent.
func (g *Gate) filled(p Proposal) Proposal {
	if tool, ok := g.config.Catalog.Tool(p.Tool); ok {
		p.Args = tool.Filled(p.Args)
	}
	return p
}

// free returns the call's arguments before the configuration sets any: the proposed ones, defaults, and those that the
// pattern sets. If the pattern and the configuration set the same argument, the configuration's value counts.
func (p Proposal) free(tool catalog.Tool) map[string]any {
	args := tool.Filled(p.Args)
	if len(p.Inject) == 0 {
		return args
	}
	out := make(map[string]any, len(args)+len(p.Inject))
	maps.Copy(out, args)
	for _, name := range sortedKeys(p.Inject) {
		if _, fixed := tool.Fixed[name]; !fixed {
			out[name] = p.Inject[name]
		}
	}
	return out
}

// check checks all but the policy. Its result is therefore not a permit yet.
func (g *Gate) check(p Proposal) (*judged, *Stop) {
	for _, b := range g.config.Calls {
		if !b.Limit.Allows(g.asked + g.further(b) + 1) {
			return nil, &Stop{Reason: b.Reason}
		}
	}
	g.asked++
	if !slices.Contains(g.config.Execution, p.Tool) {
		return nil, g.refuse("denied", p)
	}
	if _, ok := g.config.Catalog.Tool(p.Tool); !ok {
		return nil, g.refuse("missing", p)
	}
	if stop := g.loop(p); stop != nil {
		return nil, stop
	}
	return g.typed(p)
}

// changed checks a call whose arguments the policy changed. If they differ from the proposed ones, it also counts the
// call against the limit on repeated calls.
func (g *Gate) changed(p Proposal, proposed string) (*judged, *Stop) {
	call, stop := g.typed(p)
	if stop == nil && call.hash != proposed {
		stop = g.repeats(p)
	}
	return call, stop
}

// typed checks a call's arguments and copies them.
func (g *Gate) typed(p Proposal) (*judged, *Stop) {
	tool, ok := g.config.Catalog.Tool(p.Tool)
	if !ok {
		return nil, g.refuse("missing", p)
	}
	free, family := p.free(tool), g.config.Family
	if wrong := tool.Check(free); len(wrong) > 0 {
		problems := document.ArgumentProblems(family.Reason("bad_args", tool.Name), tool, p.Args, p.At, wrong)
		return nil, &Stop{Reason: family.Reason("bad_args", p.Tool), Problems: problems}
	}
	if wrong, ok := goalProblem(family, tool, p, free); !ok {
		return nil, &Stop{Reason: wrong.Reason, Problems: []document.Problem{wrong}}
	}
	call := &judged{tool: tool, args: owned(tool.Whole(free)), hash: ijson.ArgsHash(p.Args), attempt: p.Attempt}
	if len(tool.Fixed) > 0 || len(p.Inject) > 0 {
		call.proposed = owned(p.Args)
	}
	if got, ok := call.key(); !ok {
		reason := family.Reason("bad_args", p.Tool)
		return nil, &Stop{Reason: reason, Problems: []document.Problem{document.NewProblem(reason, p.At, got, businessKeyArguments)}}
	}
	return call, nil
}

// refuse returns a stop with the tools that could have been called instead.
func (g *Gate) refuse(what string, p Proposal) *Stop {
	var callable []string
	for _, n := range g.config.Execution {
		if _, ok := g.config.Catalog.Tool(n); ok {
			callable = append(callable, n)
		}
	}
	reason := g.config.Family.Reason(what, p.Tool)
	return &Stop{Reason: reason, Problems: []document.Problem{document.NewProblem(reason, p.ToolAt, p.Tool, document.OneOf(callable))}}
}

// loop counts the call against the limits on repetition. It does not count a call that it refuses.
func (g *Gate) loop(p Proposal) *Stop {
	own := g.own(p.Tool)
	if !g.limits(p.Tool).MaxCalls.Allows(g.perTool[own] + 1) {
		return g.loops("per_tool_limit")
	}
	if stop := g.repeats(p); stop != nil {
		return stop
	}
	g.perTool[own]++
	return nil
}

// own returns the name that a tool is counted by. A tool with two names is one tool.
func (g *Gate) own(name string) string {
	if t, known := g.config.Catalog.Tool(name); known {
		return t.Own()
	}
	return name
}

// repeats counts the call against the limit on repeated calls.
func (g *Gate) repeats(p Proposal) *Stop {
	call := signature{g.own(p.Tool), ijson.ArgsHash(p.Args)}
	switch {
	case p.Again:
		return nil
	case !g.limits(p.Tool).MaxSameCall.Allows(g.same[call] + 1):
		return g.loops(repeatedCall)
	}
	g.same[call]++
	return nil
}

// repeatedCall is the end of the stop reason for a repeated call.
const repeatedCall = "signature_repeat"

func (g *Gate) loops(how string) *Stop {
	if !g.config.SplitLoops && how == repeatedCall {
		return &Stop{Reason: "loop_detected"}
	}
	return &Stop{Reason: "loop_detected:" + how}
}
