package offline

import (
	"cmp"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns/llm/offline/english"
)

// state is what a supervised run has done, as the payload tells it.
type state struct {
	used        []string // names of tools
	steps       int
	last        string // the tool of the last step, "" at the beginning
	lastArgs    map[string]any
	observation any
	failure     string // what went wrong in the last step
}

func stateOf(payload map[string]any) state {
	summary, _ := payload["state_summary"].(map[string]any)
	s := state{used: textsOf(summary["tools_used"])}
	if n, ok := ijson.Integer(summary["steps_completed"]); ok {
		s.steps = int(n)
	}
	step, _ := summary["last_step"].(map[string]any)
	action, _ := step["executed_action"].(map[string]any)
	if action == nil {
		action, _ = step["action"].(map[string]any)
	}
	s.last, _ = action["name"].(string)
	s.lastArgs, _ = action["args"].(map[string]any)
	s.observation = step["observation"]
	if text, failed := gateway.Reported(s.observation); failed {
		s.failure = line(text, 200)
	}
	if s.last != "" && !slices.Contains(s.used, s.last) {
		s.used = append(s.used, s.last)
	}
	return s
}

// action answers with the next call, each tool at most once in a run, or with the final answer when the goal is reached,
// a call went wrong, or nothing more can be done. It notifies people of what was done only if the goal says so.
func (r *reading) action() (string, error) {
	s := stateOf(r.payload)
	r.follow.results = factsOf(s.observation, s.lastArgs)
	if s.last != "" {
		r.follow.note = confirmation(sentenceOf(s.last, s.observation, nil))
	}
	r.try()
	if s.failure != "" {
		return r.final(s), nil
	}
	picks := r.pickTools()
	if len(picks) == 0 && s.steps == 0 {
		var lacking error
		if picks, lacking = r.vaguely(); len(picks) == 0 {
			return "", cmp.Or(lacking, error(r.unclear(r.nothingMeets())))
		}
	}
	next, err := r.next(r.withContext(picks), s)
	if err != nil {
		return "", err
	}
	if next == nil {
		return r.final(s), nil
	}
	return answerJSON(map[string]any{"kind": "tool", "name": r.tools[next.tool].Name, "args": next.args}), nil
}

// withContext adds, for a call that changes something and shares no argument with a picked reading tool, the reading tool
// that does and has most in common with the goal: one looks before one changes.
func (r *reading) withContext(picks []pick) []pick {
	scores := r.overlaps()
	for _, p := range slices.Clone(picks) {
		if r.tools[p.tool].Effect == catalog.Read || r.tools[p.tool].tells {
			continue
		}
		looked := slices.ContainsFunc(picks, func(o pick) bool {
			return r.tools[o.tool].Effect == catalog.Read && r.shareArgument(p.tool, o.tool)
		})
		best := -1
		for i, t := range r.tools {
			if t.Effect == catalog.Read && r.shareArgument(p.tool, i) && r.first[i].complete() && scores[i] > 0 && !r.leftOut(i) &&
				(best < 0 || scores[i] > scores[best]) {
				best = i
			}
		}
		if !looked && best >= 0 {
			picks = append(picks, pick{tool: best})
		}
	}
	return picks
}

// shareArgument reports whether two tools require an argument of the same name.
func (r *reading) shareArgument(a, b int) bool {
	return slices.ContainsFunc(r.tools[a].arguments, func(x argument) bool {
		return x.Required && !slices.Contains(r.hidden, x.Name) &&
			slices.ContainsFunc(r.tools[b].arguments, func(y argument) bool { return y.Required && y.Name == x.Name })
	})
}

// next is the first call in order that was not made; nil if all were. What no later step can tell is asked for at once.
func (r *reading) next(picks []pick, s state) (*call, error) {
	slices.SortStableFunc(picks, func(a, b pick) int { return r.order(a.tool, b.tool) })
	var first *call
	var lacking error // what a tool that only reads would need
	var reading []int // tools that will be read before
	for _, p := range picks {
		if slices.Contains(s.used, r.tools[p.tool].Name) {
			continue
		}
		more := r.follow
		more.asked = r.tools[p.tool].tells && r.changed(s)
		f := r.fill(p.tool, p.clauses, more)
		switch {
		case f.complete() && first == nil:
			first = &call{tool: p.tool, args: f.args, pick: p}
		case !f.complete() && r.tools[p.tool].Effect == catalog.Read && !(p.main && p.certain):
			lacking = cmp.Or(lacking, error(r.incomplete(p.tool, f)))
			continue
		case !f.complete() && !r.canTell(reading, f):
			return nil, r.incomplete(p.tool, f)
		}
		if r.tools[p.tool].Effect == catalog.Read || first != nil {
			reading = append(reading, p.tool)
		}
	}
	if first == nil && s.steps == 0 {
		return nil, lacking
	}
	return first, nil
}

// changed reports whether the last step changed something.
func (r *reading) changed(s state) bool {
	return slices.ContainsFunc(r.tools, func(t *studied) bool { return t.Name == s.last && t.Effect != catalog.Read })
}

// canTell reports whether a result of tools still to be called may hold what is missing. A tool without an output schema
// may hold anything; a value that the goal names in several ways is the person's to choose.
func (r *reading) canTell(tools []int, f filled) bool {
	for _, name := range f.missing {
		told := slices.ContainsFunc(tools, func(i int) bool {
			out := r.tools[i].Output
			return out == nil || strings.Contains(string(out.JSON()), `"`+name+`"`)
		})
		if !told || f.several[name] != nil {
			return false
		}
	}
	return true
}

// final answers with what was done, from the record.
func (r *reading) final(s state) string {
	var parts []string
	done := s.used
	if s.failure != "" {
		done = slices.DeleteFunc(slices.Clone(done), func(name string) bool { return name == s.last })
		parts = append(parts, stoppedBy(english.Readable(s.last), s.failure))
	}
	if len(done) > 0 {
		names := make([]string, len(done))
		for i, name := range done {
			names[i] = english.Readable(name)
		}
		parts = append(parts, "Done: "+strings.Join(names, ", ")+".")
	}
	if s.failure == "" {
		parts = append(parts, sentenceOf(s.last, s.observation, s.lastArgs), r.otherAmount(s))
	}
	if len(s.used) == 0 {
		parts = append(parts, noToolLeft)
	}
	for _, i := range r.withheld {
		parts = append(parts, requestForbids(english.Readable(r.tools[i].Name)))
	}
	if i := r.unasked(s); i >= 0 {
		parts = append(parts, requestUnclear(english.Readable(r.tools[i].Name)))
	}
	for i, t := range r.tools {
		if !r.may(i) && len(r.asked[i]) > 0 {
			parts = append(parts, notProposed(english.Readable(t.Name)))
		}
	}
	return answerJSON(map[string]any{"kind": "final", "answer": joined(parts, maxAnswer)})
}

// unasked is a tool whose act the goal names without asking for it, where nothing was changed at all; -1 for none.
func (r *reading) unasked(s state) int {
	if len(r.withheld) > 0 || s.failure != "" {
		return -1
	}
	for i, t := range r.tools {
		if t.Effect != catalog.Read && (len(r.asked[i]) > 0 || slices.Contains(s.used, t.Name)) {
			return -1
		}
	}
	return slices.IndexFunc(r.tools, func(t *studied) bool {
		return t.Effect != catalog.Read && slices.ContainsFunc(r.goal.Words, func(w english.Word) bool {
			return t.acts.names(w) && r.counts(w) && !w.Asks && !w.Denied
		})
	})
}

// otherAmount says so where the amount of the last call is not the one that the goal names.
func (r *reading) otherAmount(s state) string {
	i := slices.IndexFunc(r.tools, func(t *studied) bool { return t.Name == s.last })
	if i < 0 || r.tools[i].Effect == catalog.Read {
		return ""
	}
	for _, a := range r.tools[i].arguments {
		used, ok := s.lastArgs[a.Name].(float64)
		if !ok || a.need != needMoney {
			continue
		}
		if list := r.rank(a, nil, follow{}); len(list) > 0 && !ijson.Equal(list[0].value, used) {
			asked, _ := list[0].value.(float64)
			return otherFigure(figure(a.Name, asked), figure(a.Name, used))
		}
	}
	return ""
}
