package local_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/local"
)

// weave is pattern code with a Flow in which whatever is done next depends on all that was done before, in its order: what
// next gives, what a body does, and how often.
type weave struct {
	seed, bodies, most int
	ops                string // one letter for each kind of effect that a body may do

	run    patterns.Run
	gate   *gateway.Gate
	tools  *catalog.Catalog
	began  time.Time
	state  uint64
	trace  []any
	begun  int
	going  int
	waited int
}

// code is the weave's pattern.
func (w weave) code(run patterns.Run, s patterns.Spec, _ patterns.Task) patterns.Result {
	w.run, w.began, w.state, w.trace, w.tools = run, run.Now(), uint64(w.seed), []any{}, s.Catalog
	w.gate = gateway.NewGate(gateway.Config{Catalog: s.Catalog, Execution: s.Execution, Budget: s.Budget})
	soFar := func() patterns.Result { return patterns.Result{StopReason: patterns.Success, Trace: w.trace} }
	run.Shows(soFar)
	run.Flow(w.next)
	out := patterns.AskModel(run, patterns.Effect{}, patterns.Question{Ask: patterns.AskAnswer})
	w.note("between", out.Output, run.Now().Sub(w.began))
	w.bodies += 3
	run.Flow(w.next)
	w.note("over", run.Now().Sub(w.began), w.begun, w.going)
	return soFar()
}

func (w *weave) note(words ...any) {
	line := fmt.Sprintln(words...)
	h := fnv.New64a()
	fmt.Fprint(h, w.state, line)
	w.state = h.Sum64()
	w.trace = append(w.trace, strings.TrimSpace(line))
}

func (w *weave) draw(n int) int {
	w.note("draw")
	return int(w.state % uint64(n))
}

func (w *weave) next() (string, func(patterns.Run), bool) {
	w.note("next", w.run.Now().Sub(w.began), w.going)
	if w.begun == w.bodies || w.going > 0 && w.going >= 1+w.draw(w.most) {
		return "", nil, false
	}
	w.begun++
	w.going++
	i := w.begun
	return []string{"work", "check"}[w.draw(2)], func(branch patterns.Run) {
		w.note("body", i, branch.Now().Sub(w.began))
		for range w.draw(4) {
			out := w.do(branch, i)
			w.note(i, out.Key, out.State, out.Reason, out.Output, branch.Now().Sub(w.began))
		}
		w.going--
		w.note("end", i)
	}, true
}

// do is one effect of a body.
func (w *weave) do(branch patterns.Run, i int) patterns.Outcome {
	e := patterns.Effect{Phase: patterns.PhaseExecute, Doing: "weave"}
	args := map[string]any{"n": float64(len(w.trace))}
	switch op := w.ops[w.draw(len(w.ops))]; op {
	case 'm':
		return patterns.AskModel(branch, e, patterns.Question{Ask: patterns.AskAnswer, Payload: args})
	case 's':
		patterns.Sleep(branch, time.Duration(w.draw(50))*time.Microsecond)
		return patterns.Outcome{}
	case '0':
		patterns.Sleep(branch, 0)
		return patterns.Outcome{}
	case 'c':
		return patterns.Take(branch, e, "take", document.FromCaller(args, ""))
	case 'r', 'w', 't', 'q':
		name := "look"
		if op == 'w' {
			name = "change"
		}
		permit, stop := w.gate.Admit(gateway.Proposal{Tool: name, Args: args})
		if stop != nil {
			panic(stop)
		}
		switch op {
		case 't':
			e.Timeout = 20 * time.Microsecond
		case 'q':
			e.Quotas = []patterns.Quota{{Name: "few", Limit: 3}}
		}
		return patterns.CallTool(branch, e, patterns.CallAct{Permit: permit})
	case 'h', 'i': // both decide at once, the inbox in memory; the second might also have waited
		a := patterns.Approval{Action: gateway.Action{Name: "change", Args: args}, Approver: patterns.Approver{Kind: patterns.SimulatedApprover}, Catalog: w.tools}
		if a.Question = w.gate.Question(gateway.Proposal{Tool: "change", Args: args}); op == 'i' {
			a.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
		}
		_, out := patterns.AskPerson(branch, e, a, nil)
		return out
	case 'a':
		w.waited++
		return patterns.Await(branch, e, patterns.Waiting{Argument: "actions", Turn: w.waited})
	}
	panic("no such effect")
}

// at most this long does an answer take.
const longest = 60 * time.Microsecond

func takesTime() { time.Sleep(rand.N(longest)) }

// lazy is a model that answers after a random time.
type lazy struct{}

func (lazy) Name() string { return "lazy" }

func (lazy) Ask(context.Context, patterns.Question) (patterns.Answer, error) {
	takesTime()
	return patterns.Answer{Text: fmt.Sprint(rand.N(1000)), Usage: patterns.Usage{Requests: 1}}, nil
}

// weaving is a job with what a weave uses.
func weaving(t testing.TB) patterns.Job {
	t.Helper()
	tool := func(name string, effect catalog.Effect) catalog.Tool {
		tool := counting(t, effect, func(context.Context) error { takesTime(); return nil })
		tool.Name, tool.Idempotent = name, false
		return tool
	}
	c, err := catalog.New(tool("look", catalog.Read), tool("change", catalog.Write))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"look", "change"}
	return patterns.Job{
		Spec:  patterns.Spec{Name: "weave", Kind: gateway.Planning, Catalog: c, Tools: names, Policy: names, Execution: names, Budget: gateway.NoBudget()},
		Model: lazy{}, Caller: patterns.Caller{Principal: mine},
	}
}

func traceOf(r patterns.Result) string {
	var b strings.Builder
	for _, line := range r.Trace {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// equalTraces compares what two executions did, call for call.
func equalTraces(t testing.TB, what string, got, want patterns.Result) {
	t.Helper()
	g, w := strings.Split(traceOf(got), "\n"), strings.Split(traceOf(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s differs at line %d:\ngot  %q\nwant %q", what, i, g[min(i, len(g)):min(i+3, len(g))], w[min(i, len(w)):min(i+3, len(w))])
		}
	}
}

// TestFlowReplays: whatever takes how long, and wherever the process ends, a replay of what was recorded does the same in
// the same order; and so does the next life.
func TestFlowReplays(t *testing.T) {
	for seed := range 25 {
		synctest.Test(t, func(t *testing.T) {
			w := weave{seed: seed, bodies: 12, most: 5, ops: "mms0crrwtqhi"}
			job := weaving(t)
			var record *execution.Record
			e := &local.Engine{Reports: local.Reports{Recorded: func(_ string, r *execution.Record) { record = r }}}
			defer e.Close()
			e.Runs(w.code)
			ended, err := e.Start(t.Context(), job)
			for life := 0; ; life++ {
				if err != nil {
					t.Fatalf("seed %d, life %d: %v", seed, life, err)
				}
				again, err2 := local.ReplayCode(record, w.code, job)
				if err2 != nil {
					t.Fatalf("seed %d, life %d: %v", seed, life, err2)
				}
				equalTraces(t, fmt.Sprintf("seed %d: the replay of life %d", seed, life), again, ended.Result)
				if life == 6 {
					time.Sleep(longest) // what came late
					return
				}
				events := record.Events()
				ended, err = e.Resume(events[:1+rand.N(len(events)-1)], job)
			}
		})
	}
}
