package local_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"patterngate/ijson"
)

// guess marks a time that hangs on a pause of which no trace tells.
const guess = 7 * time.Nanosecond

// oracleFate draws what comes of things by their names, so that engine and oracle meet the same.
type oracleFate struct {
	seed   int
	bad    int // of a hundred attempts, how many go wrong
	counts map[string]int
	delays map[string]float64 // that the engine chose
	wrong  string
	fresh  int  // replans made so far
	steady bool // a thing comes out alike each time
	pace   int
	told   map[string][]fate // what comes of the first times, by subtask
	book   map[string]*oracleSub
}

func (f *oracleFate) rand(kind, id string) *rand.Rand {
	key := kind + " " + id
	if f.counts[key]++; f.steady {
		f.counts[key] = 1
	}
	h := fnv.New64a()
	fmt.Fprint(h, key, f.counts[key])
	return rand.New(rand.NewPCG(uint64(f.seed), h.Sum64()))
}

// lasting is how long a thing takes; at another pace all take another time.
func (f *oracleFate) lasting(r *rand.Rand) time.Duration {
	return time.Duration(100+r.IntN(20000)*(1+7919*f.pace)%20000) * time.Millisecond
}

func (f *oracleFate) call(tool string, args map[string]any) fate {
	id := fmt.Sprint(args["id"])
	r := f.rand("call", id)
	if n := f.counts["call "+id]; n <= len(f.told[id]) {
		return f.told[id][n-1]
	}
	o := fate{After: f.lasting(r), Result: object{"v": float64(r.IntN(9))}}
	if r.IntN(100) >= f.bad {
		if r.IntN(100) < 5 {
			o.Result = object{}
		}
		return o
	}
	switch r.IntN(9) {
	case 0:
		o.Result, o.Cause = object{"error": "x"}, "executor_reported_error:"+tool
	case 1:
		o.Result, o.Cause = object{"success": false}, "executor_reported_error:"+tool
	case 2:
		o.Result, o.Cause = "text", "executor_bad_result:"+tool
	case 3:
		o.Result, o.Cause = object{"v": "text"}, "executor_bad_result:"+tool
	case 4:
		o.Cause = "executor_error:" + tool
	default:
		o.After, o.Cause = time.Hour, "subtask_timeout"
	}
	return o
}

func (f *oracleFate) asked(kind, id string) fate {
	r := f.rand(kind, id)
	if n := f.counts[kind+" "+id]; n <= len(f.told[id]) {
		return f.told[id][n-1]
	}
	o := fate{After: f.lasting(r), Result: fmt.Sprint("text of ", id, r.IntN(9))}
	if r.IntN(100) < f.bad {
		causes := []string{"llm_timeout", "llm_unreachable", "llm_error:rate_limit", "llm_error:server", "llm_error:auth", "llm_error:refused", "llm_empty"}
		o.Cause = causes[r.IntN(len(causes))]
	}
	return o
}

func (f *oracleFate) work(id string) fate { return f.asked("work", id) }
func (f *oracleFate) answer() fate {
	o := f.asked("answer", "")
	o.Text, _ = o.Result.(string)
	return o
}

func (f *oracleFate) delay(id string, attempt int, least time.Duration) time.Duration {
	d, ok := f.delays[fmt.Sprint(id, " ", attempt)]
	took := time.Duration(d * float64(time.Second))
	if !ok { // the engine did not begin it: something came before, however long it was
		return least + least/10/time.Millisecond*time.Millisecond + guess
	}
	if took < least-time.Millisecond || took > least+least/10+time.Millisecond {
		f.wrong = fmt.Sprintf("the pause before attempt %d of %s is %v, want %v and up to 10%% more", attempt, id, took, least)
	}
	return took
}

// replan is a model's reply; it may be refused for many reasons.
func (f *oracleFate) replan(question object) fate {
	o := f.asked("replan", "")
	if o.Cause != "" {
		return o
	}
	o.Plan = f.revised(f.rand("revised", ""), question)
	o.Text = replyText(o.Plan, "")
	return o
}

// known keeps what subtasks are, for a reader that has only their ids.
func (f *oracleFate) known(subs []*oracleSub) {
	for _, s := range subs {
		f.book[s.ID] = s
	}
}

// revised makes up what replaces the rest of a plan, or refuses to be it.
func (f *oracleFate) revised(r *rand.Rand, question object) *revised {
	f.fresh++
	q := plain(question).(map[string]any)
	list := func(name string) (subs []*oracleSub) {
		for _, row := range q[name].([]any) {
			subs = append(subs, f.book[row.(map[string]any)["id"].(string)])
		}
		return subs
	}
	done, rest := list("completed"), list("remaining")
	used := q["used_ids"].([]any)
	n := &revised{}
	switch r.IntN(9) {
	case 0: // the same again
		for i, s := range rest {
			again := &oracleSub{ID: fmt.Sprintf("again%d_%d", f.fresh, i), Desc: s.Desc, Tool: s.Tool, Args: s.Args, Expect: s.Expect}
			for _, v := range s.Args {
				if text, ok := v.(string); ok && len(text) > 8 && text[:9] == "$results." {
					return &revised{} // it could not refer to that
				}
			}
			n.Subs = append(n.Subs, again)
		}
		slices.Reverse(n.Subs)
		n.Fault = "no_progress"
	case 1: // nothing
		n.Complete = r.IntN(2) == 0
	case 2:
		n.Fault = "non_json"
	case 3:
		id := used[r.IntN(len(used))].(string)
		n.Subs = []*oracleSub{{ID: id, Desc: "Used.", Tool: "caller"}}
		n.Fault = "id_reused:" + id
		return n
	case 4:
		if len(rest) > 0 {
			id := fmt.Sprintf("bad%d", f.fresh)
			n.Subs = []*oracleSub{{ID: id, Desc: "Lost.", Tool: "caller", Deps: []string{rest[0].ID}}}
			n.Fault = "unknown_dependency:" + id + ":" + rest[0].ID
		}
	default:
		g := &oracleMaker{Rand: r, prefix: fmt.Sprintf("n%d_", f.fresh), earlier: done, callers: true}
		n.Subs = g.make(1 + r.IntN(3))
		n.Complete = r.IntN(4) == 0
	}
	f.known(n.Subs)
	return n
}

func replyText(n *revised, goal string) string {
	if n.Fault == "non_json" {
		return "I would rather not."
	}
	doc := object{"kind": "plan", "subtasks": []any{}}
	if n.Complete {
		doc["planning_complete"] = true
	}
	if goal != "" {
		doc["goal"] = goal
	}
	for _, s := range n.Subs {
		doc["subtasks"] = append(doc["subtasks"].([]any), s.document())
	}
	return string(ijson.Canonical(doc))
}

func (s *oracleSub) document() object {
	deps := []any{}
	for _, d := range s.Deps {
		deps = append(deps, d)
	}
	doc := object{"id": s.ID, "description": s.Desc, "tool": s.Tool, "dependencies": deps, "critical": s.Critical}
	if s.Args != nil {
		doc["args"] = s.Args
	}
	if s.Parent != "" {
		doc["parent"] = s.Parent
	}
	if s.Expect != nil {
		doc["expect"] = s.Expect
	}
	return doc
}
