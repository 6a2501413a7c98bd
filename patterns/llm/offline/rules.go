package offline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline/english"
)

// Rules plan without a language model, on any catalog: they read the goal's words and values and the tools' names,
// descriptions and schemas. The same question has the same answer, always; nothing is learnt and nothing is sent.
//
//	goal ──▶ clauses, words, values ──▶ tools by the words they share ──▶ arguments by name, form and unit ──▶ JSON
//	                                          │                                │
//	                             goal_unclear, route_unclear          goal_incomplete:TOOL.ARGUMENT
//
// Rules never invent a required argument and never choose a route without a reason: they answer with a
// [patterns.ModelFault] that says what to ask the person. Texts in results of tools are never read for what to do, only
// for values of the argument's own name. If several values are possible, rules do not propose a call that changes
// something. They also do not propose a call that the goal does not ask for in its own words, or that it forbids, asks about
// or only reports. They notify a person of a change only if the goal asks for that.
//
// The zero Rules are ready to use, and safe for concurrent use. They must not be copied.
type Rules struct {
	// WriteTools lets the rules propose every tool that writes or destroys. By default they propose such a tool only
	// if it is simulated (catalog.Tool.Simulated): that words overlap is little reason to change something real. It is
	// set where a configuration names the rules itself (llm: {provider: rules}), and before the first use; a question may
	// let them do so too.
	WriteTools bool

	shelf shelf
}

// New returns rules that propose simulated tools and tools that only read.
func New() *Rules { return &Rules{} }

var _ patterns.Model = (*Rules)(nil)

// Name is "rules".
func (r *Rules) Name() string { return "rules" }

// Ask answers from the question alone. Its faults are goal_incomplete, goal_unclear and route_unclear, and ctx's error
// if ctx has ended. It costs no request and no token.
func (r *Rules) Ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	if err := ctx.Err(); err != nil {
		return patterns.Answer{}, err
	}
	var text string
	var err error
	switch q.Ask {
	case patterns.AskPlan:
		text, err = r.read(q).plan()
	case patterns.AskTasks:
		text, err = r.read(q).tasks()
	case patterns.AskRoute:
		text, err = r.read(q).route()
	case patterns.AskAction:
		if text, err = r.read(q).action(); err == nil && q.Answer != nil && strings.HasPrefix(text, `{"answer":`) {
			err = wantsJSON()
		}
	case patterns.AskAnswer:
		if text = composeAnswer(q.Payload); q.Answer != nil {
			err = wantsJSON()
		}
	case patterns.AskSubtasks:
		text, err = r.readPlanned(q).subtasks()
	case patterns.AskReplan:
		err = mend()
	default: // work among them: only a language model has the model executor
		err = fmt.Errorf("rules: question %q; plan, tasks, route, action, subtasks or answer", q.Ask)
	}
	if err != nil {
		return patterns.Answer{}, err
	}
	return patterns.Answer{Text: text}, nil
}

// reading is one question as read.
type reading struct {
	rules    *Rules
	mayWrite bool // real tools that write may be proposed
	payload  map[string]any
	goal     *english.Goal
	tools    []*studied
	hidden   []string
	least    int                // steps of a plan
	rarity   map[string]float64 // of words among the tools
	follow   follow
	first    []filled // what each tool's arguments would be, wherever in the goal it is spoken of
	asked    [][]int  // for each tool that changes something: the words of the goal that ask for it
	withheld []int    // what the goal wants done and forbids as well
	open     []bool   // which tools may be picked for this goal
	byShape  map[string][]english.Span
	links    *links   // of a plan of subtasks; nil: one call's result is no other's argument
	context  *reading // what is known besides the goal: values only; nil: nothing
}

func (r *Rules) read(q patterns.Question) *reading {
	text, _ := q.Payload["goal"].(string)
	x := &reading{
		rules: r, mayWrite: r.WriteTools || q.RulesMayWrite, payload: q.Payload, goal: english.Read(text), hidden: q.Hidden, least: cmp.Or(q.Least, minSteps), byShape: map[string][]english.Span{},
		follow: follow{inputs: inputs(q.Payload)},
	}
	for _, t := range q.Tools {
		x.tools = append(x.tools, r.shelf.take(t))
	}
	x.rarity = rarity(x.tools)
	return x
}

// protocol are the payload's members that are no inputs of the run.
var protocol = english.SetOf(`goal max_plan_steps available_tools max_tasks available_workers budgets forbidden_targets state_summary
 recent_history available_routes recent_step_summaries`)

func inputs(payload map[string]any) map[string]any {
	own := map[string]any{}
	for name, v := range payload {
		if !protocol[name] {
			own[name] = v
		}
	}
	if declared, ok := payload["input"].(map[string]any); ok { // of a pattern that a file declares, all in one place
		delete(own, "input")
		maps.Copy(own, declared)
	}
	return own
}

// try fills every tool once, so that matching knows whose arguments the goal holds, and which tools it leaves open.
func (r *reading) try() {
	r.first = make([]filled, len(r.tools))
	r.open = make([]bool, len(r.tools))
	r.asked = make([][]int, len(r.tools))
	for i, t := range r.tools {
		r.first[i] = r.fill(i, nil, r.follow)
		if t.Effect != catalog.Read {
			r.asked[i] = r.requests(i)
		}
		if len(r.asked[i]) > 0 && (r.goal.ReadOnly || r.forbidden(i)) { // a ban in one place counts everywhere
			r.asked[i], r.withheld = nil, append(r.withheld, i)
		}
		r.open[i] = r.may(i) && (t.Effect == catalog.Read || len(r.asked[i]) > 0)
	}
}

// may reports whether tool i may be proposed at all by these rules.
func (r *reading) may(i int) bool {
	t := r.tools[i]
	return t.Effect == catalog.Read || t.Simulated || r.mayWrite
}

// call is one proposed call.
type call struct {
	tool int
	args map[string]any
	pick pick
}

// calls fills the picked tools. It asks for what the goal leaves out: of a tool that it clearly wants, or if it wants
// nothing else. Other tools whose arguments are not known are left out, and the answer also says what the first of them lacks.
func (r *reading) calls(picks []pick) (calls []call, lacking, fault error) {
	slices.SortStableFunc(picks, func(a, b pick) int { return r.order(a.tool, b.tool) })
	for _, p := range picks {
		f := r.fill(p.tool, p.clauses, r.follow)
		if f.complete() {
			calls = append(calls, r.callsOf(p, f)...)
			continue
		}
		missing := r.incomplete(p.tool, f)
		if p.main && p.certain {
			return nil, nil, missing
		}
		lacking = cmp.Or(lacking, error(missing))
	}
	if len(calls) == 0 && lacking != nil {
		return nil, nil, lacking
	}
	return calls, lacking, nil
}

// callsOf is the call of a tool, and further ones where the goal names more values for one argument of a reading tool.
func (r *reading) callsOf(p pick, f filled) []call {
	list := []call{{tool: p.tool, args: f.args, pick: p}}
	for _, v := range valuesOf(f.more) {
		args := make(map[string]any, len(f.args))
		for name, old := range f.args {
			args[name] = old
		}
		args[f.moreOf] = v
		list = append(list, call{tool: p.tool, args: args, pick: p})
	}
	return list[:min(len(list), 4)]
}

// order compares tools: reading comes before writing, writing before destroying, telling people comes last; else the
// catalog's order holds.
func (r *reading) order(a, b int) int {
	return cmp.Or(cmp.Compare(r.turn(a), r.turn(b)), cmp.Compare(a, b))
}

func (r *reading) turn(i int) int {
	switch t := r.tools[i]; {
	case t.Effect == catalog.Read:
		return 0
	case t.tells:
		return 3
	case t.Effect == catalog.Write:
		return 1
	}
	return 2
}

func (r *reading) incomplete(i int, f filled) *patterns.ModelFault {
	t, name := r.tools[i], f.missing[0]
	at := slices.IndexFunc(r.tools[i].arguments, func(a argument) bool { return a.Name == name })
	say := argumentMissing(english.Readable(t.Name), name, strings.TrimRight(r.tools[i].arguments[at].hint(), "."))
	if several := f.several[name]; several != nil {
		say = argumentAmbiguous(english.Readable(t.Name), name, listOf(several.([]any)))
	}
	return &patterns.ModelFault{Reason: "goal_incomplete:" + t.Name + "." + name, Say: clip(say, 400)}
}

// unclear says that no tool's words meet the goal.
func (r *reading) unclear(say string) *patterns.ModelFault {
	return &patterns.ModelFault{Reason: "goal_unclear", Say: say, Candidates: r.candidates(func(i int) bool { return r.may(i) })}
}

const maxCandidates = 5

// candidates are the tools that came nearest, the best first.
func (r *reading) candidates(open func(int) bool) []string {
	scores := r.overlaps()
	var order []int
	for i := range r.tools {
		if open(i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var names []string
	for _, i := range order[:min(len(order), maxCandidates)] {
		names = append(names, r.tools[i].Name)
	}
	return names
}

// overlaps weighs the whole goal against each tool.
func (r *reading) overlaps() []float64 {
	stems := map[string]bool{}
	for _, w := range r.goal.Words {
		if r.counts(w) {
			stems[w.Stem] = true
		}
	}
	scores := make([]float64, len(r.tools))
	for i := range r.tools {
		for _, s := range sortedKeys(stems) {
			scores[i] += r.value(i, s)
		}
	}
	return scores
}

// wantsJSON is the fault of an answer that a pattern wants as JSON of its own schema: rules write prose, which would be refused.
func wantsJSON() *patterns.ModelFault {
	return &patterns.ModelFault{
		Reason: "invalid_answer:non_json",
		Say:    answerNotJSON,
	}
}

func answerJSON(v map[string]any) string { return string(ijson.Canonical(v)) }
