package gateway

import (
	"cmp"
	"maps"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Family says by which words a gate refuses: a tool's, a worker's, a route's or an executor's. The zero Family speaks of tools.
type Family string

// The families of stop reasons at a call.
const (
	ToolFamily     Family = "tool"
	WorkerFamily   Family = "worker"
	RouteFamily    Family = "route"
	ExecutorFamily Family = "executor" // of the subtasks of a plan
)

// Reason is a stop reason about one named tool: tool_denied:pay. The name is cut at what a reason may hold.
func (f Family) Reason(what, tool string) string {
	f = cmp.Or(f, ToolFamily)
	return string(f) + "_" + what + ":" + ijson.Cut(tool, document.MaxNamed)
}

// Stop is why a call was not admitted. The zero Stop has no meaning; functions return nil for "go on".
type Stop struct {
	Reason   string             // the stop reason
	Problems []document.Problem // what would have been right
	Need     []string           // tools that must come first
	// Ruled is what the policy said, where it refused; zero: allowlists, catalog or budgets did. Block is all of it, where it
	// blocked the call; else nil.
	Ruled Judgment
	Block *Ruling
	// Asks is the ruling where the policy asks for a person: what they approve is reviewed by [Gate.ReviewApproved] and
	// admitted by [Gate.Approved]. Nil: nobody is to be asked.
	Asks *Ruling
}

func (s *Stop) Error() string { return s.Reason }

// Config is what a gate judges by. Its zero value admits nothing.
type Config struct {
	Family    Family
	Catalog   *catalog.Catalog
	Execution []string // the execution allowlist
	Budget    Budget
	// Calls bound how many calls may be proposed, refused ones included.
	Calls []CallBudget
	// SplitLoops says loop_detected:signature_repeat of a call that was made before, as all but task decomposition do.
	SplitLoops bool
	// Reviewer judges every call by policy; nil means that the allowlists alone decide.
	Reviewer Reviewer
	// Facts are what rules know of the run as it stands; nil: nothing. It only reads.
	Facts func() Facts
}

// CallBudget bounds the calls of a run and names the stop reason for one too many.
type CallBudget struct {
	Limit  Limit
	Reason string
}

// Gate admits the calls of one run. It holds the run's counters and its ledger as values, so a replay rebuilds
// them. It is used by one goroutine at a time.
type Gate struct {
	config  Config
	asked   int
	again   int // further attempts at calls that were admitted
	perTool map[string]int
	same    map[signature]int
	earlier []Entry // of other runs; rules see them
	ledger  []Entry
	noted   int        // how often the ledger changed
	under   []underway // calls that are under way
	policy  string     // the reviewer's hash
	facts   Facts      // of the newest review
}

// signature is what makes two calls the same.
type signature struct{ tool, hash string }

// NewGate returns a gate for one run.
func NewGate(c Config) *Gate {
	return &Gate{config: c, perTool: map[string]int{}, same: map[signature]int{}, policy: PolicyHash(c.Reviewer)}
}

// Asked is how many calls count against the budget of calls: those that were proposed, the refused ones included, less
// the ones that this budget refused.
func (g *Gate) Asked() int { return g.asked }

// Proposal is a call that wants to be made.
type Proposal struct {
	Tool    string
	Args    map[string]any // as proposed; with the tool's defaults hashed and, with Inject and what is fixed laid over, sent
	Inject  map[string]any // arguments that the pattern sets, whatever was proposed
	At      ijson.Pointer  // where Args stand in the intent, for problems
	ToolAt  ijson.Pointer  // where the tool is named there
	Attempt int            // from 1
	// Again says that it is one more attempt at a call that was admitted: the same act, no repetition.
	Again bool
	// Of is the key of that call where it may have acted: rules see one act, not two. "" for none.
	Of string
	// Weigh and Unordered are as in [Case].
	Weigh     Weigh
	Unordered bool
	// Slot is where the call itself is reserved, see [Gate.ReserveIn]: rules do not see that. "" for none.
	Slot string
}

// Case is the proposal as rules judge it.
func (p Proposal) Case() Case {
	return Case{Tool: p.Tool, Args: p.Args, Inject: p.Inject, Of: p.Of, Weigh: p.Weigh, Unordered: p.Unordered, Slot: p.Slot}
}

// Admit judges a call by budget, allowlist, catalog, loops, argument types and policy, in this order, and returns
// the proof that it may be made, with the arguments that the policy left. A refused call counts against the budget too.
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
	if ruling.Decision == Approve && len(ruling.Revisions) > 0 { // what the policy changed is what is sent
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

// Rejudge reviews a call anew that was admitted, and not made because what it was let through by came not to hold. It was counted
// then. Who approved it, as sure as it is that they did, has approved it still.
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
		if was.judged.person && (len(ruling.Revisions) > 0 || !sure.AtLeast(ruling.Least)) { // it is not what they approved
			ruling.Decision = Escalate
		}
	}
	permit, stop := g.Approved(p, ruling)
	if stop == nil && was.judged.share != "" {
		permit.judged.share = was.judged.share
	}
	return permit, stop
}

// Approved admits a call that the policy put to a person, as they left it: it was checked before and counted as one call,
// so that only what may differ is checked again. The ruling must be this gate's own, of [Gate.ReviewApproved], and approve
// exactly these arguments.
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

// Share returns the permit as one that spends its step's share of a plan that a person approved; approval is the id of that
// approval. A permit of nothing stays as it is, and so does any where approval is empty. Whether the call is that step, and whether
// the share is not spent, is checked where it is spent.
func (g *Gate) Share(p Permit, approval, step string) Permit {
	if p.judged == nil || approval == "" {
		return p
	}
	call := *p.judged
	call.approval, call.share = approval, step
	return Permit{&call}
}

// AdmitRuled is Admit for a call that was reviewed before: the ruling must be this gate's own, approve exactly these
// arguments, and be newer than all that was done.
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

// Question is what a person is asked about a call: as it would be sent, but for what the engine adds (run, step, expiry).
// What the catalog does not have is asked about as it was proposed.
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

// Proposed are arguments as a person was shown and perhaps changed them, less those that the configuration sets. One of these
// that they changed stays, and no ruling lets that through.
func (g *Gate) Proposed(tool string, args map[string]any) map[string]any {
	t, _ := g.config.Catalog.Tool(tool) // without one nothing is set
	rest, _ := t.Proposed(args)
	return rest
}

// filled is a proposal with the defaults of its tool: what is judged, hashed and sent.
func (g *Gate) filled(p Proposal) Proposal {
	if tool, ok := g.config.Catalog.Tool(p.Tool); ok {
		p.Args = tool.Filled(p.Args)
	}
	return p
}

// free are the arguments that the configuration does not set: defaults put in, what the pattern sets laid over. What both the
// pattern and the configuration set, the configuration does.
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

// check judges all but policy, so that what it returns is no permit yet.
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

// changed checks a call whose arguments the policy changed. Another that was sent with these is the same call.
func (g *Gate) changed(p Proposal, proposed string) (*judged, *Stop) {
	call, stop := g.typed(p)
	if stop == nil && call.hash != proposed {
		stop = g.repeats(p)
	}
	return call, stop
}

// typed checks a call's arguments and takes them over.
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
		return nil, &Stop{Reason: reason, Problems: []document.Problem{document.NewProblem(reason, p.At, got, onceWanted)}}
	}
	return call, nil
}

// refuse names what could have been called instead.
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

// loop counts the call against the limits on repetition. A refused one is not counted.
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

// own is what a tool is counted by: under two names it is one tool.
func (g *Gate) own(name string) string {
	if t, known := g.config.Catalog.Tool(name); known {
		return t.Own()
	}
	return name
}

// repeats counts the call against the limit of the same calls.
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

// repeatedCall ends the reason of a call that was made before.
const repeatedCall = "signature_repeat"

func (g *Gate) loops(how string) *Stop {
	if !g.config.SplitLoops && how == repeatedCall {
		return &Stop{Reason: "loop_detected"}
	}
	return &Stop{Reason: "loop_detected:" + how}
}
