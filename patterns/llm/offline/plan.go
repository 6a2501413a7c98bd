package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline/english"
)

// minSteps is how many steps a plan has at least where the question does not say (spec/patterns.md section 2).
const minSteps = 3

// plan answers with the calls that the goal asks for, filled up to three with what else is known about the same things.
func (r *reading) plan() (string, error) {
	calls, lacking, err := r.wanted()
	if err != nil {
		return "", err
	}
	limit := r.limit("max_plan_steps", 6)
	if r.wholePicture(calls) {
		calls = r.widen(calls, limit)
	}
	if len(calls) < r.least {
		calls = r.widen(calls, min(r.least, limit))
	}
	if len(calls) < r.least && limit >= r.least {
		if lacking != nil {
			return "", lacking
		}
		return "", r.unclear(r.tooFew(calls))
	}
	return stepsJSON(r.tools, r.within(calls, limit)), nil
}

// wanted are the calls for what the goal's clauses speak of; a fault if that is nothing.
func (r *reading) wanted() (calls []call, lacking, fault error) {
	r.try()
	picks := r.pickTools()
	if len(picks) == 0 {
		if picks, lacking = r.vaguely(); len(picks) == 0 {
			return nil, nil, cmp.Or(lacking, error(r.unclear(r.nothingMeets())))
		}
	}
	return r.calls(picks)
}

// vaguely picks by the whole goal where no clause alone speaks of a tool; lacking is what the tools that would do need.
func (r *reading) vaguely() (picks []pick, lacking error) {
	scores := r.overlaps()
	top := 0.0
	for i := range r.tools {
		if r.open[i] {
			top = max(top, scores[i])
		}
	}
	rivals := 0
	for i := range r.tools {
		switch {
		case top < enough/2 || !r.open[i] || scores[i] < almost*top:
		case r.ready(i):
			picks = append(picks, pick{tool: i, score: scores[i]})
		default:
			rivals++
			lacking = cmp.Or(lacking, error(r.incomplete(i, r.first[i])))
		}
	}
	if rivals > 2 { // none of them is asked for
		lacking = nil
	}
	return picks, lacking
}

func (r *reading) nothingMeets() string {
	for i, t := range r.tools {
		if !r.may(i) && len(r.asked[i]) > 0 {
			return changesSomething(t.Name)
		}
	}
	return nothingFits
}

func (r *reading) tooFew(calls []call) string {
	var names []string
	for _, c := range calls {
		names = append(names, r.tools[c.tool].Name)
	}
	return tooFewCalls(r.least, len(calls), strings.Join(names, ", "))
}

// wholePicture reports whether the goal wants an overview and does not list its parts.
func (r *reading) wholePicture(calls []call) bool {
	if !r.goal.Has(english.Broad) && !r.goal.WantsTotals() {
		return false
	}
	clauses := map[int]bool{}
	for _, c := range calls {
		if c.pick.certain && len(c.pick.clauses) > 0 {
			clauses[c.pick.clauses[0]] = true
		}
	}
	return len(clauses) < 2
}

// widen adds calls that only read, the best first: their arguments are all known, and they share a word or a value with
// the goal.
func (r *reading) widen(calls []call, limit int) []call {
	scores := r.overlaps()
	var more []int
	for i, t := range r.tools {
		used := slices.ContainsFunc(calls, func(c call) bool { return c.tool == i })
		touches := scores[i] > 0 || len(r.first[i].places) > 0
		if t.Effect == catalog.Read && !used && touches && r.first[i].complete() && !r.leftOut(i) {
			more = append(more, i)
		}
	}
	slices.SortStableFunc(more, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(len(r.first[b].places), len(r.first[a].places)))
	})
	for _, i := range more[:min(len(more), max(0, limit-len(calls)))] {
		calls = append(calls, call{tool: i, args: r.first[i].args, pick: pick{tool: i}})
	}
	slices.SortStableFunc(calls, func(a, b call) int { return r.order(a.tool, b.tool) })
	return calls
}

// leftOut reports whether the goal says to leave tool i out.
func (r *reading) leftOut(i int) bool {
	return slices.ContainsFunc(r.goal.Words, func(w english.Word) bool {
		return w.Barred && !w.Dull && r.tools[i].weights[w.Stem] >= inDescription
	})
}

// within keeps at most limit calls: those that change something, then those that the goal speaks of most.
func (r *reading) within(calls []call, limit int) []call {
	for len(calls) > max(0, limit) {
		worst := 0
		for i, c := range calls {
			if r.keep(c) <= r.keep(calls[worst]) {
				worst = i
			}
		}
		calls = slices.Delete(calls, worst, worst+1)
	}
	return calls
}

// keep ranks calls by how much the goal wants them.
func (r *reading) keep(c call) float64 {
	if r.tools[c.tool].Effect != catalog.Read {
		return 1e6
	}
	return c.pick.score
}

// limit reads a bound from the payload.
func (r *reading) limit(name string, otherwise int) int {
	if n, ok := ijson.Integer(r.payload[name]); ok {
		return int(n)
	}
	return otherwise
}

func stepsJSON(tools []*studied, calls []call) string {
	steps := make([]any, len(calls))
	for i, c := range calls {
		t := tools[c.tool]
		title := t.Title
		if title == "" {
			title = english.Readable(t.Name)
		}
		steps[i] = map[string]any{"id": fmt.Sprintf("step_%d", i+1), "title": title, "tool": t.Name, "args": c.args}
	}
	return answerJSON(map[string]any{"kind": "plan", "steps": steps})
}

// tasks answers with one task for each worker that the goal speaks of, all that touch it where it wants the whole picture.
// What the goal names itself is critical.
func (r *reading) tasks() (string, error) {
	r.try()
	limit := r.limit("max_tasks", 4)
	calls, _, err := r.calls(r.pickTools())
	if err != nil {
		return "", err
	}
	if r.wholePicture(calls) || len(calls) == 0 {
		calls = r.widenTasks(calls, limit)
	}
	if len(calls) == 0 {
		return "", r.unclear(r.nothingMeets())
	}
	calls = r.within(calls, limit)
	list := make([]any, len(calls))
	for i, c := range calls {
		list[i] = map[string]any{
			"id": fmt.Sprintf("task_%d", i+1), "worker": r.tools[c.tool].Name, "args": c.args, "critical": c.pick.main,
		}
	}
	return answerJSON(map[string]any{"kind": "plan", "tasks": list}), nil
}

// entire are words for all there is.
var entire = english.StemsOf(`everything all`)

// widenTasks adds the workers that share a word with the goal, all of them if the goal has no words but the wish for an
// overview.
func (r *reading) widenTasks(calls []call, limit int) []call {
	scores := r.overlaps()
	nothingSaid := r.saysNothing()
	for i, t := range r.tools {
		used := slices.ContainsFunc(calls, func(c call) bool { return c.tool == i })
		if t.Effect == catalog.Read && !used && (scores[i] > 0 || nothingSaid) && r.first[i].complete() && !r.leftOut(i) && len(calls) < limit {
			calls = append(calls, call{tool: i, args: r.first[i].args, pick: pick{tool: i, score: scores[i] / 100}})
		}
	}
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.tool, b.tool) })
	return calls
}

// saysNothing reports whether the goal wants an overview and has no word about its parts. What comes behind "before" or
// "after" only says when.
func (r *reading) saysNothing() bool {
	wants := false
	for i, w := range r.goal.Words {
		switch {
		case w.Barred || r.goal.IsWhen(i):
		case english.Broad[w.Stem] || entire[w.Stem] || r.goal.IsTotal(i):
			wants = true
		case r.counts(w) && !english.Rhythms[w.Low] && !english.Undertakings[w.Stem]:
			return false
		}
	}
	return wants
}

// route answers with the one target that the ticket's words speak for.
func (r *reading) route() (string, error) {
	ticket, _ := r.payload["goal"].(string)
	forbidden := textsOf(r.payload["forbidden_targets"])
	open := func(i int) bool { return r.may(i) && !slices.Contains(forbidden, r.tools[i].Name) }
	best := r.bestRoutes(open)
	if len(best) != 1 {
		fault := &patterns.ModelFault{Reason: "route_unclear", Candidates: r.candidates(open)}
		fault.Say = ticketUnclear
		if len(best) > 1 {
			fault.Candidates = nil
			for _, i := range best {
				fault.Candidates = append(fault.Candidates, r.tools[i].Name)
			}
			fault.Say = ticketAmbiguous(strings.Join(fault.Candidates, ", "))
		}
		return "", fault
	}
	r.follow.inputs["ticket"] = ijson.Words(ticket)
	f := r.fill(best[0], nil, r.follow)
	if !f.complete() {
		return "", r.incomplete(best[0], f)
	}
	if r.tools[best[0]].takesTicket() {
		f.args["ticket"] = ijson.Words(ticket)
	}
	return answerJSON(map[string]any{"kind": "route", "target": r.tools[best[0]].Name, "args": f.args}), nil
}

// bestRoutes are the targets that most speaks for: none, one, or several that are equal in weight and in words.
func (r *reading) bestRoutes(open func(int) bool) []int {
	stems := map[string]bool{}
	for _, w := range r.goal.Words {
		if !w.Dull && !w.Cited {
			stems[w.Stem] = true
		}
	}
	type mark struct {
		weight float64
		words  int
	}
	var best []int
	var top mark
	for i := range r.tools {
		if !open(i) {
			continue
		}
		var m mark
		for _, s := range sortedKeys(stems) {
			if v := r.value(i, s); v > 0 {
				m.weight += v
				m.words++
			}
		}
		switch {
		case m.weight == 0 || m.weight < top.weight-1e-9:
		case m.weight > top.weight+1e-9 || m.words > top.words:
			best, top = []int{i}, m
		case m.words == top.words:
			best = append(best, i)
		}
	}
	return best
}
